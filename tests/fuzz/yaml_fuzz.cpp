#include "cli/command.h"
#include "cli/commands.h"
#include "options/train_table.h"
#include "tests/fuzz/input_file.h"
#include "tests/fuzz/target.h"

namespace dragoman {

std::vector<std::string> seeds() {
  return {
      "# a comment\nmini-batch-words: 4096\nvocabs: [v, v]\ntied-embeddings-all: true\nafter: 20e\nlr-warmup: 800u\n",
      "train-sets:\n  - a.en\n  - 'a.de'\noptimizer-params: [0.9, 0.98, 1e-9]\nlearn-rate: 0.0003\nseed: 17\n",
      "{task: transformer-tiny, \"model\": \"m\", valid-metrics: [bleu, chrf], normalize: 0.6}\n",
      "model: &a m\nvalid-script: *a\n? x\n: y\n--- !!str\n|\n text\n"};
}

void read(std::string_view input) {
  const InputFile file(input);
  const auto table = train_table();
  TrainOptions options;
  std::vector<Option> own = bind_flags(table.flags, options);
  Assignments read;
  Findings findings("train");
  read_config(file.path(), own, read, findings);
  assign(read, own, findings);
  to_yaml(own, true);
  findings.finish();
}

}  // namespace dragoman
