#include "interop/languages.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "vocab/listed_vocabulary.h"

namespace dragoman {
namespace {

// The pieces of words come first in a vocabulary.
TEST(Languages, AreNotMistakenForWords) {
  const Vocabulary v = Vocabulary::from_list(
      {.special = {.unk = 1, .eos = 0, .control = {7}},
       .pieces = {"</s>", "<unk>", "it", "fra", "__it__", ">>fra<<", "ita_Latn", "spanish", "klingon"}},
      "list");
  const auto id_of = [&](const std::string& language) {
    ModelConfig config{.generation = {.target_language = TargetLanguage::target}};
    set_languages(config, {v, v}, {"", language}, "the model");
    return config.generation.target_language_id;
  };
  EXPECT_EQ(id_of("it"), 4);
  EXPECT_EQ(id_of("fra"), 5);
  for (const int id : {4, 5, 6, 7}) EXPECT_EQ(id_of(v.piece(id)), id);
  for (const char* none : {"klingon", "</s>", "la"}) EXPECT_THROW(id_of(none), Error) << none;
}

}  // namespace
}  // namespace dragoman
