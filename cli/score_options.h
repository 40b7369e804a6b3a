#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "align/alignment_style.h"
#include "score/options.h"

namespace dragoman {

struct ScoreCommandOptions : ScoreOptions {
  std::string model;
  std::vector<std::string> train_sets;  // {source, target}, as Marian calls them; with n_best {source, list}
  bool tsv = false;                     // train_sets is one file, of lines SOURCE tab TARGET
  std::string output = "-";
  bool n_best = false;                         // the target is an n-best list, to which a feature is added …
  std::string n_best_feature = "Score";        // … of this name
  bool word_scores = false;                    // also log-probabilities of the tokens
  AlignmentStyle alignment;                    // source positions attended to by each target position
  Summary summary = Summary::none;             // printed instead of one line per pair
  bool normalize = false;                      // divide each log-probability by the target's length
  int64_t maxi_batch_lines = 10000;            // lines read ahead and sorted by length
  std::vector<std::string> devices = {"cpu"};  // "cpu", or "cuda:0" and others
  bool fast_math = false;                      // on a GPU: products of float32 in TF32
  int cpu_threads = 0;                         // 0: one per core
  int processes = 1;
  double comm_timeout = 60;  // seconds of silence after which a rank counts as lost; 0: never
  bool profile = false;
  bool quiet = false;
};

}  // namespace dragoman
