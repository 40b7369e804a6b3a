#pragma once
#include <string>
#include <vector>

#include "dragoman/dragoman.h"
#include "dragoman/engine.h"
#include "dragoman/scorer.h"
#include "dragoman/text_translator.h"

namespace dragoman {

/// Options of C, checked and as C++ has them. Programs may have been compiled with an older or a newer header: what
/// they do not have keeps its default, and what the library does not know must be zero, or it is an Error. NULL: the
/// defaults.
EngineOptions read(const dragoman_engine_options* given);
SearchOptions read(const dragoman_search_options* given, const SearchOptions& defaults);
TextTranslatorOptions read(const dragoman_translator_options* given);
ScorerOptions read(const dragoman_scorer_options* given);

/// Error for one without a text or a function. Its strings and options stay the caller's.
dragoman_request read(const dragoman_request* given);

std::string text_of(const char* given);  // NULL: ""
std::vector<std::string> texts_of(const char* const* given, size_t count, const char* name);

}  // namespace dragoman
