#include "serve/multipart_form.h"

#include <map>

#include "base/error.h"
#include "base/words.h"
#include "serve/http.h"

namespace dragoman {
namespace {

constexpr std::string_view blank = " \t", line_end = "\r\n";
constexpr size_t longest_boundary = 70;  // RFC 2046, section 5.1.1

// The text at `at`, quoted or up to a blank or semicolon; moves `at` behind it.
std::string take_value(std::string_view header, size_t& at) {
  std::string value;
  if (!header.substr(at).starts_with('"')) {
    value = header.substr(at, header.find_first_of(" \t;", at) - at);
    at += value.size();
    return value;
  }
  for (++at; at < header.size() && header[at] != '"'; ++at) {
    if (header[at] == '\\' && at + 1 < header.size()) ++at;
    value += header[at];
  }
  require(at < header.size(), "'{}' has a quotation mark that is not closed", header);
  ++at;
  return value;
}

// 'form-data; name="q"' → {name: q} (RFC 9110, section 5.6.6). A parameter may be missing: 'form-data;'.
std::map<std::string, std::string> parameters_of(std::string_view header) {
  std::map<std::string, std::string> all;
  for (size_t at = header.find(';'); at < header.size(); at = header.find_first_not_of(blank, at)) {
    require(header[at] == ';', "'{}' has no semicolon before '{}'", header, header.substr(at));
    at = std::min(header.find_first_not_of(blank, at + 1), header.size());
    if (at == header.size() || header[at] == ';') continue;
    const size_t equals = header.find('=', at);
    require(equals != header.npos, "'{}' has '{}', expected name=value", header, header.substr(at));
    const std::string name = lower_ascii(header.substr(at, equals - at));
    at = equals + 1;
    all.emplace(name, take_value(header, at));
  }
  return all;
}

// The parameters of a part's Content-Disposition. `headers`: lines, each with its end before it.
std::map<std::string, std::string> disposition_of(std::string_view headers, size_t part) {
  std::map<std::string, std::string> disposition;
  while (!headers.empty()) {
    headers.remove_prefix(line_end.size());
    const std::string_view line = headers.substr(0, headers.find(line_end));
    headers.remove_prefix(line.size());
    const size_t colon = line.find(':');
    require(colon != line.npos, "part {} of the form has the header '{}', expected a colon", part, line);
    if (lower_ascii(line.substr(0, colon)) == "content-disposition")
      disposition = parameters_of(line.substr(colon + 1));
  }
  require(disposition.contains("name"), "part {} of the form has no name in a header Content-Disposition", part);
  return disposition;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> multipart_form(std::string_view type, std::string_view body) {
  const std::string boundary = parameters_of(type)["boundary"];
  require(!boundary.empty() && boundary.size() <= longest_boundary,
          "Content-Type is '{}', expected a boundary of 1 to {} characters", type, longest_boundary);
  const std::string delimiter = "\r\n--" + boundary;
  require(body.starts_with(std::string_view(delimiter).substr(2)), "the form does not begin with --{}", boundary);
  body.remove_prefix(delimiter.size() - 2);
  std::vector<std::pair<std::string, std::string>> fields;
  for (size_t part = 1; !body.starts_with("--"); ++part) {
    const size_t headers = body.find("\r\n\r\n"), begin = headers + 4;
    const size_t end = headers == body.npos ? body.npos : body.find(delimiter, begin);
    require(body.starts_with(line_end) && end != body.npos, "the form ends in part {}, expected --{}--", part,
            boundary);
    auto disposition = disposition_of(body.substr(0, headers), part);
    if (!disposition.contains("filename") && !disposition.contains("filename*"))
      fields.emplace_back(std::move(disposition["name"]), body.substr(begin, end - begin));
    body.remove_prefix(end + delimiter.size());
  }
  body.remove_prefix(2);
  require(body.empty() || body == line_end, "the form has text after --{}--", boundary);
  return fields;
}

}  // namespace dragoman
