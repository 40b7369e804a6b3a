#pragma once
#include <concepts>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "options/findings.h"
#include "options/values.h"

namespace dragoman {

/// Sets and shows one member of Options (or of a base of it), whatever the member's type.
template <class Options>
struct Field {
  template <class T, class B>
  requires std::derived_from<Options, B> Field(T B::*member)  // NOLINT: implicit, so that a row says .field = &O::x
      : set([=](Options& o, const Strings& words, Bounds bounds) { read_words(o.*member, words, bounds); }),
        show([=](const Options& o) { return show_words(o.*member); }),
        choices(choices_of<T>()),
        list(List<T>),
        boolean(std::same_as<T, bool>) {}

  using Set = std::function<void(Options&, const Strings&, Bounds)>;
  using Show = std::function<Strings(const Options&)>;
  Field(Set setter, Show shower, std::string words, bool is_boolean, bool is_list = false)
      : set(std::move(setter)),
        show(std::move(shower)),
        choices(std::move(words)),
        list(is_list),
        boolean(is_boolean) {}

  Set set;
  Show show;
  std::string choices;  // "relu, gelu, swish"; empty if the type has no fixed set of words
  bool list;
  bool boolean;
};

/// Which words of an option are names of files. as_value: all if the placeholder says so (FILE, MODEL, FOLDER, SOURCE),
/// else none; existing: those for which there is a file, since an argument of a script may be anything.
enum class FileWords { as_value, first, existing };

/// What becomes of the files that an option names: no file that is read or written is overwritten by another
/// (options/table_files.h). A model is read with the files that belong to it. Temporary files have names of their own.
enum class FileUse { read, read_model, written, temporary };

/// What takes an option: the work itself; the engine that it runs on, whose options programs set in EngineOptions; or
/// the command, so that programs do not have it.
enum class Owner { work, engine, command };

/// A row: one option of a subcommand. The parser, --help, the YAML key, docs/options.md and "did you mean" are derived
/// from it. Its default is the member's own.
template <class Options>
struct Flag {
  std::string_view name;        // --name, and the key in YAML
  char letter = 0;              // -l, or none
  std::string_view alias = "";  // a second --name
  Field<Options> field;
  std::string_view value = "";  // placeholder in --help: "N", "FILE"
  std::string_view group;
  std::string_view help;
  Bounds range = {};
  std::string_view implicit = "";  // the value if the option is given without one
  std::string_view unit = "";      // optional suffix of a number: 4000u
  bool required = false;
  bool positional = false;  // given without --name
  FileWords files = FileWords::as_value;
  FileUse use = FileUse::read;    // if it names files
  std::string_view choices = "";  // those of the type that --help names; empty: all
  Owner owner = Owner::work;
  bool per_process = false;  // processes that share the work may have different values
};

/// A row bound to the struct that holds its value.
struct Option {
  std::string_view name;
  char letter;
  std::string_view alias, value, group, help;
  Bounds range;
  std::string_view implicit, unit;
  bool required, positional;
  FileWords files;
  FileUse use;
  Owner owner;
  bool per_process, list, boolean;
  std::string choices;
  std::function<void(const Strings&)> set;
  std::function<Strings()> show;
  Strings standard;       // the default, as show() prints it
  bool given = false;     // on the command line or in a file
  bool refused = false;   // given, but with a value that is no value of it
  bool preset = false;    // changed by a preset, such as --task
  std::string file = {};  // and line, if a file gives it: "tiny.yml:3"

  bool stands_alone() const { return boolean || !implicit.empty(); }
  bool takes_files() const;
};

/// The rows of `flags`, bound. The result refers to both arguments.
template <class Options>
std::vector<Option> bind_flags(const std::vector<Flag<Options>>& flags, Options& options) {
  std::vector<Option> bound;
  for (const Flag<Options>& f : flags) {
    Option o{f.name,        f.letter,     f.alias,         f.value,         f.group, f.help, f.range,
             f.implicit,    f.unit,       f.required,      f.positional,    f.files, f.use,  f.owner,
             f.per_process, f.field.list, f.field.boolean, f.field.choices, {},      {},     {}};
    if (!f.choices.empty()) o.choices = f.choices;
    o.set = [&f, &options](const Strings& words) { f.field.set(options, words, f.range); };
    o.show = [&f, &options] { return f.field.show(options); };
    o.standard = o.show();
    bound.push_back(std::move(o));
  }
  return bound;
}

/// The rows of several groups, in order.
template <class Options, class... More>
std::vector<Flag<Options>> joined(std::vector<Flag<Options>> first, More... more) {
  (first.insert(first.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end())), ...);
  return first;
}

/// Which options the user gave, as opposed to those that kept their defaults.
class Given {
 public:
  explicit Given(const std::vector<Option>& options) : options_(options) {}
  bool operator()(std::string_view name) const;
  /// Given with a value other than the default: a complete configuration file also lists options with their defaults.
  bool changed(std::string_view name) const;
  /// The file that gives it, and the line: "tiny.yml:3"; empty: none does, or the command line overrides it.
  std::string_view file_of(std::string_view name) const;
  /// Changed, and not to 0 or false: an unsupported option may be given as off.
  bool turned_on(std::string_view name) const;

 private:
  const Option& option(std::string_view name) const;

  const std::vector<Option>& options_;
};

/// Adds a problem unless `files` is empty or {source, target}, of which at most one is stdin.
void check_pair(std::string_view option, const std::vector<std::string>& files, Findings& findings);

struct CommandFiles;

/// Texts of a subcommand in help pages.
struct About {
  std::string_view name;
  std::string_view summary;     // one line for `dragoman --help`
  std::string_view usage;       // the text after the name
  std::string_view text;        // a paragraph or two for its own page
  std::string_view stray = "";  // the hint for words that belong to no option, before the usage
};

/// A subcommand's options and the checks between them.
template <class Options>
struct Table {
  About about;
  std::vector<Flag<Options>> flags;
  // Adds contradictions to the findings; resolves alternative spellings.
  void (*check)(Options&, const Given&, Findings&) = nullptr;
  std::string_view preset_flag = "";                          // set first, if not empty; then `preset` runs,
  void (*preset)(Options&) = nullptr;                         // then all other options are set,
  void (*inherit)(Options&, std::vector<Option>&) = nullptr;  // and last the values from a file that an option names
  std::vector<std::string_view> essentials = {};              // the options that -h shows; empty: all
  void (*files)(const Options&, CommandFiles&) = nullptr;     // corrects the files that the rows name
};

}  // namespace dragoman
