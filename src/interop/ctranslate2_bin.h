#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "interop/file_set.h"
#include "interop/foreign_tensor.h"

namespace dragoman {

/// The contents of CTranslate2's model.bin: the kind of model, and its variables.
struct CTranslate2Bin {
  std::string path;
  uint32_t version = 0;                        // of the format
  std::string spec;                            // "TransformerSpec"
  std::vector<ForeignTensor> tensors;          // 8-bit tensors have row_scales
  std::map<std::string, double> numbers;       // variables without dimensions: sizes and flags
  std::set<std::string> flags;                 // names of those numbers that are stored in 8 bits
  std::map<std::string, std::string> texts;    // before version 6: unk_token, bos_token, eos_token
  std::map<std::string, std::string> aliases;  // names that stand for a variable stored under another name
};

/// Whether the file begins like a model.bin of version 2 to 6.
bool is_ctranslate2_bin(const FileBytes& file);

/// Reads everything except the tensors' data, which is read on demand. Error, naming the file and the variable, for
/// damaged files and unknown types.
CTranslate2Bin read_ctranslate2_bin(const FileBytes& file, const std::string& path);

}  // namespace dragoman
