#pragma once

namespace dragoman {

/// What becomes of hypotheses that end, and when a search is over: as in dragoman and Marian, in Hugging Face's
/// transformers, there with `early_stopping`, in fairseq, or in CTranslate2 (docs/search.md). automatic: as the program
/// that the model comes from.
enum class SearchRule { automatic, marian, huggingface, huggingface_early, fairseq, ctranslate2 };

}  // namespace dragoman
