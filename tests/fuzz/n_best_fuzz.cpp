#include "score/n_best_reader.h"
#include "tests/fuzz/input_file.h"
#include "tests/fuzz/target.h"

namespace dragoman {

std::vector<std::string> seeds() {
  return {"0 ||| ein Hund . ||| F0= -1.5 ||| -0.3\n0 ||| Hund ||| F0= -2 ||| -0.7\n2 ||| zwei ||| F0= -1 ||| -1\n",
          "1 ||| a ||| b ||| 0-0 1-1 ||| WordScores= -0.5 -1 ||| F0= -1.5 F1= 2 ||| -0.3\n",
          "0 |||  ||| 0.9,0.1 0.2,0.8 ||| F0= nan ||| -inf"};
}

void read(std::string_view input) {
  static const InputFile source("a dog .\n\ntwo\n");
  const InputFile list(input, ".list");
  NBestReader reader({source.path(), list.path()});
  for (auto window = reader.next(2); !window.entries.empty(); window = reader.next(2))
    for (const NBestEntry& entry : window.entries) {
      invariant(entry.line >= 0 && entry.line < 3, "an entry is of a line of the source");
      invariant(to_line(entry).find('\n') == std::string::npos, "an entry is written as one line");
    }
}

}  // namespace dragoman
