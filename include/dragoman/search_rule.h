#pragma once

namespace dragoman {

/// How hypotheses end, and when a search is over: as in dragoman and Marian, in Hugging Face's transformers, there with
/// `early_stopping`, in fairseq, or in CTranslate2 (docs/search.md). automatic: as in the program that the model comes
/// from.
enum class SearchRule { automatic, marian, huggingface, huggingface_early, fairseq, ctranslate2 };

}  // namespace dragoman
