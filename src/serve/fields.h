#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "serve/http.h"

namespace dragoman {

/// The parameters of a request as an object: of a JSON body, or of a form, whose values are text; those of the query
/// where the body has none of that name. A name that a form repeats has an array. Error for a body that is neither.
nlohmann::json fields_of(const HttpRequest& request);

/// JSON as answers are written: in one line, whatever the texts hold.
std::string to_text(const nlohmann::ordered_json& json);

}  // namespace dragoman
