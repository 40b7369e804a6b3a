#pragma once

namespace dragoman {

/// The text of pages/attention_page.h around its data, in order: the head of the page up to what the page is about (a
/// JSON object), what stands between that and the explanations (a script element of JSON each), and the rest.
extern const char* const page_before_about;
extern const char* const page_after_about;
extern const char* const page_after_pairs;

}  // namespace dragoman
