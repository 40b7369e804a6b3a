#include "base/compression.h"
#include "base/line_reader.h"
#include "base/utf8.h"
#include "tests/fuzz/input_file.h"
#include "tests/fuzz/target.h"

namespace dragoman {
namespace {

constexpr const char *gzip_magic = "\x1f\x8b",
                     *xz_magic =
                         "\xfd"
                         "7zXZ",
                     *zstd_magic = "\x28\xb5\x2f\xfd";

std::string ending_of(std::string_view bytes) {
  if (bytes.starts_with(gzip_magic)) return ".gz";
  if (bytes.starts_with(xz_magic)) return ".xz";
  return bytes.starts_with(zstd_magic) ? ".zst" : "";
}

std::string compressed(const std::string& text, const std::string& ending) {
  const TemporaryFolder folder;
  const std::string path = folder / ("text" + ending);
  auto file = FileDescriptor::to_write(path);
  const auto packer = compress(file, compression_of(path));
  packer->write(text);
  packer->finish();
  return read_file(path);
}

void require_line(const std::string& line) {
  invariant(is_valid_utf8(line) && line.find('\n') == line.npos, "a line is one line of valid UTF-8");
}

// As long lines are read: parts that go on until `more` is false are one line.
int64_t lines_in_segments(const std::string& path, size_t longest) {
  LineReader reader(path);
  int64_t ends = 0;
  bool more = false;
  for (std::string part; reader.next_segment(part, longest, more); ends += !more) {
    require_line(part);
    invariant(part.size() <= 3 * longest, "a part is as short as asked for, but for bytes that became U+FFFD");
  }
  invariant(!more && reader.lines() == ends, "every line has a last part");
  return ends;
}

}  // namespace

std::vector<std::string> seeds() {
  std::string text = "a dog .\r\n\n\xE2\x80\xA8 ein Hund \xF0\x9F\x98\x80\nbad \xC3( \xED\xA0\x80\xFF\n";
  std::vector<std::string> inputs{text, std::string("\0\n\0", 3), ""};
  for (int i = 0; i < 40; ++i) text += "line " + std::to_string(i * i) + "\n";
  for (const char* ending : {".gz", ".xz", ".zst"}) inputs.push_back(compressed(text, ending));
  inputs.push_back(inputs[3] + inputs[3]);  // files laid end to end
  inputs.push_back(inputs[5] + inputs[5]);
  return inputs;
}

void read(std::string_view input) {
  const InputFile file(input, ending_of(input));
  LineReader reader(file.path());
  for (std::string line; reader.next(line);) require_line(line);
  for (const size_t longest : {8, 100})
    invariant(lines_in_segments(file.path(), longest) == reader.lines(), "there are as many lines in parts as whole");
}

}  // namespace dragoman
