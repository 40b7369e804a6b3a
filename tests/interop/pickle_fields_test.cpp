#include "interop/pickle_fields.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace dragoman {
namespace {

using namespace std::string_literals;

std::string text(const std::string& value) { return "\x8c"s + char(value.size()) + value; }

// An object of a class whose state is a dict of one value.
std::string object(const std::string& type, const std::string& key, const std::string& value) {
  return "comegaconf\n" + type + "\n)\x81}" + text(key) + value + "sb";
}

TEST(PickleFields, AreThoseOfDictConfig) {
  const std::string six = object("AnyNode", "_val", "K\6"), on = object("AnyNode", "_val", "\x88"),
                    none = object("AnyNode", "_val", "N");
  const std::string opcodes =
      object("DictConfig", "_content",
             "}" + text("layers") + six + "s" + text("shared") + on + "s" + text("path") + none + "s") +
      ".";
  const Pickle pickle = read_pickle(std::as_bytes(std::span(opcodes)), "p");
  const PickleFields fields(*pickle.root, "p: cfg");
  EXPECT_EQ(fields.number("layers"), 6);
  EXPECT_TRUE(fields.flag("shared"));
  EXPECT_FALSE(fields.find("path"));
  EXPECT_FALSE(fields.is_set("path"));
  EXPECT_THROW(fields.number("path"), Error);
  EXPECT_THROW(fields.text("layers", ""), Error);
  EXPECT_THROW(PickleFields(*fields.find("layers"), "p"), Error);
}

}  // namespace
}  // namespace dragoman
