#include "base/error.h"

#include "cli/commands.h"
#include "cli/convert_options.h"
#include "cli/flags.h"
#include "cli/machine_flags.h"
#include "cli/open_flags.h"

namespace dragoman {

Table<ConvertCommandOptions> convert_table() {
  using O = ConvertCommandOptions;
  static constexpr auto files = "Files", run = "Run";
  Table<O> table = {
      .about = {.name = "convert",
                .summary = "make a model file of a model of another program",
                .usage = "--input MODEL --output OUT [--vocabs SOURCE TARGET]",
                .text = "Reads Transformers of Marian (.npz, .bin, decoder.yml) and folders of Hugging Face's "
                        "transformers (MarianMT, M2M100, NLLB-200, mBART-50), checkpoints of fairseq and "
                        "OpenNMT-py (.pt), folders of "
                        "CTranslate2 and packages of Argos Translate; docs/existing_models.md says which, and "
                        "what differs. The other commands take "
                        "such models as they are, too, and "
                        "convert them in memory each time."},
      .flags = {{.name = "input",
                 .letter = 'i',
                 .field = &O::input,
                 .value = "MODEL",
                 .group = files,
                 .help = "model of the other program",
                 .required = true},
                {.name = "output",
                 .letter = 'o',
                 .field = &O::output,
                 .value = "FILE",
                 .group = files,
                 .help = "model file to write",
                 .required = true},
                quiet_flag<O>(run)},
      .check = [](O& o, const Given&, Findings& findings) { check_vocabs(o, findings); }};
  auto open = open_flags<O>(files);
  table.flags.insert(table.flags.end() - 1, open.begin(), open.end());
  return table;
}

}  // namespace dragoman
