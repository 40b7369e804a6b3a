#include "base/error.h"
#include "cli/commands.h"
#include "cli/devices.h"
#include "cli/search_flags.h"
#include "cli/serve_options.h"
#include "decode/search_fields.h"
#include "interop/model_parts.h"
#include "options/flags.h"
#include "options/shared_flags.h"
#include "options/table_files.h"
#include "serve/allowed_origin.h"
#include "serve/served_models.h"

namespace dragoman {
namespace {

using O = ServeCommandOptions;

std::vector<Flag<O>> server_flags() {
  static constexpr auto group = "Server";
  return {
      {.name = "model",
       .letter = 'm',
       .alias = "models",
       .field = &O::models,
       .value = "[SOURCE-TARGET=]FILE...",
       .group = group,
       .help =
           "the model, with the language pair that requests name, as in en-fr=FILE, or pt-BR:en=FILE for codes "
           "with hyphens; several models need their language pairs; of a model of several languages, the pair or the "
           "request chooses them",
       .required = true},
      {.name = "host",
       .field = &O::host,
       .value = "ADDRESS",
       .group = group,
       .help = "address to listen on; 0.0.0.0 or :: listens on all addresses of this machine and lets other machines "
               "connect: see docs/serve.md"},
      {.name = "port",
       .letter = 'p',
       .field = &O::port,
       .value = "N",
       .group = group,
       .help = "port to listen on; 0: any free port, which is printed",
       .range = {0, 65'535}},
      {.name = "api-keys",
       .field = &O::api_keys,
       .value = "FILE",
       .group = group,
       .help = "require one of the API keys in this file, one per line"},
      {.name = "detect-model",
       .field = &O::detect_model,
       .value = "FILE",
       .group = group,
       .help = "language profiles of dragoman detect --learn, for requests whose source language is auto"},
      {.name = "allow-origin",
       .field = &O::allow_origin,
       .value = "ORIGIN",
       .group = group,
       .help = "let web pages of this origin, such as https://a.example, call the server (CORS); *: of any origin"},
      {.name = "access-log",
       .field = &O::access_log,
       .value = "FILE",
       .group = group,
       .help = "append one JSON object per line for each request to this file; - is stdout",
       .use = FileUse::written},
  };
}

std::vector<Flag<O>> limit_flags() {
  static constexpr auto group = "Limits";
  return {
      {.name = "max-characters",
       .field = &O::max_characters,
       .value = "N",
       .group = group,
       .help = "maximum number of characters of a request's texts, prefix, glossary and phrases to avoid",
       .range = {1, 1'000'000'000}},
      {.name = "max-body",
       .field = &O::max_body,
       .value = "SIZE",
       .group = group,
       .help = "maximum size of a request's body, such as 512K or 2M; 0: no limit"},
      {.name = "max-requests",
       .field = &O::max_requests,
       .value = "N",
       .group = group,
       .help = "maximum number of requests at a time; further ones get status 503",
       .range = {1, 1'000'000}},
      {.name = "max-requests-per-client",
       .field = &O::max_requests_per_client,
       .value = "N",
       .group = group,
       .help = "maximum number of requests at a time from one address; further ones get status 429",
       .range = {1, 1'000'000}},
      {.name = "search-memory",
       .field = &O::search_memory,
       .value = "SIZE",
       .group = group,
       .help = "maximum memory of a search for the sentences that it translates at once, such as 512M; a request that "
               "needs more gets status 503. A model has two searches per thread. 0: all of the machine's or "
               "container's memory"},
      max_length_flag<O>(group),
      {.name = "max-alternatives",
       .field = &O::max_alternatives,
       .value = "N",
       .group = group,
       .help = "maximum number of alternatives per request to /translate",
       .range = {0, 63}},
      {.name = "timeout",
       .field = &O::timeout,
       .value = "SECONDS",
       .group = group,
       .help = "maximum time to answer a request; after that, it gets status 503",
       .range = {0.001, 1'000'000}},
  };
}

std::vector<Flag<O>> run_flags() {
  static constexpr auto group = "Run";
  return {
      {.name = "precision",
       .field = &O::precision,
       .value = "TYPE",
       .group = group,
       .help = "number type of matrix products, as in translate"},
      shortlist_flag<O>(group),
      {.name = "glossary",
       .field = &O::glossary,
       .value = "FILE",
       .group = group,
       .help = "terminology whose translations must occur, as in translate; for one model"},
      {.name = "avoid",
       .field = &O::avoid,
       .value = "FILE",
       .group = group,
       .help = "phrases that no translation contains, as in translate; for one model"},
      tokens_in_flight_flag<O>(group),
  };
}

void check(O& o, const Given& given, Findings& findings) {
  findings.attempt([&] { o.devices = {backend_name(o.devices, o.fast_math)}; });
  findings.attempt([&] { model_specs(o); });
  // In a file, an empty one may be the default, which --dump-config full writes.
  const bool on_the_line = given("allow-origin") && given.file_of("allow-origin").empty();
  if (on_the_line || !o.allow_origin.empty()) findings.attempt([&] { require_origin(o.allow_origin); });
  check_vocabs(o, findings);
  findings.attempt([&] { read_shortlist(o, o); });
  findings.expect(o.models.size() < 2 || o.shortlist.empty(), "--shortlist is for one model, --model names {}",
                  o.models.size());
  findings.expect(o.models.size() < 2 || o.glossary.empty(), "--glossary is for one model, --model names {}",
                  o.models.size());
  findings.expect(o.models.size() < 2 || o.avoid.empty(), "--avoid is for one model, --model names {}",
                  o.models.size());
  for (const auto& [name, value] : {std::pair("source-lang", o.source_lang), std::pair("target-lang", o.target_lang)})
    if (o.models.size() > 1 && !value.empty())
      findings.add(Error(
          fmt::format("--{} is for one model, --model names {}", name, o.models.size()),
          fmt::format("store the language in each model: dragoman convert -i MODEL -o FILE --{} {}", name, value)));
  read_length_penalty(o, o, given, findings);
  findings.attempt([&] { validate(static_cast<const SearchOptions&>(o)); });
}

void add_models(const O& o, CommandFiles& files) {
  std::vector<std::string> models;
  for (const std::string& model : o.models) models.push_back(parse_model_spec(model).file);
  files.read.push_back({"--model", models});
  files.read.push_back({"a file of --model", parts_of_models(models)});
}

}  // namespace

Table<O> serve_table() {
  return {
      .about = {.name = "serve",
                .summary = "translate over HTTP, with a web page",
                .usage = "-m [SOURCE-TARGET=]MODEL... [OPTION...]",
                .text = "Serves translations over HTTP until SIGTERM or Ctrl-C, through LibreTranslate's API and its "
                        "own (docs/serve.md). The address that it prints opens a web page. SIGHUP reloads the models."},
      .flags = joined(
          server_flags(), open_flags<O>("Server"), limit_flags(),
          search_flags<O>("Search, unless a request says otherwise", "hypotheses per sentence; 1 is greedy search"),
          run_flags(), device_flags<O>("Run")),
      .check = check,
      .essentials = {"model", "host", "port", "api-keys", "beam-size", "precision", "cpu-threads", "devices"},
      .files = add_models};
}

}  // namespace dragoman
