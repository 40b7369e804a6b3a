#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "interop/file_set.h"
#include "interop/foreign_tensor.h"

namespace dragoman {

/// CTranslate2's model.bin: the kind of model, and its variables.
struct CTranslate2Bin {
  std::string path;
  std::string spec;                            // "TransformerSpec"
  std::vector<ForeignTensor> tensors;          // in 8 bits with the scales of their rows
  std::map<std::string, double> numbers;       // variables without dimensions: sizes and flags
  std::set<std::string> flags;                 // … those of them in 8 bits
  std::map<std::string, std::string> aliases;  // names that stand for a variable stored under another name
};

/// Whether the file begins as one of versions 2 to 6.
bool is_ctranslate2_bin(const FileBytes& file);

/// Reads all but the tensors' bytes. Error, naming the file and the variable, for damaged files and unknown types.
CTranslate2Bin read_ctranslate2_bin(const FileBytes& file, const std::string& path);

}  // namespace dragoman
