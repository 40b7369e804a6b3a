#include "train/vocabularies.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "base/grouped.h"
#include "base/log.h"
#include "comm/communicator.h"
#include "data/parallel_text.h"
#include "interop/open_model.h"
#include "model/guided_alignment.h"
#include "train/resolve_settings.h"
#include "vocab/model_facts.h"
#include "vocab/piece_list.h"
#include "vocab/protected_symbols.h"
#include "vocab/sentence_ends.h"
#include "vocab/training.h"

namespace dragoman {
namespace {

// One vocabulary of a run; a joint one is learned from both sides of the text.
struct Side {
  std::string path;
  std::vector<size_t> sides;  // 0: source, 1: target
  int size;
  Vocabulary Vocabularies::*in_model;
};

std::vector<Side> sides_of(const TrainingSetup& setup) {
  const auto& vocabs = setup.data.vocabs;
  const auto sizes = setup.data.dim_vocabs.empty() ? std::vector{usual_dim_vocab} : setup.data.dim_vocabs;
  if (vocabs[0] == vocabs[1]) return {{vocabs[0], {0, 1}, sizes[0], &Vocabularies::source}};
  return {{vocabs[0], {0}, sizes.front(), &Vocabularies::source},
          {vocabs[1], {1}, sizes.back(), &Vocabularies::target}};
}

Error no_such_start(const TrainingSetup& setup) {
  return Error(fmt::format("--decoder-start {} is a piece that {} does not have", name_of(setup.model.decoder_start),
                           setup.data.vocabs[1]),
               "give --decoder-start zero, as in Marian, or eos; without the option it is zero for such a vocabulary");
}

// A list that is made has neither <s> nor padding, which need not be found out by reading all the text.
void require_start_of_list(const TrainingSetup& setup) {
  const bool needs_piece =
      setup.model.decoder_start == DecoderStart::bos || setup.model.decoder_start == DecoderStart::pad;
  const std::string& target = setup.data.vocabs[1];
  if (needs_piece && !setup.data.decoder_start_by_vocabulary && is_piece_list(target) &&
      !std::filesystem::exists(target))
    throw no_such_start(setup);
}

std::vector<std::string> texts_of(const Side& side, const TrainingSetup& setup) {
  std::vector<std::string> paths;
  const auto texts = training_texts(setup.data);
  for (const size_t s : setup.data.tsv ? std::vector<size_t>{0} : side.sides)
    for (const TextPair& text : texts) paths.push_back(text.paths[s]);
  return paths;
}

// Without reading the text.
void require_learnable(const Side& side, const TrainingSetup& setup) {
  require_start_of_list(setup);
  for (const std::string& path : texts_of(side, setup))
    if (is_pipe(path))
      throw Error(fmt::format("{} does not exist, and cannot be learned from {}, which is read only once", side.path,
                              path == "-" ? "stdin" : path),
                  "dragoman vocab train learns it from a file with some of the text");
}

void learn(const Side& side, const TrainingSetup& setup) {
  require_learnable(side, setup);
  VocabularyTraining training{.model = side.path,
                              .size = side.size,
                              .size_option = "--dim-vocabs",
                              .type_option = "--vocab-type",
                              .normalization_option = "--vocab-normalization"};
  if (setup.data.dim_vocabs.empty() && is_piece_list(side.path)) training.size = std::numeric_limits<int>::max();
  training.inputs = texts_of(side, setup);
  if (setup.data.tsv)
    for (const size_t s : side.sides) training.columns.push_back(training_texts(setup.data)[0].sides()[s]);
  training.type = setup.data.vocabulary_type;
  training.normalization = setup.data.normalization;
  training.protected_symbols = setup.data.protected_symbols;
  training.trainer_options = trainer_options(setup.data.sentencepiece_options);
  training.sample_lines = setup.data.vocabulary_lines;
  training.seed = setup.training.seed;
  train_vocabulary(training);
}

// A list, or a SentencePiece model with a soft limit, has at most so many pieces.
bool fits(const Vocabulary& vocabulary, const Side& side, const TrainingSetup& setup) {
  if (setup.data.dim_vocabs.empty()) return true;
  const bool at_most = is_piece_list(side.path) || have_soft_limit(trainer_options(setup.data.sentencepiece_options));
  return at_most ? vocabulary.size() <= side.size : vocabulary.size() == side.size;
}

// The model to write a missing vocabulary from: that of the run, if it resumes and asks for no other size, else
// --pretrained-model. Empty: there is none.
std::string model_with(const Side& side, const TrainingSetup& setup) {
  const std::string& own = setup.training.model;
  if (resumes(setup) && std::filesystem::exists(own) && fits(ModelFile(own).vocabularies().*side.in_model, side, setup))
    return own;
  return setup.training.pretrained_model;
}

bool is_learned(const Side& side, const TrainingSetup& setup) {
  return !std::filesystem::exists(side.path) && model_with(side, setup).empty();
}

// Reads the text once more, so that sides that do not pair are an error before anything is learned. It warns of
// nothing, since the next readers do.
void require_text_pairs(const TrainingSetup& setup) {
  const auto texts = training_texts(setup.data);
  if (std::ranges::any_of(files_of(texts), is_pipe)) return;
  const LogSink nobody = [](LogLevel, std::string_view) {};
  const LogScope unheard(&nobody);
  ParallelReader reader(texts);
  for (std::array<std::string, 2> pair; reader.next(pair);) continue;
}

void make(const Side& side, const TrainingSetup& setup) {
  const std::string model = model_with(side, setup);
  if (model.empty()) {
    log_info("{} does not exist: {} the training text", side.path,
             is_piece_list(side.path) ? "listing the tokens of" : "learning the vocabulary from");
    return learn(side, setup);
  }
  log_info("{} does not exist: it is written from the vocabulary of {}", side.path, model);
  const Vocabularies stored = outline_of(model).vocabularies;
  const std::string bytes =
      with_protected_symbols(stored.*side.in_model, setup.data.protected_symbols, "the vocabulary of " + model);
  const int more = Vocabulary::from_bytes(bytes, side.path).size() - (stored.*side.in_model).size();
  if (more > 0) log_info("{} has {} more: --protected-symbols", side.path, counted(more, "piece"));
  write_atomically(side.path, [&](FileWriter& file) { file.write(bytes); });
}

void require_protected(const Vocabulary& vocabulary, const std::string& path, const TrainingSetup& setup) {
  const std::vector<std::string> existing = facts_of(vocabulary.bytes()).protected_symbols;
  for (const std::string& symbol : setup.data.protected_symbols)
    if (std::ranges::count(existing, symbol) == 0)
      throw Error(fmt::format("{} has no protected symbol {}, which --protected-symbols asks for", path, symbol),
                  setup.training.pretrained_model.empty()
                      ? "name a new file to learn one"
                      : "name a new file: it is written from the vocabulary of --pretrained-model, with the symbol");
}

Vocabulary open_or_make(const Side& side, const TrainingSetup& setup, MadeVocabularies* made) {
  const std::string& path = side.path;
  if (!std::filesystem::exists(path)) {
    make(side, setup);
    if (made) made->add(path);
  }
  Vocabulary vocabulary = Vocabulary::load(path);
  if (!fits(vocabulary, side, setup))
    throw Error(
        fmt::format("{} has {} pieces, --dim-vocabs asks for {}", path, grouped(vocabulary.size()), grouped(side.size)),
        "leave out --dim-vocabs to use the vocabulary as it is, or name a new file to learn one");
  require_protected(vocabulary, path, setup);
  return vocabulary;
}

}  // namespace

std::vector<MissingVocabulary> missing_vocabularies(const TrainingSetup& setup) {
  std::vector<MissingVocabulary> missing;
  for (const Side& side : sides_of(setup)) {
    if (std::filesystem::exists(side.path)) continue;
    missing.push_back({side.path, model_with(side, setup)});
    if (missing.back().model.empty()) require_learnable(side, setup);
  }
  return missing;
}

MadeVocabularies::~MadeVocabularies() {
  std::error_code ignored;
  for (const std::string& path : paths_) {
    if (!std::filesystem::remove(path, ignored)) continue;
    try {
      log_warning("{} is removed again: the run ends before its first update, and the next one makes it anew", path);
    } catch (...) {  // the error that ends the run is what counts
    }
  }
}

Vocabularies open_vocabularies(const TrainingSetup& setup, MadeVocabularies* made) {
  const std::vector<Side> sides = sides_of(setup);
  if (std::ranges::any_of(sides, [&](const Side& side) { return is_learned(side, setup); })) require_text_pairs(setup);
  std::vector<Vocabulary> opened;
  for (const Side& side : sides) opened.push_back(open_or_make(side, setup, made));
  return {opened.front(), opened.back()};
}

Vocabularies open_vocabularies(const TrainingSetup& setup, Communicator& ranks, MadeVocabularies& made) {
  if (ranks.rank() > 0) ranks.barrier();
  Vocabularies vocabularies = open_vocabularies(setup, &made);
  if (ranks.rank() == 0) ranks.barrier();
  return vocabularies;
}

namespace {

SpecialIds special_of(const Vocabulary& v) { return {v.unk(), v.bos(), v.eos(), v.pad()}; }

// Checks that both sides have the same special pieces, and that the decoder's first piece exists.
SpecialIds special_ids(const TrainingSetup& setup, const Vocabularies& vocabularies) {
  const SpecialIds source = special_of(vocabularies.source), target = special_of(vocabularies.target);
  const auto list = [](const SpecialIds& s) { return fmt::format("{}, {}, {}, {}", s.unk, s.bos, s.eos, s.pad); };
  if (!(source == target))
    throw Error(fmt::format("{} numbers <unk>, <s>, </s>, <pad> as {}, but {} as {} (-1: there is none)",
                            setup.data.vocabs[0], list(source), setup.data.vocabs[1], list(target)),
                "make both with dragoman vocab train, or with the same --unk_id, --bos_id, --eos_id, --pad_id of "
                "spm_train");
  return source;
}

}  // namespace

ModelConfig with_vocabularies(const TrainingSetup& setup, const Vocabularies& vocabularies) {
  ModelConfig config = setup.data.guided_alignment.empty() ? setup.model : with_guided_alignment(setup.model);
  config.special = special_ids(setup, vocabularies);
  if (config.decoder_start == DecoderStart::bos && config.special.bos < 0 && setup.data.decoder_start_by_vocabulary)
    config.decoder_start = DecoderStart::zero;
  if (config.decoder_start != DecoderStart::zero && config.first_token() < 0) throw no_such_start(setup);
  config.source_vocabulary = vocabularies.source.size();
  config.target_vocabulary = vocabularies.target.size();
  if (config.rnn.encoder.pooling != EncoderPooling::hierarchical) return config;
  const bool are_of_pretrained = setup.data.sentence_marks.empty() && !config.rnn.encoder.sentence_ends.empty();
  if (are_of_pretrained) return config;
  config.rnn.encoder.sentence_ends = sentence_ends(vocabularies.source, setup.data.sentence_marks);
  if (config.rnn.encoder.sentence_ends.empty())
    throw Error(
        fmt::format("--sentence-ends {}: no piece of {} ends with one of these, so each line would be one sentence",
                    fmt::join(setup.data.sentence_marks, " "), setup.data.vocabs[0]),
        "name the marks at the ends of source sentences; --protected-symbols makes other marks pieces");
  return config;
}

CorpusFiles corpus_files(const TrainingSetup& setup, const Vocabularies& vocabularies) {
  CorpusFiles files = training_files(setup.data, vocabularies.source, vocabularies.target, setup.training.seed);
  files.frames = frames_of(with_vocabularies(setup, vocabularies));
  return files;
}

void warn_of_unknown(const TrainingSetup& setup, const CorpusFiles& files,
                     const std::array<UnknownTokens, 2>& counted) {
  const auto sides =
      encoded_sides({side_name(files.texts, 0), side_name(files.texts, 1)},
                    {files.vocabularies[0], files.vocabularies[1]}, setup.data.vocabs, "", files.given_pieces);
  for (const size_t side : {0, 1}) UnknownTokensWarning(sides[side]).at_end(counted[side]);
}

void require_its_vocabularies(const std::string& model, const Vocabularies& stored, const Vocabularies& vocabularies,
                              const std::vector<std::string>& paths, const std::string& hint) {
  const bool same_source = stored.source.bytes() == vocabularies.source.bytes();
  if (same_source && stored.target.bytes() == vocabularies.target.bytes()) return;
  throw Error(fmt::format("{} was trained with another vocabulary than {}", model, paths[same_source ? 1 : 0]), hint);
}

}  // namespace dragoman
