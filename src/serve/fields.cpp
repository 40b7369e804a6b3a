#include "serve/fields.h"

#include "base/error.h"
#include "base/json_text.h"
#include "base/utf8.h"
#include "base/words.h"
#include "serve/multipart_form.h"

namespace dragoman {
namespace {

using nlohmann::json;

void add(json& fields, std::string name, std::string value) {
  if (!fields.contains(name)) {
    fields[name] = std::move(value);
    return;
  }
  json& before = fields[name];
  if (!before.is_array()) before = json::array({before});
  before.push_back(std::move(value));
}

// As UTF-8, which JSON is always: the characters of anything else could not be counted.
std::string cleaned(std::string text) {
  clean_utf8(text);
  return text;
}

std::string decode(std::string_view text) { return cleaned(decode_percent(text, true)); }

json of_form(std::string_view form) {
  json fields = json::object();
  while (!form.empty()) {
    const std::string_view pair = form.substr(0, form.find('&'));
    form.remove_prefix(std::min(pair.size() + 1, form.size()));
    const size_t equals = std::min(pair.find('='), pair.size());
    if (pair.empty()) continue;
    add(fields, decode(pair.substr(0, equals)), decode(pair.substr(std::min(equals + 1, pair.size()))));
  }
  return fields;
}

json of_multipart(const HttpRequest& request) {
  json fields = json::object();
  for (auto& [name, value] : multipart_form(request.header("content-type"), request.body))
    add(fields, cleaned(std::move(name)), cleaned(std::move(value)));
  return fields;
}

// json's destructor allocates and ends the program if it cannot, so that memory is sought before: std::bad_alloc here
// fails the request alone. A value of 2 bytes, as in [1,1], takes 16 in an array that grows by doubling.
void require_memory_for_json(size_t bytes) { ::operator delete(::operator new(32 * bytes)); }

json of_json(std::string_view body) {
  require_memory_for_json(body.size());
  json fields = parse_json(body);
  require(!fields.is_discarded(), "the body is not JSON in UTF-8, or nests too deep");
  require(fields.is_object(), "the body is {}, expected a JSON object", fields.type_name());
  return fields;
}

// "Application/JSON ; charset=utf-8" → "application/json" (RFC 9110, section 8.3.1).
std::string media_type(std::string_view header) {
  header = header.substr(0, header.find(';'));
  return lower_ascii(header.substr(0, header.find_last_not_of(" \t") + 1));
}

json of_body(const HttpRequest& request) {
  const std::string type = media_type(request.header("content-type"));
  const size_t begin = request.body.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return json::object();
  if (type == "application/x-www-form-urlencoded") {
    require(
        request.body[begin] != '{',
        "the body is JSON, but Content-Type is '{}', curl's default: send the header Content-Type: application/json",
        type);
    return of_form(request.body);
  }
  if (type == "multipart/form-data") return of_multipart(request);
  const bool is_json = type == "application/json" || (type.empty() && request.body[begin] == '{');
  require(is_json,
          "Content-Type is '{}', expected application/json, application/x-www-form-urlencoded or multipart/form-data",
          type);
  return of_json(request.body);
}

}  // namespace

json fields_of(const HttpRequest& request) {
  json fields = of_body(request);
  // Clients send null for what they have no value for.
  std::erase_if(fields.get_ref<json::object_t&>(), [](const auto& field) { return field.second.is_null(); });
  const json in_query = of_form(request.query);
  for (const auto& [name, value] : in_query.items())
    if (!fields.contains(name)) fields[name] = value;
  return fields;
}

void respond(Exchange& exchange, const nlohmann::ordered_json& answer) {
  exchange.respond({.body = json_text(answer)});
}

}  // namespace dragoman
