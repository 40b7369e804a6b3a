#pragma once
#include "options/flags.h"

namespace dragoman {

/// Rows with the same meaning in every command that has them.

template <class Options>
Flag<Options> cpu_threads_flag(std::string_view group) {
  return {.name = "cpu-threads",
          .field = &Options::cpu_threads,
          .value = "N",
          .group = group,
          .help = "number of threads; 0: one per core",
          .range = {0, 1024}};
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
          .range = {1, 1024}};
}

template <class Options>
Flag<Options> comm_timeout_flag(std::string_view group) {
  return {
      .name = "comm-timeout",
      .field = &Options::comm_timeout,
      .value = "SECONDS",
      .group = group,
      .help = "with several processes, stop all of them if one sends no sign of life for this long; 0: wait forever",
      .range = {0, 1e6}};
}

template <class Options>
Flag<Options> devices_flag(std::string_view group) {
  return {.name = "devices",
          .letter = 'd',
          .field = &Options::devices,
          .value = "DEVICE...",
          .group = group,
          .help = "device to compute on: cpu, or the number of a GPU, counted from 0"};
}

/// The rows of a command that several processes can share.
template <class Options>
Flag<Options> shared_devices_flag(std::string_view group) {
  return {.name = "devices",
          .letter = 'd',
          .field = &Options::devices,
          .value = "DEVICE...",
          .group = group,
          .help = "devices to compute on: cpu, or numbers of GPUs, from 0, each with a process (multi-GPU)"};
}

template <class Options>
Flag<Options> fast_math_flag(std::string_view group) {
  return {.name = "fast-math",
          .field = &Options::fast_math,
          .group = group,
          .help = "on a GPU, multiply float32 with 10 bits of mantissa (TF32) instead of 23: faster"};
}

/// Of commands that search translations.
template <class Options>
Flag<Options> tokens_in_flight_flag(std::string_view group) {
  return {.name = "mini-batch-words",
          .field = &Options::mini_batch_words,
          .value = "N",
          .group = group,
          .help =
              "source tokens in flight per thread or GPU; changes speed and memory, never the result; 0: 640, on a "
              "GPU 4096",
          .range = {0, 10'000'000}};
}

template <class Options>
Flag<Options> quiet_flag(std::string_view group) {
  return {.name = "quiet", .field = &Options::quiet, .group = group, .help = "print only warnings and errors"};
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
Flag<Options> sentencepiece_options_flag(std::string_view group) {
  return {.name = "sentencepiece-options",
          .field = &Options::sentencepiece_options,
          .value = "OPTIONS",
          .group = group,
          .help =
              "options of SentencePiece's trainer for a new vocabulary, together in quotes: '--split_digits "
              "--character_coverage=0.9995' (docs/training.md lists them)"};
}

/// The names of the backends for --devices and --fast-math: "cpu", or "cuda:1" for both "1" and "cuda:1". Error for an
/// invalid device, for the CPU or the same GPU among several, and for fast math on a CPU.
std::vector<std::string> backend_names(const std::vector<std::string>& devices, bool fast_math);
/// The name of the only backend. Error for several.
std::string backend_name(const std::vector<std::string>& devices, bool fast_math);

}  // namespace dragoman
