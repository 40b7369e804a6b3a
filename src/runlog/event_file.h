#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace dragoman {

/// The files that TensorBoard reads: TFRecord frames around protobuf messages of tensorflow/core/util/event.proto, of
/// which a run needs three fields. Written by hand: a protobuf library would be larger than this code.

/// CRC-32C (Castagnoli; RFC 3720, appendix B.4).
uint32_t crc32c(std::string_view bytes);

/// One record: length, its checksum, data, its checksum; checksums are masked as TensorFlow does.
std::string tf_record(std::string_view data);

struct Scalar {
  std::string tag;
  double value;
};

/// Messages of type Event; `time` is seconds since 1970.
std::string version_event(double time);                // the first of a file
std::string restart_event(double time, int64_t step);  // later steps are void
std::string scalars_event(double time, int64_t step, const std::vector<Scalar>& scalars);

/// A new file in a folder, which is created if missing.
class EventFile {
 public:
  EventFile(const std::string& folder, double time);
  void write(std::string_view event) { file_.write(tf_record(event)); }
  void close() { file_.close(); }

 private:
  FileDescriptor file_;
};

}  // namespace dragoman
