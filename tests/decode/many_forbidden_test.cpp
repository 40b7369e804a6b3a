#include <gmock/gmock.h>

#include <random>

#include "backend/registry.h"
#include "decode/beam_search.h"
#include "tests/decode/tiny_translator.h"
#include "tests/op_check/gpu.h"

namespace dragoman {
namespace {

// As `without`, but by a list of what is left: then the search gets the scores of all pieces.
class Only : public Constraint {
 public:
  explicit Only(std::vector<int32_t> ids) : ids_(std::move(ids)) {}
  Allowed next(State, const HypothesisView&) const override { return {.only = true, .ids = ids_}; }
  bool depends_on_tokens() const override { return false; }

 private:
  const std::vector<int32_t> ids_;
};

/// A model with random weights and 340 pieces, on a backend.
class ManyForbidden : public testing::TestWithParam<std::string> {
 protected:
  ManyForbidden() {
    const auto to = model->parameters().named(), from = tiny.model->parameters().named();
    for (size_t i = 0; i < to.size(); ++i) to[i].value.assign(from[i].value);
    packed = model->parameters().pack(DType::f32);
  }

  std::vector<std::vector<Hypothesis>> find(const SearchOptions& options,
                                            std::shared_ptr<const Constraint> constraint) {
    Context cx{.backend = device, .arena = arena, .packed = &packed};
    std::vector<Ensemble::Member> alone;
    alone.push_back({model->decode(cx)});
    Search search(Ensemble(cx, std::move(alone), conventions_of(model->config())), 100);
    std::vector<std::vector<Hypothesis>> found(GetParam() == "cpu" ? 6 : 2);  // the kernels of GPUs are slow here
    for (size_t i = 0; i < found.size(); ++i)
      search.add(
          {.source = std::vector<int32_t>(2 * i + 1, int32_t(40 * i + 10)), .line = i, .constraints = {constraint}},
          std::make_shared<const SearchOptions>(options), Wanted::log_probs,
          [&found, i](std::vector<Hypothesis> best) { found[i] = std::move(best); });
    while (!search.idle()) search.step();
    return found;
  }

  TinyModel tiny;
  const Backend& device = GetParam() == "cpu" ? backend("cpu") : gpu_on_host();
  Arena arena = arena_of(device);
  std::unique_ptr<Model> model = make_model(tiny.config, device, arena, DType::f32, false);
  PackedWeights packed;
};

// Even if a step has to be repeated because most of the best pieces are forbidden.
TEST_P(ManyForbidden, IsWhatIsLeftAllowed) {
  std::mt19937 random(3);
  for (const int of_ten : {1, 9}) {
    std::vector<int32_t> forbidden, left;
    for (int32_t id = 0; id < tiny.config.target_vocabulary; ++id)
      (id != tiny.config.special.eos && int(random() % 10) < of_ten ? forbidden : left).push_back(id);
    for (const auto sampling : {Sampling::none, Sampling::topk}) {
      const SearchOptions options =
          resolved({.beam_size = 3, .max_length_add = 2, .n_best = 3, .sampling = sampling, .sampling_pieces = 5});
      const auto found = find(options, without(forbidden));
      EXPECT_EQ(found, find(options, std::make_shared<const Only>(left)));
      for (const auto& best : found)
        for (const Hypothesis& h : best)
          for (const int32_t id : h.ids) EXPECT_FALSE(std::ranges::binary_search(forbidden, id));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, ManyForbidden, testing::Values("cpu", "gpu"), [](const auto& i) { return i.param; });

}  // namespace
}  // namespace dragoman
