#pragma once
#include <memory>
#include <optional>

#include "interop/foreign_tensor.h"
#include "interop/pickle.h"

namespace dragoman {

/// A file written by torch.save: a zip archive, or, before PyTorch 1.6, a stream of pickles. Nothing in it is executed:
/// values other than tensors stay PickleValues. Copies share the file.
class TorchFile {
 public:
  const PickleValue& root() const;
  /// Its elements are read on demand; bool becomes u8. Error, naming file and tensor, for a value that is not a
  /// tensor, for types that DType lacks, and for sizes that do not match the data.
  ForeignTensor tensor_of(const PickleValue& value, const std::string& name) const;

 private:
  struct Content;
  explicit TorchFile(std::shared_ptr<const Content> content) : content_(std::move(content)) {}
  friend std::optional<TorchFile> read_torch(const std::string& path);
  static Content read_zip(const std::string& path);
  static Content read_stream(const std::string& path);

  std::shared_ptr<const Content> content_;
};

/// Whether a file begins like a torch.save file or another zip archive.
bool looks_like_torch(const std::string& path);

/// nullopt: there is no such file. Error, naming the file, if torch.save did not write it.
std::optional<TorchFile> read_torch(const std::string& path);

/// The tensors of a dict from names to tensors, as returned by state_dict(); `what` names it in messages.
std::vector<ForeignTensor> state_dict_tensors(const TorchFile& file, const PickleValue& dict, const std::string& what);

/// The tensors of a file that contains only such a dict.
std::vector<ForeignTensor> state_dict_tensors(const std::string& path);

}  // namespace dragoman
