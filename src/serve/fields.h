#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "serve/http.h"

namespace dragoman {

/// The parameters of a request as an object: from a JSON body, or from a form, whose values are text (without the files
/// of a multipart form); the query adds those that the body lacks. Those that are null count as not given. A name that
/// a form repeats becomes an array. Names and texts are UTF-8. Error for a body that is neither.
nlohmann::json fields_of(const HttpRequest& request);

/// JSON as answers are written: on one line, whatever the texts contain.
void respond(Exchange& exchange, const nlohmann::ordered_json& answer);

}  // namespace dragoman
