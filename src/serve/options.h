#pragma once
#include <string>
#include <vector>

#include "base/memory_size.h"
#include "decode/options.h"

namespace dragoman {

/// What `dragoman serve` serves, and its limits. `search`: the defaults of requests.
struct ServeOptions : EnsembleOptions, SearchOptions {
  std::string host = "127.0.0.1";
  int port = 5000;           // 0: the system chooses it
  std::string api_keys;      // file with a key a line; empty: everybody may translate
  std::string access_log;    // file to which a JSON object is appended for each request; "-": stdout; empty: none
  std::string detect_model;  // file of `dragoman detect`, for texts whose language is not given; empty: none
  std::string allow_origin;  // of web pages elsewhere that may call the server; "*": all; empty: none
  int64_t max_characters = 100'000;   // of the texts of a request, its prefix, glossary and phrases to avoid
  MemorySize max_body{2 << 20};       // of a request; 0: no limit
  int max_requests = 1000;            // being answered at once
  int max_requests_per_client = 100;  // being answered at once for one address
  int max_alternatives = 10;          // translations of a text
  double timeout = 300;               // seconds to answer a request
  int max_length = 1000;              // pieces; longer sentences are translated in segments
  int64_t mini_batch_words = 0;       // source tokens in flight in a search; 0: as many as suit the device
  MemorySize search_memory;           // for what a search computes; 0: the machine's
};

}  // namespace dragoman
