#include <gmock/gmock.h>

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
  const Texts lines = {"Where is the castle?", "", "How much is a ticket?", " "};
  size_t read = 0, written = 0, flushed = 0;
  run({.ready = [] { return false; },
       .next =
           [&](std::string& line, bool&) {
             EXPECT_EQ(flushed, read) << "would wait although a line is pending";
             return read < lines.size() && (line = lines[read++], true);
           },
       .write = [&](const auto&, bool) { ++written; },
       .flush = [&] { flushed = written; }});
  EXPECT_EQ(flushed, lines.size());
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

TEST_F(LinesOnADevice, AreNotLostWhenTheSearchFailsAfterThem) {
  const auto expected = translate(different);
  const Texts lines = lines_of(100);
  options.mini_batch_words = 30;
  static int steps, failing;
  device.top_k = [](const Tensor& values, const Tensor& ids, const Tensor& lse, const Tensor& logits) {
    if (++steps == failing) throw DeviceError("the device is gone", "");
    gpu_on_host().top_k(values, ids, lse, logits);
  };
  size_t most = 0;
  for (failing = 10; failing < 14; ++failing) {
    steps = 0;
    Texts written;
    auto next = lines.begin();
    EXPECT_THROW(run({.ready = [] { return true; },
                      .next = [&](std::string& line, bool&) { return next != lines.end() && (line = *next++, true); },
                      .write = [&](const auto& best, bool) { written.push_back(best[0].text); },
                      .flush = [] {}}),
                 DeviceError);
    EXPECT_LT(written.size(), lines.size());
    for (size_t i = 0; i < written.size(); ++i) EXPECT_EQ(written[i], expected[i % different.size()]) << i;
    most = std::max(most, written.size());
  }
  EXPECT_GT(most, 5u);
}

TEST_F(LinesOnADevice, AreNotLostWhenALaterOneCannotBeRead) {
  options.mini_batch_words = 30;
  options.maxi_batch_lines = 20;
  size_t read = 0, written = 0;
  EXPECT_THROW(run({.ready = [] { return true; },
                    .next =
                        [&](std::string& line, bool&) {
                          if (read == 100) throw Error("the pipe is broken");
                          line = different[read++ % different.size()];
                          return true;
                        },
                    .write = [&](const auto&, bool) { ++written; },
                    .flush = [] {}}),
               Error);
  EXPECT_GE(written, 80u) << "all but those that may be held";
}

}  // namespace
}  // namespace dragoman
