#include "interop/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>

#include "base/error.h"

namespace dragoman {
namespace {

enum Opcode : uint8_t {
  proto = 0x80,
  frame = 0x95,
  stop = '.',
  // constants
  none = 'N',
  new_true = 0x88,
  new_false = 0x89,
  bin_int = 'J',
  bin_int1 = 'K',
  bin_int2 = 'M',
  long1 = 0x8a,
  long4 = 0x8b,
  bin_float = 'G',
  short_bin_string = 'U',  // from Python 2
  bin_string = 'T',
  short_bin_unicode = 0x8c,
  bin_unicode = 'X',
  bin_unicode8 = 0x8d,
  short_bin_bytes = 'C',
  bin_bytes = 'B',
  bin_bytes8 = 0x8e,
  byte_array8 = 0x96,
  // containers
  empty_list = ']',
  append = 'a',
  appends = 'e',
  empty_tuple = ')',
  tuple = 't',
  tuple1 = 0x85,
  tuple2 = 0x86,
  tuple3 = 0x87,
  empty_dict = '}',
  set_item = 's',
  set_items = 'u',
  empty_set = 0x8f,
  add_items = 0x90,
  frozen_set = 0x91,
  // stack and memo
  mark = '(',
  pop_one = '0',
  pop_mark = '1',
  duplicate = '2',
  bin_get = 'h',
  long_bin_get = 'j',
  bin_put = 'q',
  long_bin_put = 'r',
  memoize = 0x94,
  // classes and objects
  global = 'c',
  stack_global = 0x93,
  persistent_id = 'Q',
  reduce = 'R',
  new_object = 0x81,
  new_object_ex = 0x92,
  build = 'b'
};

// Interprets Python's pickle format, a stack machine with marks and a memo, without calling anything.
class PickleReader {
 public:
  PickleReader(std::span<const std::byte> bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  Pickle read() {
    for (;;) {
      const size_t begin = at_;
      const auto opcode = number<uint8_t>();
      if (opcode == stop) break;
      if (!protocol(opcode) && !constant(opcode) && !text(opcode) && !container(opcode) && !memory(opcode) &&
          !object(opcode))
        fail("{}: opcode {:#x} at byte {} is not one of pickle's protocols 2 to 5", name_, opcode, begin);
    }
    pickle_.root = pop();
    pickle_.bytes = at_;
    return std::move(pickle_);
  }

 private:
  void check(bool condition) const { require(condition, "{}: the pickle is damaged at byte {}", name_, at_); }

  std::span<const std::byte> take(uint64_t size) {
    check(size <= bytes_.size() - at_);
    at_ += size_t(size);
    return bytes_.subspan(at_ - size_t(size), size_t(size));
  }
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string string(uint64_t size) {
    const auto taken = take(size);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }
  std::string line() {
    const auto rest = bytes_.subspan(at_);
    const size_t size = size_t(std::ranges::find(rest, std::byte('\n')) - rest.begin());
    std::string result = string(size);
    take(1);
    return result;
  }

  template <class T>
  PickleValue* make(T value) {
    return &pickle_.values.emplace_back(PickleValue{std::move(value)});
  }
  template <class T>
  void push(T value) {
    stack_.push_back(make(std::move(value)));
  }
  size_t last_mark() const { return marks_.empty() ? 0 : marks_.back(); }
  PickleValue* top() const {
    check(stack_.size() > last_mark());
    return stack_.back();
  }
  PickleValue* pop() {
    PickleValue* value = top();
    stack_.pop_back();
    return value;
  }
  std::vector<PickleRef> pop_to(size_t height) {
    check(height <= stack_.size() && height >= last_mark());
    std::vector<PickleRef> items(stack_.begin() + int64_t(height), stack_.end());
    stack_.resize(height);
    return items;
  }
  std::vector<PickleRef> pop_count(size_t count) {
    check(count <= stack_.size());
    return pop_to(stack_.size() - count);
  }
  std::vector<PickleRef> pop_marked() {
    check(!marks_.empty());
    std::vector<PickleRef> items = pop_to(marks_.back());
    marks_.pop_back();
    return items;
  }

  bool protocol(uint8_t opcode) {
    if (opcode == frame) return number<uint64_t>(), true;
    if (opcode != proto) return false;
    const auto version = number<uint8_t>();
    require(version >= 2 && version <= 5, "{} has pickle protocol {}, expected 2 to 5", name_, version);
    return true;
  }

  bool constant(uint8_t opcode) {
    switch (opcode) {
      case none:
        return push(PickleNone()), true;
      case new_true:
      case new_false:
        return push(opcode == new_true), true;
      case bin_int:
        return push(int64_t(number<int32_t>())), true;
      case bin_int1:
        return push(int64_t(number<uint8_t>())), true;
      case bin_int2:
        return push(int64_t(number<uint16_t>())), true;
      case long1:
        return push_long(number<uint8_t>()), true;
      case long4:
        return push_long(number<uint32_t>()), true;
      case bin_float: {
        uint64_t bits = 0;
        for (const std::byte b : take(8)) bits = bits << 8 | uint64_t(b);
        return push(std::bit_cast<double>(bits)), true;
      }
      default:
        return false;
    }
  }
  void push_long(uint32_t size) {
    const auto digits = take(size);
    if (size > 8) return push(std::vector<std::byte>(digits.begin(), digits.end()));
    uint64_t value = size > 0 && (digits.back() & std::byte(0x80)) != std::byte() ? ~uint64_t{0} : 0;  // sign extension
    std::memcpy(&value, digits.data(), size);
    push(int64_t(value));
  }

  bool text(uint8_t opcode) {
    switch (opcode) {
      case short_bin_string:
      case short_bin_unicode:
        return push(string(number<uint8_t>())), true;
      case bin_string:
      case bin_unicode:
        return push(string(number<uint32_t>())), true;
      case bin_unicode8:
        return push(string(number<uint64_t>())), true;
      case short_bin_bytes:
        return push_bytes(number<uint8_t>()), true;
      case bin_bytes:
        return push_bytes(number<uint32_t>()), true;
      case bin_bytes8:
      case byte_array8:
        return push_bytes(number<uint64_t>()), true;
      default:
        return false;
    }
  }
  void push_bytes(uint64_t size) {
    const auto taken = take(size);
    push(std::vector<std::byte>(taken.begin(), taken.end()));
  }

  bool container(uint8_t opcode) {
    switch (opcode) {
      case empty_list:
      case empty_set:
        return push(PickleList()), true;
      case frozen_set:
        return push(PickleList{pop_marked()}), true;
      case append:
        return extend(pop_count(1)), true;
      case appends:
      case add_items:
        return extend(pop_marked()), true;
      case empty_tuple:
        return push(PickleTuple()), true;
      case tuple:
        return push(PickleTuple{pop_marked()}), true;
      case tuple1:
      case tuple2:
      case tuple3:
        return push(PickleTuple{pop_count(size_t(opcode - tuple1) + 1)}), true;
      case empty_dict:
        return push(PickleDict()), true;
      case set_item:
        return assign(pop_count(2)), true;
      case set_items:
        return assign(pop_marked()), true;
      default:
        return false;
    }
  }
  void extend(const std::vector<PickleRef>& items) {
    PickleValue& to = *top();
    auto* list = std::get_if<PickleList>(&to.value);
    auto* object = std::get_if<PickleObject>(&to.value);
    check(list || object);
    std::vector<PickleRef>& all = list ? list->items : object->items;
    all.insert(all.end(), items.begin(), items.end());
  }
  void assign(const std::vector<PickleRef>& items) {
    PickleValue& to = *top();
    auto* dict = std::get_if<PickleDict>(&to.value);
    auto* object = std::get_if<PickleObject>(&to.value);
    check((dict || object) && items.size() % 2 == 0);
    PickleDict& all = dict ? *dict : object->entries;
    for (size_t i = 0; i < items.size(); i += 2) all.items.emplace_back(items[i], items[i + 1]);
  }

  bool memory(uint8_t opcode) {
    switch (opcode) {
      case mark:
        return marks_.push_back(stack_.size()), true;
      case pop_one:
        return pop(), true;
      case pop_mark:
        return pop_marked(), true;
      case duplicate:
        return stack_.push_back(top()), true;
      case bin_get:
        return get(number<uint8_t>()), true;
      case long_bin_get:
        return get(number<uint32_t>()), true;
      case bin_put:
        return put(number<uint8_t>()), true;
      case long_bin_put:
        return put(number<uint32_t>()), true;
      case memoize:
        return put(uint32_t(memo_.size())), true;
      default:
        return false;
    }
  }
  void get(uint32_t index) {
    const auto found = memo_.find(index);
    check(found != memo_.end());
    stack_.push_back(found->second);
  }
  void put(uint32_t index) { memo_[index] = top(); }

  bool object(uint8_t opcode) {
    switch (opcode) {
      case global: {
        const std::string module = line();
        return push_global(module, line()), true;
      }
      case stack_global: {
        const auto names = pop_count(2);
        const auto *module = names[0]->as<std::string>(), *member = names[1]->as<std::string>();
        check(module && member);
        return push_global(*module, *member), true;
      }
      case persistent_id:
        return push(PicklePersistentId{pop()}), true;
      case new_object_ex:
        pop();  // keyword arguments
        [[fallthrough]];
      case new_object:
      case reduce: {
        const auto parts = pop_count(2);
        return push_object(parts[0], parts[1]), true;
      }
      case build: {
        const PickleValue* state = pop();
        if (auto* object = std::get_if<PickleObject>(&top()->value)) object->state = state;
        return true;  // attributes of other objects are ignored
      }
      default:
        return false;
    }
  }
  // A file may take the same names from the memo many times.
  void push_global(const std::string& module, const std::string& member) {
    constexpr size_t longest = 500;
    check(module.size() + member.size() < longest);
    push(PickleGlobal{module + '.' + member});
  }
  void push_object(PickleRef maker, PickleRef arguments) {
    const auto* known = maker->as<PickleGlobal>();
    const auto* given = arguments->as<PickleTuple>();
    check(given != nullptr);
    if (known && known->name == "collections.OrderedDict" && given->items.size() <= 1)
      return push(given->items.empty() ? PickleDict() : dict_of(*given->items[0]));
    push(PickleObject{.maker = maker, .arguments = arguments});
  }
  // Python 2 writes the entries of an OrderedDict as a list of pairs. A file may take the same list from the memo many
  // times: the copies together must be smaller than the file.
  PickleDict dict_of(const PickleValue& pairs) {
    const auto* list = pairs.as<PickleList>();
    check(list && (copied_ += list->items.size()) <= bytes_.size());
    PickleDict dict;
    for (const PickleRef item : list->items) {
      const auto* pair = item->as<PickleList>();
      check(pair && pair->items.size() == 2);
      dict.items.emplace_back(pair->items[0], pair->items[1]);
    }
    return dict;
  }

  const std::span<const std::byte> bytes_;
  const std::string& name_;
  size_t at_ = 0, copied_ = 0;
  std::vector<PickleValue*> stack_;
  std::vector<size_t> marks_;  // heights of the stack
  std::unordered_map<uint32_t, PickleValue*> memo_;
  Pickle pickle_;
};

}  // namespace

PickleRef PickleDict::find(std::string_view key) const {
  for (const auto& [name, value] : items)
    if (const auto* text = name->as<std::string>(); text && *text == key) return value;
  return nullptr;
}

std::string_view PickleObject::class_name() const {
  const auto* known = maker->as<PickleGlobal>();
  return known ? std::string_view(known->name) : "that the file does not name";
}

std::string description_of(const PickleValue& value) {
  static constexpr const char* kinds[] = {"None",  "a bool", "an integer", "a number", "a string",
                                          "bytes", "a list", "a tuple",    "a dict"};
  if (value.value.index() < std::size(kinds)) return kinds[value.value.index()];
  if (const auto* known = value.as<PickleGlobal>()) return "the class " + known->name;
  if (const auto* object = value.as<PickleObject>()) return fmt::format("an object of class {}", object->class_name());
  return "a storage";
}

Pickle read_pickle(std::span<const std::byte> bytes, const std::string& name) {
  return PickleReader(bytes, name).read();
}

}  // namespace dragoman
