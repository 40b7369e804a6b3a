#include <gmock/gmock.h>

#include <memory>
#include <set>

#include "decode/translator.h"
#include "tests/decode/tiny_translator.h"
#include "tests/no_threads.h"
#include "tests/op_check/gpu.h"

namespace dragoman {
namespace {

using testing::SizeIs;
using Texts = std::vector<std::string>;

const Texts different = {"the", "", "a castle", "Where is it?"};

Texts lines_of(size_t count) {
  Texts lines;
  for (size_t i = 0; i < count; ++i) lines.push_back(different[i % different.size()]);
  return lines;
}

/// Lines on their way to and from a device, which another thread encodes and decodes.
class LinesOnADevice : public testing::Test {
 protected:
  LinesOnADevice() {
    const auto to = model->parameters().named(), from = tiny.model->parameters().named();
    for (size_t i = 0; i < to.size(); ++i) to[i].value.assign(from[i].value);
    packed = model->parameters().pack(DType::f32);
  }
  Texts translate(const Texts& lines) {
    return Translator(cx, *model, tiny.vocabularies, options, search).translate(lines);
  }
  void run(const Translator::Flow& flow) { Translator(cx, *model, tiny.vocabularies, options, search).run(flow); }

  TinyModel tiny;
  Backend device = gpu_on_host();
  Arena arena{*device.memory};
  std::unique_ptr<Model> model = make_model(tiny.config, device, arena, DType::f32, false);
  PackedWeights packed;
  Context cx{.backend = device, .arena = arena, .packed = &packed};
  TranslateOptions options;
  SearchOptions search{.beam_size = 1, .max_length_add = 1, .max_length_factor = 1};
};

TEST_F(LinesOnADevice, KeepTheirOrder) {
  const auto expected = translate(different);
  const Texts lines = lines_of(150);
  for (const int64_t words : {64, 1024}) {
    options.mini_batch_words = words;
    const auto found = translate(lines);
    ASSERT_THAT(found, SizeIs(lines.size()));
    for (size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(found[i], expected[i % different.size()]) << i;
  }
}

TEST_F(LinesOnADevice, AreWrittenBeforeTheNextOneIsWaitedFor) {
  expect_lines_written_before_the_next([&](const Translator::Flow& flow) { run(flow); });
}

TEST_F(LinesOnADevice, AreNoMoreThanMayBeHeld) {
  const auto lines = lines_of(100);
  options.mini_batch_words = 30;
  options.maxi_batch_lines = 20;
  size_t read = 0, written = 0, most = 0;
  run({.ready = [] { return true; },
       .next =
           [&](std::string& line, bool&) {
             const bool more = read < lines.size();
             if (more) line = lines[read++];
             most = std::max(most, read - written);
             return more;
           },
       .write = [&](const auto&, bool) { ++written; },
       .flush = [] {}});
  EXPECT_EQ(written, 100u);
  EXPECT_EQ(most, 20u);
}

// Even if no thread can be started, and if a second line comes while the first one is translated.
TEST_F(LinesOnADevice, AreWrittenBeforeABlockingRead) {
  for (const bool alone : {false, true}) {
    const auto none = alone ? std::make_unique<NoThreads>() : nullptr;
    size_t read = 0, written = 0;
    run({.ready = [&] { return read % 2 == 1; },
         .next =
             [&](std::string& line, bool&) {
               if (read % 2 == 0) {
                 EXPECT_EQ(written, read) << "would wait although a line is pending";
               }
               return read < 10 && (line = different[read++ % different.size()], true);
             },
         .write = [&](const auto&, bool) { ++written; },
         .flush = [] {}});
    EXPECT_EQ(written, 10u);
  }
}

/// What is written of lines that are translated together, of which the first eight end earlier, with a thread for
/// decoding or none. `run` runs a translator on a flow, and fails.
template <class Run>
std::pair<Texts, Texts> written_before_failing(const Run& run) {
  Texts lines;
  for (const char* line : {"the", "Where is it?"}) lines.insert(lines.end(), 8, line);
  Texts written[2];
  for (const bool alone : {false, true}) {
    const auto none = alone ? std::make_unique<NoThreads>() : nullptr;
    auto next = lines.begin();
    EXPECT_ANY_THROW(
        run({.ready = [] { return true; },
             .next = [&](std::string& line, bool&) { return next != lines.end() && (line = *next++, true); },
             .write = [&](const auto& best, bool) { written[alone].push_back(best[0].text); },
             .flush = [] {}}));
  }
  return {written[false], written[true]};
}

TEST_F(LinesOnADevice, AreNotLostWhenTheSearchFailsAfterThem) {
  static int steps, failing;
  device.top_k = [](const Tensor& values, const Tensor& ids, const Tensor& lse, const Tensor& logits) {
    if (++steps == failing) throw DeviceError("the device is gone", "");
    gpu_on_host().top_k(values, ids, lse, logits);
  };
  const std::string expected = translate({"the"})[0];
  std::set<size_t> numbers;
  for (failing = 1; failing <= 6; ++failing) {
    const auto [beside, alone] = written_before_failing([&](const Translator::Flow& flow) {
      steps = 0;
      run(flow);
    });
    EXPECT_EQ(beside, alone) << failing;
    numbers.insert(beside.size());
    for (size_t i = 0; i < beside.size(); ++i) EXPECT_EQ(beside[i], expected) << i;
  }
  EXPECT_THAT(numbers, testing::ElementsAre(0, 8));
}

TEST_F(LinesOnADevice, AreNotLostWhenALaterOneCannotBeRead) {
  const std::string expected = translate({"the"})[0];
  std::set<size_t> numbers;
  for (int failing = 1; failing <= 6; ++failing) {
    const auto [beside, alone] = written_before_failing([&](Translator::Flow flow) {
      flow.next = [next = flow.next, failing, ends = 0](std::string& line, bool& more) mutable {
        if (next(line, more)) return true;
        if (++ends == failing) throw Error("the pipe is broken");  // it is asked again after each step
        return false;
      };
      run(flow);
    });
    EXPECT_EQ(beside, alone) << failing;
    numbers.insert(beside.size());
    for (size_t i = 0; i < beside.size(); ++i) EXPECT_EQ(beside[i], expected) << i;
  }
  EXPECT_THAT(numbers, testing::ElementsAre(0, 8));
}

}  // namespace
}  // namespace dragoman
