#include "serve/api_description.h"

#include <nlohmann/json.hpp>

#include "decode/options.h"
#include "decode/search_fields.h"
#include "model/config.h"

namespace dragoman {
namespace {

using Json = nlohmann::ordered_json;

// All but the options of the search.
constexpr const char* interfaces = R"json({
"openapi": "3.0.3",
"info": {"title": "dragoman", "version": "1", "description": "Translates text. /translate, /languages, /detect and /frontend/settings are those of LibreTranslate."},
"components": {
  "schemas": {
    "Error": {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]},
    "Texts": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
  },
  "responses": {
    "Error": {"description": "What is wrong; 429 and 503 come with Retry-After", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}
  },
  "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}
},
"paths": {
  "/translate": {"post": {
    "summary": "Translate a text or several",
    "requestBody": {"required": true, "content": {
      "application/json": {"schema": {"type": "object", "required": ["q", "source", "target"], "properties": {
        "q": {"$ref": "#/components/schemas/Texts"}, "source": {"type": "string", "example": "en"}, "target": {"type": "string", "example": "fr"},
        "format": {"type": "string", "enum": ["text", "html"], "default": "text"}, "alternatives": {"type": "integer", "default": 0}, "api_key": {"type": "string"}}}},
      "application/x-www-form-urlencoded": {"schema": {"type": "object"}}, "multipart/form-data": {"schema": {"type": "object"}}}},
    "responses": {"200": {"description": "The translation, or an array of them", "content": {"application/json": {"schema": {"type": "object", "properties": {
        "translatedText": {"$ref": "#/components/schemas/Texts"}, "alternatives": {"type": "array"}, "detectedLanguage": {}}}}}},
      "default": {"$ref": "#/components/responses/Error"}}}},
  "/detect": {"post": {
    "summary": "The language of a text",
    "requestBody": {"required": true, "content": {"application/json": {"schema": {"type": "object", "required": ["q"], "properties": {"q": {"type": "string"}, "api_key": {"type": "string"}}}}}},
    "responses": {"200": {"description": "[{confidence, language}]"}, "default": {"$ref": "#/components/responses/Error"}}}},
  "/languages": {"get": {"summary": "Languages and what each is translated into", "responses": {"200": {"description": "[{code, name, targets}]"}}}},
  "/frontend/settings": {"get": {"summary": "Limits and defaults for user interfaces", "responses": {"200": {"description": "Settings"}}}},
  "/health": {"get": {"summary": "Whether the server can translate", "responses": {"200": {"description": "{\"status\": \"ok\"}"}, "503": {"description": "its GPU has failed"}}}},
  "/spec": {"get": {"summary": "This description", "responses": {"200": {"description": "OpenAPI"}}}},
  "/v1/translate": {"post": {
    "summary": "Translate with all options of the search",
    "requestBody": {"required": true, "content": {"application/json": {"schema": {"type": "object", "required": ["text"], "properties": {
      "text": {"$ref": "#/components/schemas/Texts"}, "source": {"type": "string"}, "target": {"type": "string"}, "api_key": {"type": "string"},
      "format": {"type": "string", "enum": ["text", "html"]}, "stream": {"type": "boolean"}, "scores": {"type": "boolean"},
      "alignment": {"type": "boolean"}, "prefix": {"type": "string"},
      "glossary": {"type": "object", "additionalProperties": {"type": "string"}, "example": {"night train": "Nachtzug"}}, "avoid": {"type": "array", "items": {"type": "string"}}}}}}},
    "responses": {"200": {"description": "{translations: [{text, alternatives, sentences}]}; with stream, server-sent events partial {delta}, done and error",
      "content": {"application/json": {}, "text/event-stream": {}}}, "default": {"$ref": "#/components/responses/Error"}}}},
  "/v1/score": {"post": {
    "summary": "Log-probabilities of translations",
    "requestBody": {"required": true, "content": {"application/json": {"schema": {"type": "object", "required": ["text", "translation"], "properties": {
      "text": {"$ref": "#/components/schemas/Texts"}, "translation": {"$ref": "#/components/schemas/Texts"}, "source": {"type": "string"}, "target": {"type": "string"}, "api_key": {"type": "string"}}}}}},
    "responses": {"200": {"description": "{scores: [{log_prob, token_log_probs}]}"}, "default": {"$ref": "#/components/responses/Error"}}}},
  "/v1/models": {"get": {"summary": "Languages of each model, and whether it gives alignments", "responses": {"200": {"description": "{models: [{source, target, alignment}]}"}}}},
  "/v1/reload": {"post": {"summary": "Reload models and keys", "responses": {"200": {"description": "Done"}, "default": {"$ref": "#/components/responses/Error"}}}},
  "/metrics": {"get": {"summary": "Figures for Prometheus", "responses": {"200": {"description": "Text format 0.0.4", "content": {"text/plain": {}}}}}}
}
}
)json";

Json schema_of(const SearchField& option) {
  return std::visit(
      [&]<class T>(T SearchOptions::*) -> Json {
        if constexpr (std::is_enum_v<T>) {
          Json names = Json::array();
          for (const auto& value : enum_names(T{})) names.push_back(value.name);
          return {{"type", "string"}, {"enum", names}};
        } else if constexpr (std::is_same_v<T, bool>) {
          return {{"type", "boolean"}};
        } else {
          const Bounds bounds = option.of_requests.value_or(option.bounds);
          return {{"type", std::is_integral_v<T> ? "integer" : "number"},
                  {"minimum", T(bounds.low)},
                  {"maximum", T(bounds.high)}};
        }
      },
      option.member);
}

}  // namespace

std::string api_description() {
  Json api = Json::parse(interfaces);
  Json& body = api["paths"]["/v1/translate"]["post"]["requestBody"]["content"]["application/json"]["schema"];
  for (const SearchField& option : search_fields()) body["properties"][std::string(option.name)] = schema_of(option);
  return api.dump(1) + "\n";
}

}  // namespace dragoman
