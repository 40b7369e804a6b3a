#pragma once
#include <string>
#include <vector>

#include "align/symmetrize.h"

namespace dragoman {

struct AlignerOptions {
  double nothing = 0.08;       // probability that a target piece has no source
  double tension = 4;          // initial λ: how close links are to the diagonal
  bool fixed_tension = false;  // false: learned from the second iteration on
  double alpha = 0.01;         // parameter of the Dirichlet prior on translations; 0: no prior
};

struct ShortlistOptions {
  int first = 100;  // the most frequent target pieces
  int best = 100;   // the most probable translations of each source piece
};

/// Text to align, and what to write.
struct AlignOptions : AlignerOptions, ShortlistOptions {
  std::vector<std::string> train_sets;  // {source, target} of each corpus
  bool tsv = false;                     // each file contains both sides
  std::vector<std::string> vocabs;      // {source, target}; empty: those of …
  std::string model;                    // … this file
  std::string output;                   // file for the links; empty: not written
  std::string shortlist;                // file to write; empty: none
  bool no_spm_encode = false;           // the text is already split into pieces
  int iterations = 5;
  bool reverse = false;                              // from the target to the source
  Symmetrization symmetrize = Symmetrization::none;  // of both directions; none: one direction
  int max_length = 200;                              // pieces
};

}  // namespace dragoman
