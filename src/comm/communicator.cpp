#include "comm/communicator.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>

#include "base/clock.h"

namespace dragoman {
namespace {

class SingleProcess : public Communicator {
 public:
  SingleProcess() : Communicator(0, 1) {}

 private:
  void transfer(std::span<const Outgoing> out, std::span<const Incoming> in) override {
    invariant(out.empty() && in.empty(), "a single process has no other rank to communicate with");
  }
};

}  // namespace

std::unique_ptr<Communicator> single_process() { return std::make_unique<SingleProcess>(); }

std::string host_name() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return host.data();
}

std::string Communicator::name() const {
  return fmt::format("rank {} of {} ({}, process {})", rank_, size_, host_name(), getpid());
}

void Communicator::exchange(std::span<const Outgoing> out, std::span<const Incoming> in) {
  const Clock clock;
  transfer(out, in);
  traffic_.seconds += clock.seconds();
  for (const Outgoing& o : out) count_sent(int64_t(o.bytes.size()));
}

// A rank receives from the rank without its highest bit, then sends to the ranks with one more bit.
void Communicator::broadcast(std::span<std::byte> bytes) {
  int bit = 1;
  for (; bit <= rank_; bit *= 2) continue;  // above all bits of this rank
  if (rank_ > 0) {
    const Incoming from{rank_ - bit / 2, bytes};
    exchange({}, {&from, 1});
  }
  std::vector<Outgoing> out;
  for (; rank_ + bit < size_; bit *= 2) out.push_back({rank_ + bit, bytes});
  exchange(out, {});
}

std::string Communicator::broadcast(std::string text) {
  std::vector<uint64_t> length = {text.size()};
  broadcast(writable_bytes_of(length));
  text.resize(length[0]);
  broadcast(std::as_writable_bytes(std::span(text)));
  return text;
}

bool Communicator::broadcast(bool of_rank_0) {
  std::byte value{of_rank_0};
  broadcast({&value, 1});
  return value != std::byte{0};
}

std::vector<std::string> Communicator::gather(const std::string& text) {
  std::vector<uint64_t> lengths(size_t(size_), text.size());
  if (rank_ > 0) {
    const std::array out = {Outgoing{0, std::as_bytes(std::span(lengths).first(1))},
                            Outgoing{0, std::as_bytes(std::span(text))}};
    exchange(out, {});
    return {};
  }
  std::vector<Incoming> in;
  for (int r = 1; r < size_; ++r) in.push_back({r, std::as_writable_bytes(std::span(lengths).subspan(size_t(r), 1))});
  exchange({}, in);
  std::vector<std::string> texts(static_cast<size_t>(size_));
  texts[0] = text;
  in.clear();
  for (int r = 1; r < size_; ++r) {
    texts[size_t(r)].resize(lengths[size_t(r)]);
    in.push_back({r, std::as_writable_bytes(std::span(texts[size_t(r)]))});
  }
  exchange({}, in);
  return texts;
}

void Communicator::barrier() { any(false); }

bool Communicator::any(bool value) {
  bool found = value;
  for (const std::string& of_rank : gather(value ? "1" : "0")) found = found || of_rank == "1";
  return broadcast(found);
}

}  // namespace dragoman
