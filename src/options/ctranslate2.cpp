#include "options/foreign.h"

namespace dragoman {
namespace {

constexpr std::string_view all_threads =
    "--cpu-threads N is the number of all threads, inter_threads times intra_threads; one search takes all that are "
    "free";
constexpr std::string_view draws = "--output-sampling full, topk K or nucleus P";
constexpr std::string_view never_unknown = "translations contain the unknown piece only with --allow-unk";
constexpr std::string_view architecture = "the model to convert contains its architecture";

// Of its translator and converters. Names that OpenNMT-py has too are in its table: beam_size, length_penalty.
constexpr Foreign ctranslate2_option_rows[] = {
    // Translating
    {"num_hypotheses", "use --n-best", "1", "translate"},
    {"max_decoding_length", "--max-length-add N: N tokens more than the source; --max-length-factor X: X times as many",
     "", "translate"},
    {"min_decoding_length", "use --min-length", "1", "translate"},
    {"max_input_length", "--max-length: longer lines are split into segments", "", "translate"},
    {"patience", "--search-rule says when a search ends", "1,1.0", "translate"},
    {"repetition_penalty", "there is no such penalty; --no-repeat-ngram N forbids repeated n-grams", "1,1.0",
     "translate"},
    {"no_repeat_ngram_size", "use --no-repeat-ngram", "0", "translate"},
    {"sampling_topk", draws, "1", "translate"},
    {"sampling_topp", draws, "1,1.0", "translate"},
    {"sampling_temperature", "use --temperature, with --output-sampling", "1,1.0", "translate"},
    {"return_scores", "use --scores", "", "translate"},
    {"return_attention", "use --alignment; dragoman explain shows attention", "", "translate"},
    {"return_alternatives min_alternative_expansion_prob",
     "--force-decode takes the beginning, --n-best prints hypotheses", "", "translate"},
    {"return_end_token return_logits_vocab", "translations are text; --word-scores adds the scores of their tokens", "",
     "translate"},
    {"replace_unknowns", "--copy trains models that copy words; --allow-unk prints the unknown piece", "", "translate"},
    {"target_prefix prefix_bias_beta", "use --force-decode", "", "translate"},
    {"suppress_unk disable_unk", never_unknown, any_value, "translate"},
    {"suppress_sequences", "use --avoid, whose phrases are text like that of the translations", "", "translate"},
    {"end_token", "the model file says how a translation ends", "", "translate"},
    {"use_vmap vmap", "use --shortlist, with a file that dragoman align --shortlist made", "", "translate"},
    {"intra_threads inter_threads num_threads", all_threads, "", "translate serve"},
    {"compute_type", "--precision: float32, bfloat16, float16 or int8", "default,auto", "translate serve"},
    {"device_index", "--devices names the GPUs, from 0", "", "translate serve"},
    {"max_batch_size read_batch_size max_queued_batches asynchronous flash_attention", no_effect, any_value,
     "translate"},
    // Converting
    {"output_dir", "--output names the model file or, with --to, the folder", "", "convert"},
    {"model_path model_dir model_spec", "--input names the model to read", "", "convert"},
    {"data_dir", "--vocabs names the vocabularies", "", "convert"},
    {"source_lang target_lang",
     "--vocabs names the vocabularies; --source-lang and --target-lang are for multilingual models", "", "convert"},
    {"quantization", "dragoman quantize writes a model with 8-bit weights", "float32", "convert"},
    {"vocab_mapping", "translate restricts itself to likely pieces with --shortlist", "", "convert"},
    {"fixed_dictionary user_dir", architecture, "", "convert"},
    {"force", "an existing model is overwritten; a folder is not", "", "convert"},
    {"copy_files", "a model file contains its vocabularies", "", "convert"},
};

}  // namespace

std::span<const Foreign> ctranslate2_options() { return ctranslate2_option_rows; }

}  // namespace dragoman
