#pragma once
#include <nlohmann/json.hpp>

#include "cli/fact_page.h"
#include "data/survey.h"

namespace dragoman {

/// Adds the report on training text of `dragoman data` and `dragoman train --dry-run`.
void add_survey(FactPage& page, const CorpusSurvey& survey, int max_length, bool crops = false);

/// The same as JSON.
nlohmann::ordered_json to_json(const CorpusSurvey& survey);

}  // namespace dragoman
