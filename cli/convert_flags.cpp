#include "base/error.h"

#include "cli/commands.h"
#include "cli/convert_options.h"
#include "options/flags.h"
#include "options/shared_flags.h"

namespace dragoman {

Table<ConvertCommandOptions> convert_table() {
  using O = ConvertCommandOptions;
  static constexpr auto files = "Files";
  Table<O> table = {
      .about = {.name = "convert",
                .summary = "convert models between dragoman and other programs",
                .usage = "--input MODEL --output OUT [--to FORMAT] [--vocabs SOURCE TARGET]",
                .text =
                    "Converts models of other programs to dragoman's model file: Marian Transformers (.npz, .bin, "
                    "decoder.yml), folders of Hugging Face's transformers (MarianMT, M2M100, NLLB-200, mBART-50, T5), "
                    "fairseq and OpenNMT-py checkpoints (.pt), folders of JoeyNMT, Sockeye and CTranslate2, and Argos "
                    "Translate packages; see docs/existing_models.md. The other commands also read such models "
                    "directly, and "
                    "convert them in memory each time. With --to, writes a model in the format of another program."},
      .flags = {{.name = "input",
                 .letter = 'i',
                 .field = &O::input,
                 .value = "MODEL",
                 .group = files,
                 .help = "model to convert: another program's, or, with --to, any",
                 .required = true,
                 .use = FileUse::read_model},
                {.name = "output",
                 .letter = 'o',
                 .field = &O::output,
                 .value = "OUT",
                 .group = files,
                 .help = "model file to write, or, with --to, a new folder",
                 .required = true,
                 .use = FileUse::written},
                {.name = "to",
                 .field = &O::format,
                 .value = "FORMAT",
                 .group = files,
                 .help = "format to write: dragoman's model file, a CTranslate2 folder, a folder for ONNX Runtime, or, "
                         "if the architecture allows it, a folder for Hugging Face's MarianMT or for Marian"},
                {.name = "verify",
                 .field = &O::verify,
                 .value = "FILE",
                 .group = files,
                 .help = "compare log-probabilities and greedy translations of the lines of this file with those of "
                         "the program that the model comes from, and print lines that differ; needs pymarian, "
                         "transformers or ctranslate2 for python3"}},
      .check = [](O& o, const Given&, Findings& findings) {
        check_vocabs(o, findings);
        findings.expect(o.verify.empty() || o.format == ModelFormat::dragoman,
                        "--verify compares a model of another program, --to {} writes one: give one of them",
                        name_of(o.format));
      }};
  table.flags = joined(std::move(table.flags), open_flags<O>(files), machine_flags<O>("Run"));
  return table;
}

}  // namespace dragoman
