#pragma once
#include "decode/search_fields.h"
#include "options/flags.h"

namespace dragoman {

/// Rows with the same meaning in every command that has them.

template <class Options>
Flag<Options> cpu_threads_flag(std::string_view group) {
  return {.name = "cpu-threads",
          .field = &Options::cpu_threads,
          .value = "N",
          .group = group,
          .help = "number of threads; 0: OMP_NUM_THREADS, or else one per core that the process may use",
          .range = {0, 1024},
          .owner = Owner::engine,
          .per_process = true};
}

template <class Options>
Flag<Options> processes_flag(std::string_view group) {
  return {.name = "processes",
          .field = &Options::processes,
          .value = "N",
          .group = group,
          .help =
              "split the work among N processes on this machine (distributed computing; docs/scale.md); each takes "
              "--cpu-threads "
              "threads, by default an equal "
              "share of the cores",
          .range = {1, 1024},
          .owner = Owner::command};
}

template <class Options>
Flag<Options> comm_timeout_flag(std::string_view group) {
  return {
      .name = "comm-timeout",
      .field = &Options::comm_timeout,
      .value = "SECONDS",
      .group = group,
      .help = "with several processes, stop all of them if one sends no sign of life for this long; 0: wait forever",
      .range = {0, 1e6},
      .owner = Owner::command};
}

template <class Options>
Flag<Options> devices_flag(std::string_view group) {
  return {.name = "devices",
          .letter = 'd',
          .field = &Options::devices,
          .value = "DEVICE...",
          .group = group,
          .help = "device to compute on: cpu, or the number of a GPU, counted from 0",
          .owner = Owner::engine,
          .per_process = true};
}

/// The rows of a command that several processes can share.
template <class Options>
Flag<Options> shared_devices_flag(std::string_view group) {
  return {.name = "devices",
          .letter = 'd',
          .field = &Options::devices,
          .value = "DEVICE...",
          .group = group,
          .help = "devices to compute on: cpu, or numbers of GPUs, from 0, each with a process (multi-GPU)",
          .owner = Owner::engine,
          .per_process = true};
}

template <class Options>
Flag<Options> fast_math_flag(std::string_view group) {
  return {.name = "fast-math",
          .field = &Options::fast_math,
          .group = group,
          .help = "on a GPU, multiply float32 with 10 bits of mantissa (TF32) instead of 23: faster",
          .owner = Owner::engine};
}

/// Of commands that search translations.
template <class Options>
Flag<Options> beam_size_flag(std::string_view group, std::string_view help) {
  return {.name = "beam-size",
          .letter = 'b',
          .field = &Options::beam_size,
          .value = "N",
          .group = group,
          .help = help,
          .range = search_bounds("beam_size")};
}

template <class Options>
Flag<Options> alignment_flag(std::string_view group) {
  return {.name = "alignment",
          .field = &Options::alignment,
          .value = "hard|soft|X",
          .group = group,
          .help =
              "append ' ||| ' and the word alignment to each translation or score (in n-best lists, before the "
              "features), as Marian does; hard: for each target position j, the pair i-j with the best source position "
              "i; a number X: all pairs with a weight above X; soft: all weights; </s> counts as a token "
              "(docs/explain.md); without a value: hard",
          .implicit = "hard"};
}

template <class Options>
Flag<Options> no_spm_encode_flag(std::string_view group) {
  return {.name = "no-spm-encode",
          .field = &Options::no_spm_encode,
          .group = group,
          .help = "the text is already split into pieces, separated by spaces"};
}

/// Of commands that search translations.
template <class Options>
Flag<Options> tokens_in_flight_flag(std::string_view group) {
  return {.name = "mini-batch-words",
          .field = &Options::mini_batch_words,
          .value = "N",
          .group = group,
          .help =
              "source tokens in flight per thread or GPU; changes speed and memory, and on a GPU, except in int8, "
              "perhaps the last bits of scores; 0: 640, on a GPU 4096",
          .range = {0, 10'000'000}};
}

template <class Options>
Flag<Options> quiet_flag(std::string_view group) {
  return {.name = "quiet",
          .field = &Options::quiet,
          .group = group,
          .help = "print only warnings and errors",
          .owner = Owner::engine,
          .per_process = true};
}

constexpr std::string_view usual_profile = "at the end, print the time spent in each kernel to stderr";

template <class Options>
Flag<Options> profile_flag(std::string_view group, std::string_view help) {
  return {.name = "profile",
          .field = &Options::profile,
          .group = group,
          .help = help,
          .owner = Owner::command,
          .per_process = true};
}

/// The rows of MachineOptions.
template <class Options>
std::vector<Flag<Options>> machine_flags(std::string_view group) {
  return {cpu_threads_flag<Options>(group), quiet_flag<Options>(group)};
}

/// The rows of DeviceOptions.
template <class Options>
std::vector<Flag<Options>> device_flags(std::string_view group) {
  return {cpu_threads_flag<Options>(group), devices_flag<Options>(group), fast_math_flag<Options>(group),
          quiet_flag<Options>(group)};
}

/// The rows of SharedWorkOptions.
template <class Options>
std::vector<Flag<Options>> shared_work_flags(std::string_view group, std::string_view help_of_profile = usual_profile) {
  return {cpu_threads_flag<Options>(group),  processes_flag<Options>(group),
          comm_timeout_flag<Options>(group), shared_devices_flag<Options>(group),
          fast_math_flag<Options>(group),    profile_flag<Options>(group, help_of_profile),
          quiet_flag<Options>(group)};
}

template <class Options>
Flag<Options> vocabulary_lines_flag(std::string_view group) {
  return {.name = "sentencepiece-max-lines",
          .field = &Options::vocabulary_lines,
          .value = "N",
          .group = group,
          .help =
              "learn a new vocabulary from N random lines of the text, if it has more; 0: from all lines (Marian: "
              "2000000)",
          .range = {0, 1e12}};
}

template <class Options>
Flag<Options> vocabs_flag(std::string_view group) {
  return {.name = "vocabs",
          .letter = 'v',
          .field = &Options::vocabs,
          .value = "SOURCE TARGET",
          .group = group,
          .help = "vocabularies of another program's model, if no file next to it names them"};
}

/// Options that a model of another program may need, for commands that open such models.
template <class Options>
std::vector<Flag<Options>> open_flags(std::string_view group) {
  return {vocabs_flag<Options>(group),
          {.name = "source-lang",
           .field = &Options::source_lang,
           .value = "LANG",
           .group = group,
           .help = "source language, for multilingual models, by the model's own name, such as eng_Latn, en or en_XX"},
          {.name = "target-lang",
           .field = &Options::target_lang,
           .value = "LANG",
           .group = group,
           .help = "target language, for multilingual models"}};
}

template <class Options>
void check_vocabs(const Options& o, Findings& findings) {
  if (!o.vocabs.empty()) check_pair("vocabs", o.vocabs, findings);
}

template <class Options>
Flag<Options> sentencepiece_options_flag(std::string_view group) {
  return {.name = "sentencepiece-options",
          .field = &Options::sentencepiece_options,
          .value = "OPTIONS",
          .group = group,
          .help =
              "options of SentencePiece's trainer for a new vocabulary, together in quotes: '--split_digits "
              "--character_coverage=0.9995' (docs/training.md lists them)"};
}

/// A problem if several of the files of --`option` are stdin, which can be read once.
void check_stdin(std::string_view option, const std::vector<std::string>& files, Findings& findings);

/// The names of the backends for --devices and --fast-math: "cpu", or "cuda:1" for both "1" and "cuda:1". Error for an
/// invalid device, for the CPU or the same GPU among several, and for fast math on a CPU.
std::vector<std::string> backend_names(const std::vector<std::string>& devices, bool fast_math);
/// The name of the only backend. Error for several.
std::string backend_name(const std::vector<std::string>& devices, bool fast_math);

}  // namespace dragoman
