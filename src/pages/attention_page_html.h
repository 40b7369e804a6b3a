#pragma once

namespace dragoman {

/// The text of pages/attention_page.h around its data, in order: before the description of the page (a JSON object),
/// between it and the explanations (a script element of JSON each), and after these.
extern const char* const page_before_about;
extern const char* const page_after_about;
extern const char* const page_after_pairs;

}  // namespace dragoman
