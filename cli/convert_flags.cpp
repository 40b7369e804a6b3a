#include "base/error.h"

#include "cli/commands.h"
#include "cli/convert_options.h"
#include "cli/open_flags.h"
#include "options/flags.h"
#include "options/machine_flags.h"

namespace dragoman {

Table<ConvertCommandOptions> convert_table() {
  using O = ConvertCommandOptions;
  static constexpr auto files = "Files", run = "Run";
  Table<O> table = {
      .about = {.name = "convert",
                .summary = "make a model file of a model of another program, or the other way round",
                .usage = "--input MODEL --output OUT [--to FORMAT] [--vocabs SOURCE TARGET]",
                .text = "Reads Transformers of Marian (.npz, .bin, decoder.yml), folders of Hugging Face's "
                        "transformers (MarianMT, M2M100, NLLB-200, mBART-50), checkpoints of fairseq and OpenNMT-py "
                        "(.pt), folders of CTranslate2 and packages of Argos Translate; docs/existing_models.md says "
                        "which, and what differs. The other commands "
                        "take such models as they are, too, and convert them in memory each time. With --to, any "
                        "model becomes one of another program."},
      .flags = {{.name = "input",
                 .letter = 'i',
                 .field = &O::input,
                 .value = "MODEL",
                 .group = files,
                 .help = "the model: with --to of any program, else of another one",
                 .required = true},
                {.name = "output",
                 .letter = 'o',
                 .field = &O::output,
                 .value = "OUT",
                 .group = files,
                 .help = "model file to write; with --to a new folder",
                 .required = true},
                {.name = "to",
                 .field = &O::format,
                 .value = "FORMAT",
                 .group = files,
                 .help = "what to write: dragoman's model file, a folder of CTranslate2, one for ONNX Runtime, "
                         "or, for models of that shape, one of Hugging Face's MarianMT or of Marian"},
                {.name = "verify",
                 .field = &O::verify,
                 .value = "FILE",
                 .group = files,
                 .help = "compare the result with the program that the model comes from, on the lines of this file: "
                         "log-probabilities and greedy translations; lines that differ are printed. python3 needs "
                         "pymarian, transformers or ctranslate2"},
                quiet_flag<O>(run)},
      .check = [](O& o, const Given&, Findings& findings) {
        check_vocabs(o, findings);
        findings.expect(o.verify.empty() || o.format == ModelFormat::dragoman,
                        "--verify compares a model of another program, --to {} writes one: give one of them",
                        name_of(o.format));
      }};
  auto open = open_flags<O>(files);
  table.flags.insert(table.flags.end() - 1, open.begin(), open.end());
  return table;
}

}  // namespace dragoman
