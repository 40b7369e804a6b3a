#include "decode/shared_translation.h"

#include "comm/shared_work.h"
#include "decode/text_input.h"
#include "decode/translation_writer.h"

namespace dragoman {
namespace {

// The chunks of a line, each with a line break, as they travel to a rank. The last one begins with a blank, those
// before it with '+'.
std::string packed(const std::vector<std::string>& chunks) {
  std::string line;
  for (size_t i = 0; i < chunks.size(); ++i) line += (i + 1 < chunks.size() ? '+' : ' ') + chunks[i] + '\n';
  return line;
}

// Reads lines, packed; none at the end of the input. Waits only for the first line.
std::vector<std::string> next_lines(TextInput& in, int64_t most, size_t most_bytes) {
  std::vector<std::string> lines;
  for (size_t bytes = 0; int64_t(lines.size()) < most && bytes < most_bytes && (lines.empty() || in.line_ready());) {
    const std::vector<std::string> chunks = in.next_line();
    if (chunks.empty()) break;
    lines.push_back(packed(chunks));
    bytes += lines.back().size();
  }
  return lines;
}

// Appends the lines in the form in which they are written.
void translate(Translator& translator, const Share& share, const TranslateOptions& options, const SearchOptions& search,
               std::string& text) {
  LineWriter out(text);
  TranslationWriter writer(out, options, search, int64_t(share.first));
  LineCursor lines(share.text);
  translator.run({.ready = [] { return true; },
                  .next =
                      [&](std::string& line, bool& more) {
                        if (lines.at_end()) return false;
                        const std::string_view chunk = lines.next();
                        more = chunk[0] == '+';
                        line = chunk.substr(1);
                        return true;
                      },
                  .write = [&](auto best, bool more) { writer.write(std::move(best), more); },
                  .flush = [&] { out.flush(); },
                  .first_line = share.first});
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
    return {lines, translator.beyond_training(), translator.lacking()};
  }
  int64_t lines = 0;
  Rounds rounds;
  if (files)
    rounds.next = [&, input = TextInput(files->in, options)]() mutable {
      auto next =
          next_lines(input, options.maxi_batch_lines * ranks.size(), TextInput::longest_chunk * size_t(ranks.size()));
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
             [&](const Share& share, std::string& text) { translate(translator, share, options, search, text); });
  const int64_t beyond_training = sum_over_ranks(ranks, translator.beyond_training());
  return {lines, beyond_training, sum_over_ranks(ranks, translator.lacking())};
}

}  // namespace dragoman
