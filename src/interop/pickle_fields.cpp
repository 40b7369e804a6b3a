#include "interop/pickle_fields.h"

#include <limits>

#include "base/error.h"

namespace dragoman {
namespace {

const PickleDict* state_of(const PickleValue& value) {
  const auto* object = value.as<PickleObject>();
  return object && object->state ? object->state->as<PickleDict>() : nullptr;
}

// Namespace keeps its fields as attributes; DictConfig keeps them in one attribute.
const PickleDict* fields_of(const PickleValue& value) {
  if (const auto* dict = value.as<PickleDict>()) return dict;
  const PickleDict* state = state_of(value);
  if (!state) return nullptr;
  const PickleRef content = state->find("_content");
  return content ? content->as<PickleDict>() : state;
}

// In a DictConfig, each value is wrapped in an object.
PickleRef held_in(PickleRef value) {
  const PickleDict* state = state_of(*value);
  const PickleRef held = state ? state->find("_val") : nullptr;
  return held ? held : value;
}

}  // namespace

PickleFields::PickleFields(const PickleValue& value, std::string where)
    : fields_(fields_of(value)), where_(std::move(where)) {
  require(fields_ != nullptr, "{} is {}, expected options", where_, description_of(value));
}

PickleRef PickleFields::find(const std::string& name) const {
  const PickleRef found = fields_->find(name);
  const PickleRef value = found ? held_in(found) : nullptr;
  return value && !value->as<PickleNone>() ? value : nullptr;
}

void PickleFields::refuse(const std::string& name, const PickleValue& value, const char* expected) const {
  fail("{}: {} is {}, expected {}", where_, name, description_of(value), expected);
}

int PickleFields::number(const std::string& name, std::optional<int> otherwise) const {
  const PickleRef value = find(name);
  require(value || otherwise, "{} has no {}", where_, name);
  if (!value) return *otherwise;
  const auto* number = value->as<int64_t>();
  if (!number) refuse(name, *value, "an integer");
  require(*number >= std::numeric_limits<int>::min() && *number <= std::numeric_limits<int>::max(),
          "{}: {} is {}, which no model has", where_, name, *number);
  return int(*number);
}

double PickleFields::real(const std::string& name, double otherwise) const {
  const PickleRef value = find(name);
  if (!value) return otherwise;
  if (const auto* number = value->as<int64_t>()) return double(*number);
  if (!value->as<double>()) refuse(name, *value, "a number");
  return *value->as<double>();
}

std::string PickleFields::text(const std::string& name, const std::string& otherwise) const {
  const PickleRef value = find(name);
  if (!value) return otherwise;
  if (!value->as<std::string>()) refuse(name, *value, "a string");
  return *value->as<std::string>();
}

bool PickleFields::flag(const std::string& name) const {
  const PickleRef value = find(name);
  if (!value) return false;
  if (const auto* number = value->as<int64_t>()) return *number != 0;
  if (!value->as<bool>()) refuse(name, *value, "True or False");
  return *value->as<bool>();
}

bool PickleFields::is_set(const std::string& name) const {
  const PickleRef value = find(name);
  if (!value) return false;
  if (const auto* flag = value->as<bool>()) return *flag;
  if (const auto* number = value->as<int64_t>()) return *number != 0;
  if (const auto* number = value->as<double>()) return *number != 0;
  if (const auto* text = value->as<std::string>()) return !text->empty();
  if (const auto* list = value->as<PickleList>()) return !list->items.empty();
  return true;
}

std::optional<PickleFields> PickleFields::inside(const std::string& name) const {
  const PickleRef value = find(name);
  if (!value) return std::nullopt;
  return PickleFields(*value, where_ + "." + name);
}

}  // namespace dragoman
