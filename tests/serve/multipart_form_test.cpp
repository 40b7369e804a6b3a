#include "serve/multipart_form.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "tests/error_of.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

const std::string type = "multipart/form-data; boundary=x-y";

std::string part(const std::string& disposition, const std::string& content) {
  return "--x-y\r\nContent-Disposition: " + disposition + "\r\n\r\n" + content + "\r\n";
}

std::string refusal_of(const std::string& type, const std::string& body) {
  return error_of([&] { multipart_form(type, body); });
}

TEST(MultipartForm, HasTheFieldsOfItsParts) {
  EXPECT_THAT(
      multipart_form(type, part("form-data; name=\"q\"", "a\r\n--b\r\n\r\n") + part("form-data; name=source", "") +
                               part("form-data; name=\"q\"", "c&d") + "--x-y--\r\n"),
      ElementsAre(Pair("q", "a\r\n--b\r\n\r\n"), Pair("source", ""), Pair("q", "c&d")));
  EXPECT_THAT(multipart_form(type, "--x-y--"), IsEmpty());
}

TEST(MultipartForm, MayHaveOtherHeadersAndQuotedParameters) {
  EXPECT_THAT(
      multipart_form("Multipart/Form-Data ; charset=utf-8;Boundary=\"a b;\\\"\"",
                     "--a b;\"\r\ncontent-type: text/plain\r\nCONTENT-DISPOSITION: form-data ; NAME=\"a;\\\"b\"\r\n"
                     "X: y\r\n\r\nc\r\n--a b;\"--"),
      ElementsAre(Pair("a;\"b", "c")));
}

// RFC 9110, section 5.6.6.
TEST(MultipartForm, MayHaveSemicolonsWithoutAParameter) {
  EXPECT_THAT(multipart_form("multipart/form-data; ; boundary=x-y ;", part("form-data; name=\"q\";", "a") + "--x-y--"),
              ElementsAre(Pair("q", "a")));
}

TEST(MultipartForm, LeavesFilesOut) {
  EXPECT_THAT(multipart_form(type, part("form-data; name=\"file\"; filename=\"a.txt\"", "text") +
                                       part("form-data; name=f; filename*=UTF-8''a", "text") +
                                       part("form-data; name=\"q\"", "a") + "--x-y--"),
              ElementsAre(Pair("q", "a")));
}

TEST(MultipartForm, IsRefusedWithoutABoundary) {
  for (const std::string wrong : {"multipart/form-data", "multipart/form-data; boundary=",
                                  "multipart/form-data; boundary=\"\"", "multipart/form-data; charset=utf-8"})
    EXPECT_THAT(refusal_of(wrong, "--\r\n"), HasSubstr("expected a boundary of 1 to 70 characters")) << wrong;
  EXPECT_THAT(refusal_of("a/b; boundary=" + std::string(71, 'a'), ""), HasSubstr("expected a boundary"));
  EXPECT_THAT(refusal_of("a/b; boundary=\"x", ""), HasSubstr("not closed"));
  EXPECT_THAT(refusal_of("a/b; boundary", ""), HasSubstr("expected name=value"));
  EXPECT_THAT(refusal_of("a/b; a=\"b\"c; boundary=x", ""), HasSubstr("no semicolon before 'c; boundary=x'"));
}

TEST(MultipartForm, IsRefusedIfItIsDamaged) {
  const std::string field = part("form-data; name=\"q\"", "a"), whole = field + "--x-y--";
  ASSERT_EQ(refusal_of(type, whole), "");
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_NE(refusal_of(type, whole.substr(0, size)), "") << size;
  for (const std::string& body : {"\r\n" + whole, "text\r\n" + whole, whole + "text", whole + "\r\n\r\n",
                                  field + "--x-yz\r\n\r\n", "--x-y " + field.substr(5) + "--x-y--"})
    EXPECT_NE(refusal_of(type, body), "") << body;
  EXPECT_THAT(refusal_of(type, field + field), HasSubstr("ends in part 2, expected --x-y--"));
  EXPECT_THAT(refusal_of(type, field + "--x-y\r\n\r\na\r\n--x-y--"), HasSubstr("part 2 of the form has no name"));
  EXPECT_THAT(refusal_of(type, part("form-data", "a") + "--x-y--"), HasSubstr("part 1 of the form has no name"));
  EXPECT_THAT(refusal_of(type, "--x-y\r\nname\r\n\r\na\r\n--x-y--"), HasSubstr("'name', expected a colon"));
}

}  // namespace
}  // namespace dragoman
