#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "vocab/special_pieces.h"

namespace dragoman {

// Read lists of pieces by id from the text of files of other programs. Error for duplicate or missing ids, and for
// files of another format; `name` is the file in messages. listed_model() finds duplicate pieces.

/// Marian's .yml and .yaml: lines of "piece: id", with YAML's quotes. If 0 or 1 is not an id, it becomes "</s>" or
/// "<unk>". JSON is YAML too.
std::vector<std::string> pieces_of_yaml(std::string_view text, const std::string& name);

/// Hugging Face's vocab.json: an object of ids by piece.
std::vector<std::string> pieces_of_json(std::string_view text, const std::string& name);

/// One piece per line: its line number, from 0, is the id.
std::vector<std::string> pieces_of_lines(std::string_view text, const std::string& name);

/// fairseq's dict.txt: "piece count" lines; "<s>", "<pad>", "</s>" and "<unk>" come before them.
std::vector<std::string> pieces_of_fairseq(std::string_view text, const std::string& name);

/// The special pieces of Marian's lists: "</s>" and "<unk>" if they are listed, else 0 and 1, which old files call
/// "eos" and "UNK".
SpecialPieces marian_special(const std::vector<std::string>& pieces);

/// Whether Vocabulary::load() reads a file of this name as a list of tokens: .yml, .yaml, .json or .txt.
bool is_piece_list(std::string_view path);

/// The text of such a file, which pieces_of_file() reads.
std::string file_of_pieces(const std::vector<std::string>& pieces, std::string_view path);

/// The list in a file with such a name. A .txt file must contain "</s>" and "<unk>", as for Marian.
std::vector<std::string> pieces_of_file(std::string_view text, const std::string& path);

}  // namespace dragoman
