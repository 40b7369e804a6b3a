#pragma once
#include <nlohmann/json.hpp>

#include "cli/fact_page.h"
#include "data/survey.h"

namespace dragoman {

/// Adds what `dragoman data` and `dragoman train --dry-run` say of training text.
void add_survey(FactPage& page, const CorpusSurvey& survey, int max_length);

/// The same for programs.
nlohmann::ordered_json to_json(const CorpusSurvey& survey);

}  // namespace dragoman
