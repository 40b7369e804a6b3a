#pragma once
#include <memory>
#include <optional>

#include "interop/foreign_tensor.h"
#include "interop/pickle.h"

namespace dragoman {

/// A file that torch.save wrote: a zip archive, or, before PyTorch 1.6, a stream of pickles. Nothing in it is executed:
/// other values stay a PickleValue. Copies share the file.
class TorchFile {
 public:
  const PickleValue& root() const;
  /// Its elements are read when they are asked for; bool becomes u8. Error, naming file and tensor, for what is no
  /// tensor, for types that DType lacks, and for sizes that do not go with the data.
  ForeignTensor tensor_of(const PickleValue& value, const std::string& name) const;

 private:
  struct Content;
  explicit TorchFile(std::shared_ptr<const Content> content) : content_(std::move(content)) {}
  friend std::optional<TorchFile> read_torch(const std::string& path);
  static Content read_zip(const std::string& path);
  static Content read_stream(const std::string& path);

  std::shared_ptr<const Content> content_;
};

/// Whether a file begins as torch.save begins them, or as other zip archives.
bool looks_like_torch(const std::string& path);

/// nullopt: there is no such file. Error, naming the file, for what torch.save did not write.
std::optional<TorchFile> read_torch(const std::string& path);

/// The tensors of a dict of names and tensors, as state_dict() makes it; `what` it is, for messages.
std::vector<ForeignTensor> state_dict_tensors(const TorchFile& file, const PickleValue& dict, const std::string& what);

/// The tensors of a file that holds such a dict and nothing else.
std::vector<ForeignTensor> state_dict_tensors(const std::string& path);

}  // namespace dragoman
