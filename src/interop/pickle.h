#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace dragoman {

/// The content of a Python pickle as plain data: classes and functions are names, which are never called.
struct PickleValue;
using PickleRef = const PickleValue*;  // owned by a Pickle; values may be shared and may form cycles

struct PickleNone {};
struct PickleList {
  std::vector<PickleRef> items;
};
struct PickleTuple {
  std::vector<PickleRef> items;
};
struct PickleDict {  // or collections.OrderedDict
  std::vector<std::pair<PickleRef, PickleRef>> items;
  PickleRef find(std::string_view key) const;  // null: no such key
};
struct PickleGlobal {  // a class or a function
  std::string name;    // with its module: "torch.FloatStorage"
};
struct PicklePersistentId {  // an object outside the pickle
  PickleRef id = nullptr;
};
/// The object that a class or function would have created.
struct PickleObject {
  PickleRef maker = nullptr;  // mostly a PickleGlobal
  PickleRef arguments = nullptr;
  PickleRef state = nullptr;          // null: has none
  std::vector<PickleRef> items = {};  // appended, for list-like classes
  PickleDict entries = {};            // set, for dict-like classes
  std::string_view class_name() const;
};

struct PickleValue {
  /// Integers of more than 64 bits are bytes: two's complement, little-endian.
  std::variant<PickleNone, bool, int64_t, double, std::string, std::vector<std::byte>, PickleList, PickleTuple,
               PickleDict, PickleGlobal, PicklePersistentId, PickleObject>
      value;

  /// Null if the value is of another kind.
  template <class T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
};

/// Describes a value for messages: "a list", "an object of class argparse.Namespace".
std::string description_of(const PickleValue& value);

/// The result of read_pickle(). Moving it keeps all references valid.
struct Pickle {
  Pickle() = default;
  Pickle(Pickle&&) = default;
  Pickle(const Pickle&) = delete;

  std::deque<PickleValue> values;  // owns all values, so that cycles and deep nesting are destroyed safely
  PickleRef root = nullptr;
  size_t bytes = 0;  // number of input bytes that were read
};

/// Reads the pickle at the beginning of `bytes`, of protocols 2 to 5
/// (https://docs.python.org/3/library/pickletools.html). Time and memory are linear in its size. `name` is for
/// messages. Error for a damaged pickle and for opcodes of protocols 0 and 1.
Pickle read_pickle(std::span<const std::byte> bytes, const std::string& name);

}  // namespace dragoman
