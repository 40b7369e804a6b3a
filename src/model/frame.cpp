#include "model/frame.h"

#include "base/error.h"

namespace dragoman {
namespace {

int32_t known_language(int id, const char* side) {
  if (id < 0)
    throw Error(fmt::format("the model translates between several languages, and its {} language is not given", side),
                fmt::format("give --{}-lang, or store it in the model with dragoman convert --{}-lang", side, side));
  return id;
}

}  // namespace

std::vector<int32_t> SentenceFrame::around(std::vector<int32_t> pieces) const {
  pieces.insert(pieces.begin(), before.begin(), before.end());
  pieces.insert(pieces.end(), after.begin(), after.end());
  if (pieces.empty() && alone >= 0) pieces.push_back(alone);
  return pieces;
}

SentenceFrame source_frame(const ModelConfig& config) {
  const GenerationConfig& g = config.generation;
  SentenceFrame frame{.alone = config.special.eos};
  if (g.source_bos) frame.before.push_back(config.special.bos);
  // An OPUS-MT model of one language pair names none, and a text may begin with its own language piece.
  if (g.target_language == TargetLanguage::source && g.target_language_id >= 0) {
    if (g.target_language_blank_id >= 0) frame.before.push_back(g.target_language_blank_id);
    frame.before.push_back(g.target_language_id);
  }
  if (g.source_language == SourceLanguage::first)
    frame.before.push_back(known_language(g.source_language_id, "source"));
  if (g.source_eos) frame.after.push_back(config.special.eos);
  if (g.source_language == SourceLanguage::last) frame.after.push_back(known_language(g.source_language_id, "source"));
  return frame;
}

SentenceFrame target_frame(const ModelConfig& config) {
  const GenerationConfig& g = config.generation;
  SentenceFrame frame{.before = {}, .after = {config.special.eos}};
  if (g.target_language == TargetLanguage::target)
    frame.before.push_back(known_language(g.target_language_id, "target"));
  return frame;
}

SentenceFrames frames_of(const ModelConfig& config) { return {source_frame(config), target_frame(config)}; }

bool knows_languages(const ModelConfig& config) {
  const GenerationConfig& g = config.generation;
  return (g.source_language == SourceLanguage::none || g.source_language_id >= 0) &&
         (g.target_language != TargetLanguage::target || g.target_language_id >= 0);
}

}  // namespace dragoman
