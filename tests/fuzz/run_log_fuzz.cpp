#include "pages/curves_page.h"
#include "tests/fuzz/input_file.h"
#include "tests/fuzz/target.h"

namespace dragoman {

std::vector<std::string> seeds() {
  return {
      R"({"event":"start","update":0}
{"event":"report","update":100,"target_tokens":4000,"cost":9.5,"learning_rate":0.0001,"words_per_second":800,"gradient_norm":1.5}
{"event":"validation","update":100,"target_tokens":4000,"metrics":{"bleu":12.5,"cross-entropy":null}}
{"event":"rollback","update":50}
)",
      R"({"event":"report","update":100,"target_tokens":4000,"cost":null,"learning_rate":1e-9,"words_per_second":0)"};
}

void read(std::string_view input) {
  const InputFile file(input);
  curves_page({read_curves(file.path())});
}

}  // namespace dragoman
