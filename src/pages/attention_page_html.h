#pragma once

namespace dragoman {

/// The fixed text of the page (pages/attention_page.h), in order: before the description of the page (a JSON object),
/// between it and the explanations (each a script element with JSON), and after the explanations.
extern const char* const page_before_about;
extern const char* const page_after_about;
extern const char* const page_after_pairs;

}  // namespace dragoman
