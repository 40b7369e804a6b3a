#include "decode/shared_translation.h"

#include "comm/shared_work.h"
#include "decode/translation_writer.h"

namespace dragoman {
namespace {

// Reads lines, with their line breaks; none at the end of the input. Waits only for the first line.
std::vector<std::string> next_lines(LineReader& in, int64_t most) {
  std::vector<std::string> lines;
  std::string line;
  while (int64_t(lines.size()) < most && (lines.empty() || in.ready()) && in.next(line)) lines.push_back(line + '\n');
  return lines;
}

// The lines in the form in which they are written.
std::string translated(Translator& translator, const Share& share, const TranslateOptions& options,
                       const SearchOptions& search) {
  std::string text;
  LineWriter out(text);
  TranslationWriter writer(out, options, search, int64_t(share.first));
  LineCursor lines(share.text);
  translator.run({.ready = [] { return true; },
                  .next =
                      [&](std::string& line, bool& more) {
                        if (lines.at_end()) return false;
                        line = lines.next();
                        return more = false, true;
                      },
                  .write = [&](auto best, bool more) { writer.write(std::move(best), more); },
                  .flush = [] {},
                  .first_line = share.first});
  out.close();
  return text;
}

// On rank 0; 0 on other ranks.
int64_t sum_over_ranks(Communicator& ranks, int64_t here) {
  int64_t sum = 0;
  for (const std::string& of_rank : ranks.gather(std::to_string(here))) sum += std::stoll(of_rank);
  return sum;
}

}  // namespace

TranslatedLines translate_on_ranks(Communicator& ranks, Translator& translator, const TranslateOptions& options,
                                   const SearchOptions& search, const SharedFiles* files) {
  if (ranks.size() == 1) {
    const int64_t lines = translator.translate(files->in, files->out, files->written);
    return {lines, translator.beyond_training()};
  }
  int64_t lines = 0;
  Rounds rounds;
  if (files)
    rounds.next = [&] {
      auto next = next_lines(files->in, options.maxi_batch_lines * ranks.size());
      lines += int64_t(next.size());
      return next;
    };
  if (files)
    rounds.finish = [&](const std::vector<std::string>& texts) {
      for (const std::string& text : texts) files->out.write_segment(text);
      files->out.flush();
      if (files->written) files->written(lines);
    };
  share_work(ranks, files ? &rounds : nullptr,
             [&](const Share& share) { return translated(translator, share, options, search); });
  return {lines, sum_over_ranks(ranks, translator.beyond_training())};
}

}  // namespace dragoman
