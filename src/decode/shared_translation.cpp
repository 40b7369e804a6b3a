#include "decode/shared_translation.h"

#include "decode/translation_writer.h"

namespace dragoman {
namespace {

// Neighbouring lines and the number of the first.
struct Share {
  uint64_t first_line = 0;
  std::string text;  // each line with its line break
};

// What rank 0 has read for this round; empty at the end. Waits for the first line only.
std::vector<std::string> next_lines(LineReader& in, int64_t most) {
  std::vector<std::string> lines;
  std::string line;
  while (int64_t(lines.size()) < most && (lines.empty() || in.ready()) && in.next(line))
    lines.push_back(std::move(line));
  return lines;
}

// A line belongs to the rank in whose part of all bytes it begins.
std::vector<Share> shares_of(const std::vector<std::string>& lines, uint64_t first_line, int ranks) {
  size_t all = 0, before = 0;
  for (const std::string& line : lines) all += line.size() + 1;
  std::vector<Share> shares(static_cast<size_t>(ranks));
  for (const std::string& line : lines) {
    Share& share = shares[before * size_t(ranks) / all];
    if (share.text.empty()) share.first_line = first_line;
    share.text += line + '\n';
    before += line.size() + 1;
    ++first_line;
  }
  return shares;
}

// Rank 0 hands them out; each rank gets its own.
Share scattered(Communicator& ranks, std::vector<Share> shares) {
  using Head = std::array<uint64_t, 2>;  // first line, bytes
  std::vector<Head> heads(size_t(ranks.size()));
  if (ranks.rank() > 0) {
    const Incoming head{0, std::as_writable_bytes(std::span(heads[0]))};
    ranks.exchange({}, {&head, 1});
    Share own{heads[0][0], std::string(heads[0][1], ' ')};
    const Incoming text{0, std::as_writable_bytes(std::span(own.text))};
    ranks.exchange({}, {&text, 1});
    return own;
  }
  std::vector<Outgoing> out;
  for (int r = 1; r < ranks.size(); ++r) {
    heads[size_t(r)] = {shares[size_t(r)].first_line, shares[size_t(r)].text.size()};
    out.push_back({r, std::as_bytes(std::span(heads[size_t(r)]))});
    out.push_back({r, std::as_bytes(std::span(shares[size_t(r)].text))});
  }
  ranks.exchange(out, {});
  return std::move(shares[0]);
}

// The lines as they are written.
std::string translated(Translator& translator, const Share& share, const TranslateOptions& options,
                       const SearchOptions& search) {
  std::string text;
  LineWriter out(text);
  TranslationWriter writer(out, options, search, int64_t(share.first_line));
  size_t at = 0;
  translator.run({.ready = [] { return true; },
                  .next =
                      [&](std::string& line, bool& more) {
                        if (at == share.text.size()) return false;
                        const size_t end = share.text.find('\n', at);
                        line = share.text.substr(at, end - at);
                        at = end + 1;
                        return more = false, true;
                      },
                  .write = [&](auto best, bool more) { writer.write(std::move(best), more); },
                  .flush = [] {},
                  .first_line = share.first_line});
  out.close();
  return text;
}

}  // namespace

int64_t translate_on_ranks(Communicator& ranks, Translator& translator, const TranslateOptions& options,
                           const SearchOptions& search, const SharedFiles* files) {
  for (int64_t lines = 0;;) {
    std::vector<std::string> next;
    if (files) next = next_lines(files->in, options.maxi_batch_lines * ranks.size());
    if (!ranks.broadcast(!next.empty())) return lines;
    std::vector<Share> shares;
    if (files) shares = shares_of(next, uint64_t(lines), ranks.size());
    const Share own = scattered(ranks, std::move(shares));
    const std::vector<std::string> texts = ranks.gather(translated(translator, own, options, search));
    lines += int64_t(next.size());
    if (!files) continue;
    for (const std::string& text : texts) files->out.write_segment(text);
    files->out.flush();
    if (files->written) files->written(lines);
  }
}

}  // namespace dragoman
