#pragma once

namespace dragoman {

/// How hypotheses end, and when a search is over (docs/search.md). marian: as in dragoman and Marian; huggingface: as
/// in Hugging Face's transformers; huggingface_early: the same with `early_stopping`; fairseq, ctranslate2: as there.
/// automatic: as in the program that the model comes from.
enum class SearchRule { automatic, marian, huggingface, huggingface_early, fairseq, ctranslate2 };

}  // namespace dragoman
