#include "serve/fields.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace dragoman {
namespace {

using nlohmann::json;

HttpRequest request(std::string type, std::string body, std::string query = "") {
  return {.method = "POST",
          .path = "/",
          .query = std::move(query),
          .headers = {{"content-type", std::move(type)}},
          .body = std::move(body)};
}

const char* const form = "application/x-www-form-urlencoded";

TEST(Fields, AreThoseOfAFormOrOfJson) {
  EXPECT_EQ(fields_of(request(form, "q=a+b%26%c3%A9&target=fr&q2=")),
            json({{"q", "a b&é"}, {"target", "fr"}, {"q2", ""}}));
  EXPECT_EQ(fields_of(request("application/json; charset=utf-8", R"({"q":["a","b"]})")), json({{"q", {"a", "b"}}}));
  EXPECT_EQ(fields_of(request("", R"({"q":1})")), json({{"q", 1}}));
  EXPECT_EQ(fields_of(request("", "\r\n {\"q\":1}\n")), json({{"q", 1}})) << "blanks before it are part of JSON";
  EXPECT_EQ(fields_of(request("", "")), json::object());
  EXPECT_EQ(fields_of(request("", R"({"q":1,"source":null})")), json({{"q", 1}}));
}

TEST(Fields, HaveAMediaTypeWhateverItsCaseAndParameters) {
  for (const char* type : {"Application/JSON", "application/json;charset=utf-8", "application/json ; charset=utf-8"})
    EXPECT_EQ(fields_of(request(type, "{}")), json::object()) << type;
  EXPECT_EQ(fields_of(request("Application/X-WWW-Form-Urlencoded;charset=utf-8", "q=a")), json({{"q", "a"}}));
  for (const char* type : {"application/jsonx", "application/json-seq", "application/x-www-form-urlencodedx", ";"})
    EXPECT_THROW(fields_of(request(type, "[]")), Error) << type;
}

TEST(Fields, OfAFormThatComeTwiceAreAnArray) {
  EXPECT_EQ(fields_of(request(form, "q=a&q=b&q=c"))["q"], json({"a", "b", "c"}));
}

TEST(Fields, AreThoseOfAMultipartForm) {
  const auto part = [](const std::string& name, const std::string& content) {
    return "--x\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + content + "\r\n";
  };
  EXPECT_EQ(fields_of(request("Multipart/form-data; boundary=x",
                              part("q", "a+%41") + part("q", "\x80") + part("\x80", "b") + "--x--\r\n", "target=de")),
            json({{"q", {"a+%41", "\uFFFD"}}, {"\uFFFD", "b"}, {"target", "de"}}));
}

TEST(Fields, OfAFormAreUtf8) { EXPECT_EQ(fields_of(request(form, "q=%80%80a")), json({{"q", "\uFFFD\uFFFDa"}})); }

TEST(Fields, OfTheBodyComeBeforeThoseOfTheQuery) {
  EXPECT_EQ(fields_of(request(form, "q=a", "q=b&source=en")), json({{"q", "a"}, {"source", "en"}}));
}

TEST(Fields, AreAnErrorWhereTheBodyIsNeither) {
  EXPECT_THROW(fields_of(request("application/json", "{\"q\": ")), Error);
  EXPECT_THROW(fields_of(request("application/json", "[1]")), Error);
  EXPECT_THROW(fields_of(request("application/json", "{\"q\": \"\xff\"}")), Error);
  EXPECT_THROW(fields_of(request("application/json", std::string(100'000, '['))), Error);
  EXPECT_THROW(fields_of(request("multipart/form-data; boundary=x", "--x")), Error);
}

TEST(Fields, OfJsonSentAsAFormAreAnErrorThatNamesTheHeader) {
  try {
    fields_of(request(form, R"( {"text": "a & b"})"));
    FAIL() << "expected an error";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("send the header Content-Type: application/json"));
  }
}

TEST(Fields, KeepWhatIsNoEscape) {
  EXPECT_EQ(decode_percent("%", true), "%");
  EXPECT_EQ(decode_percent("%4", true), "%4");
  EXPECT_EQ(decode_percent("%zz%41", true), "%zzA");
  EXPECT_EQ(decode_percent("a+b", false), "a+b");
}

}  // namespace
}  // namespace dragoman
