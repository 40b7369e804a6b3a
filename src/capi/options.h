#pragma once
#include <string>
#include <vector>

#include "dragoman/dragoman.h"
#include "dragoman/engine.h"
#include "dragoman/scorer.h"
#include "dragoman/text_translator.h"

namespace dragoman {

/// Checks options given in C and converts them to those of C++. The program may have been compiled with an older or a
/// newer header: fields that its struct lacks keep their defaults, and fields unknown to the library must be zero, or
/// it is an Error. NULL: the defaults.
EngineOptions read(const dragoman_engine_options* given);
SearchOptions read(const dragoman_search_options* given, const SearchOptions& defaults);
TextTranslatorOptions read(const dragoman_translator_options* given);
ScorerOptions read(const dragoman_scorer_options* given);

/// Throws Error for a request without a text or a function. Its strings and options still belong to the caller.
dragoman_request read(const dragoman_request* given);

std::string text_of(const char* given);  // NULL: ""
std::vector<std::string> texts_of(const char* const* given, size_t count, const char* name);

}  // namespace dragoman
