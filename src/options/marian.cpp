#include "options/foreign.h"

namespace dragoman {
namespace {

constexpr std::string_view decoding = "translate score", training = "train";

constexpr std::string_view batches = "--mini-batch-words sets the size of batches";
constexpr std::string_view no_files = "shuffling writes temporary files only with --ram";
constexpr std::string_view no_factors = "vocabularies have no factors";
constexpr std::string_view one_cell = "a step of a recurrent model (--type s2s) is one cell in each layer";
constexpr std::string_view warmup = "the learning rate rises once, at the beginning: --lr-warmup";
constexpr std::string_view quantize = "--precision int8, or a model that dragoman quantize made";
constexpr std::string_view in_translate =
    "an option of translate; validation searches with --beam-size and --normalize";
constexpr std::string_view augment = "write such lines into the training text";
constexpr std::string_view one_device = "--devices names the GPUs, each of which gets a process";
constexpr std::string_view in_float32 = "scores are computed in float32";
constexpr std::string_view alibi = "--transformer-positions alibi has ALiBi with constant slopes, without shifts";
constexpr std::string_view diverged =
    "--max-skipped rolls a run back after updates that are not finite, and halves the learning rate";
constexpr std::string_view moving_average =
    "training continues from the raw weights; --pretrained-model starts a run from the average, which is in the model "
    "file";
constexpr std::string_view read_as_they_are =
    "translate and serve read Marian's shortlists, text and binary, as they are";

// The first row for a name and a command counts. The values are Marian's defaults, and those that change nothing here.
constexpr Foreign marian_option_rows[] = {
    // General
    {"authors cite build-info", "dragoman --version says which version this is"},
    {"version", "it records which Marian wrote the file", any_value},
    {"special-vocab", "a vocabulary file says which of its pieces are special", any_value},
    {"workspace w", "memory is allocated as needed", any_value},
    {"log", "messages go to stderr: 2> FILE", "", decoding},
    {"valid-log", "an option of train", "", decoding},
    {"log-level", "--quiet leaves warnings and errors only", "trace,debug,info"},
    {"log-time-zone", "times are in the machine's time zone: TZ=… dragoman", any_value},
    {"quiet-translation quiet-validation", "no translations are logged; --quiet leaves warnings and errors only",
     any_value, decoding},
    {"quiet-translation quiet-validation",
     "no translations are logged; --valid-translation-output keeps those of validation", any_value},
    {"check-nan", "an option of train", "", decoding},
    {"seed", "scoring uses no random numbers", any_value, "score"},
    {"interpolate-env-vars", "files of options may not use $NAME; on the command line the shell expands it"},
    {"relative-paths", "a key of configuration files; names on the command line are relative to the current folder"},
    {"sigterm", "SIGTERM saves and ends a run; kill -KILL ends it at once", "save-and-exit", training},
    {"port p", "dragoman serve answers over HTTP; translate answers each line of a pipe as soon as it is done"},
    // Model
    {"ignore-model-config", "the model file contains the architecture"},
    {"type dim-vocabs dim-emb factors-dim-emb factors-combine lemma-dependency lemma-dim-emb dim-rnn enc-type enc-cell "
     "enc-cell-depth enc-depth dec-cell dec-cell-base-depth dec-cell-high-depth dec-depth skip layer-normalization "
     "right-left best-deep tied-embeddings tied-embeddings-src tied-embeddings-all output-omit-bias "
     "transformer-heads transformer-no-projection transformer-rnn-projection transformer-pool transformer-dim-ffn "
     "transformer-decoder-dim-ffn transformer-ffn-depth transformer-decoder-ffn-depth transformer-ffn-activation "
     "transformer-dim-aan transformer-aan-depth transformer-aan-activation transformer-aan-nogate "
     "transformer-decoder-autoreg transformer-tied-layers transformer-guided-alignment-layer transformer-preprocess "
     "transformer-postprocess-emb transformer-postprocess transformer-postprocess-top "
     "transformer-train-position-embeddings transformer-depth-scaling transformer-attention-mask "
     "transformer-alibi-shift transformer-alibi-trainable transformer-disable-position-embeddings alibi "
     "transformer-no-bias transformer-no-affine",
     "the model file contains the architecture", any_value, decoding},
    {"bert-mask-symbol bert-sep-symbol bert-class-symbol bert-masking-fraction bert-train-type-embeddings "
     "bert-type-vocab-size",
     "there are no masked language models (BERT)", "[MASK],[SEP],[CLS],0.15,0.150000006,true,false,2"},
    {"comet-final-sigmoid comet-stop-grad comet-mix comet-mix-norm comet-pool comet-mix-transformation comet-dropout "
     "comet-mixup comet-mixup-reg comet-augment-bad comet-pooler-ffn comet-prepend-zero comet-use-separator",
     "there are no models that rate translations (COMET)", "avg,softmax,0.1,0.100000001,0,2048 1024"},
    {"char-stride char-highway char-conv-filters-num char-conv-filters-widths", "there are no character-level models",
     "5,4,200 200 250 250 300 300 300 300,1 2 3 4 5 6 7 8"},
    {"factors-dim-emb factors-combine lemma-dependency lemma-dim-emb factor-weight", no_factors, "0,1,sum"},
    {"enc-cell-depth dec-cell-high-depth", one_cell, "1"},
    {"dec-cell-base-depth", one_cell, "1,2"},
    {"skip", "recurrent layers have no skip connections"},
    {"best-deep", "--enc-depth and --dec-depth set the depth of recurrent models (--type s2s)"},
    {"right-left",
     "reverse the words of the target text before training, and those of translations after it: awk, perl"},
    {"input-types", "sides are source and target; --tsv reads both from one file, --data-weighting weights from others",
     "sequence,sequence sequence"},
    {"input-reorder", "sides are source and target, in this order"},
    {"input-join-fields", "a model has one source; join several into one line, with a separator"},
    {"output-omit-bias", "the output layer has a bias with --output-bias only"},
    {"transformer-no-projection transformer-rnn-projection transformer-pool", "layers are as in the paper"},
    {"transformer-ffn-depth transformer-decoder-ffn-depth", "a feed-forward network has two matrices", "0,2"},
    {"transformer-aan-depth", "average attention has one feed-forward network, of two matrices", "2"},
    {"transformer-postprocess-emb",
     "embeddings have --transformer-dropout-embedding, and with --transformer-embedding-norm a norm before it", "d"},
    {"transformer-postprocess-top", "--transformer-final-norm says whether the outputs are normalised", "n"},
    {"transformer-attention-mask transformer-alibi-shift transformer-alibi-trainable alibi", alibi, "default"},
    {"separator-symbol", "only ALiBi with shifts and COMET models have separators", any_value},
    {"transformer-disable-position-embeddings", "--transformer-positions none --embedding-scale 1"},
    {"transformer-no-bias transformer-no-affine",
     "layers have biases and norms have scales; --transformer-norm rms has no shifts"},
    // Devices and batches
    {"num-devices", one_device, "0,1"},
    {"sharding sync-freq", "each of --processes or --devices keeps a slice of the optimizer's state, as with global",
     any_value},
    {"no-nccl", "nothing is exchanged between GPUs", any_value, decoding},
    {"data-threads", "reading has its own thread", any_value},
    {"mini-batch maxi-batch maxi-batch-sort",
     "sentences are batched by length, up to --mini-batch-words; this affects speed", any_value, decoding},
    {"maxi-batch-sort",
     "sentences of --maxi-batch batches are sorted by length, but not with --no-shuffle; --maxi-batch 1 sorts none",
     "src,trg", training},
    {"mini-batch-fit-step mini-batch-round-up", batches, any_value},
    {"mini-batch-warmup mini-batch-track-lr", batches, "0,0u,0t"},
    {"mini-batch-words-ref", "give the learning rate for the batch size that you train with", "0"},
    {"gradient-checkpointing", "batches are split into micro-batches, so that their size costs no memory", any_value},
    {"shuffle", "--no-shuffle keeps the order of the text", "data"},
    {"shuffle-in-ram sqlite sqlite-drop", no_files, any_value},
    {"all-caps-every english-title-case-every", augment, "0"},
    {"max-length-crop", "longer lines are split into segments", any_value, "translate"},
    {"max-length-crop", "longer pairs are an error; raise --max-length", "", "score"},
    {"tsv-fields", "--tsv has two fields, source and target", "0,2"},
    {"tsv", "a line is one source: cut -f 1 selects a column; --force-decode reads 'SOURCE tab PREFIX' without --tsv",
     "", "translate"},
    // Training
    {"cost-type", "training minimises cross-entropy; Adam is invariant to its scale", "ce-sum,ce-mean,ce-mean-words"},
    {"multi-loss-type", "there is one loss", any_value},
    {"unlikelihood-loss", "training minimises cross-entropy, with weights of pairs: --data-weighting"},
    {"overwrite-checkpoint", "a run has one training state; --keep-last and --keep-best keep further models", "true"},
    {"after-epochs e", "--after 10e ends a run after ten epochs", "0", training, "after", "e"},
    {"after-batches", "--after 8000u ends a run after 8,000 updates", "0", training, "after", "u"},
    {"disp-first", "--disp-freq 1u reports every update", any_value},
    {"disp-label-counts", "reports count target tokens", any_value},
    {"logical-epoch",
     "--valid-freq, --save-freq and --after count updates, epochs, target tokens or minutes (u, e, t, m)", "1e,1e 0"},
    {"optimizer", "the optimizer is Adam", "adam", training},
    {"o", "Marian's -o is the optimizer, which is Adam here; --model names the model's file, Sockeye's -o", "adam",
     training},
    {"sync-sgd", "updates are always synchronous", any_value},
    {"lr-report", "reports always have the learning rate", any_value},
    {"lr-decay-repeat-warmup", warmup},
    {"lr-warmup-cycle lr-warmup-at-reload", warmup, "0"},
    {"exponential-smoothing-replace-freq", moving_average, "0,0u"},
    {"guided-alignment-cost", "the loss of --guided-alignment is cross-entropy", "ce", training},
    {"data-weighting-type", "weights are of pairs, not of words", "sentence", training},
    {"embedding-vectors embedding-normalization",
     "embeddings cannot be read from other files; --pretrained-model starts from a whole model"},
    {"embedding-fix-src embedding-fix-trg", "--freeze 'PATTERN' keeps parameters fixed"},
    {"fp16",
     "--precision float16 on a GPU; without it, a GPU trains in bfloat16 if it can, which needs no scaling of the "
     "loss; "
     "on a CPU --precision fastest",
     "", "train"},
    {"fp16", "--precision float16 on a GPU; on a CPU --precision bfloat16", "", "translate"},
    {"fp16", in_float32, "", "score"},
    {"precision", in_float32, "float32", "score"},
    {"cost-scaling", "--precision float16 sets the loss scale itself", any_value},
    {"throw-on-divergence custom-fallbacks fp16-fallback-to-fp32", diverged},
    {"gradient-norm-average-window", "--clip-norm bounds the gradient", any_value},
    {"dynamic-gradient-scaling", "--clip-norm bounds the gradient"},
    {"check-gradient-nan", "updates that are not finite are always skipped: --max-skipped", any_value},
    {"normalize-gradient normalize-gradient-by-ratio", "gradients are always means over target tokens", any_value},
    {"train-embedder-rank", "there are no models of sentence similarity"},
    {"quantize-bits quantize-optimization-steps quantize-log-based quantize-biases",
     "dragoman quantize writes a trained model with 8-bit weights", "0"},
    {"ulr ulr-query-vectors ulr-keys-vectors ulr-trainable-transformation ulr-dim-emb ulr-dropout "
     "ulr-softmax-temperature",
     "there are no universal embeddings", "0,1"},
    // Validation
    {"valid-reset-all", "--valid-reset-stalled; best values of another validation text are forgotten anyway"},
    {"valid-mini-batch", "validation chooses its batches itself", any_value},
    {"valid-max-length", "validation crops pairs at --max-length pieces for cross-entropy and perplexity, and says so",
     any_value},
    {"max-length-factor", in_translate, "3", training},
    {"allow-unk", "training does not search, and translations of validation never have the unknown piece", any_value,
     training},
    {"word-penalty n-best word-scores", in_translate, "0", training},
    // Translating and scoring
    {"model-mmap", "model files are always memory-mapped", any_value},
    {"no-reload", "scoring reads --model and never writes it", any_value, "score"},
    {"allow-special", "a translation never contains a line break", any_value},
    {"stat-freq", "translate shows its speed on a terminal", any_value},
    {"no-spm-decode", "translations are text; dragoman vocab encode splits them into pieces"},
    {"skip-cost", "the scores of a search are the model's"},
    {"output-approx-knn", "--shortlist restricts translate to likely pieces"},
    {"gemm-type g", quantize, "float32", "translate"},
    {"optimize quantize-range", quantize, "0", "translate"},
    {"gemm-type g optimize quantize-range", in_float32, "float32,0", "score"},
    {"encryption-key-path", "model files are not encrypted"},
    // Converting, and vocabularies
    {"from f", "--model names the model to read", "", "quantize"},
    {"from f", "--input names the model to read", "", "convert"},
    {"to t", "--output names the file to write", "", "quantize convert"},
    {"export-as", "dragoman convert --to onnx exports a model", "", "quantize convert"},
    {"gemm-type g", "leave it out: quantize writes 8-bit weights for all CPUs", "", "quantize convert"},
    {"add-lsh", "--shortlist restricts translate to likely pieces", "", "quantize convert"},
    {"shortlist s dump-shortlist d", read_as_they_are, "", "quantize convert"},
    {"max-size vocab_size dim-vocabs", "--size sets the number of pieces", "", "vocab"},
    {"model_prefix", "--model names the file", "", "vocab"},
    {"model_type vocab-type", "--type is bpe or unigram", "", "vocab"},
    {"normalization_rule_name vocab-normalization", "--normalization names the rule", "", "vocab"},
    {"output_format input_format", "--ids writes and reads numbers in place of pieces", "", "vocab"},
};

constexpr ForeignValue values[] = {
    {"dump-config", "expand", "full"},
    {"input", "stdin", "-"},
    {"input", "* *", "", "it takes one file; with --force-decode its lines are SOURCE tab PREFIX", "translate"},
    {"output", "stdout", "-"},
    {"train-sets", "stdin", "-"},
    {"precision", "float32 float32*", "float32", "", "train"},
    {"precision", "float16 float*", "float16", "", "train"},
    {"shuffle", "batches", "",
     "leave it out: the text is shuffled as a whole, with --ram in little memory; --stream N shuffles N lines at a "
     "time",
     "train"},
    {"type", "amun", "", "--type s2s is the recurrent model", "train"},
    {"type", "nematus", "", "--type s2s is the recurrent model", "train"},
    {"type", "multi-*", "", "a model has one source; join several into one line, with a separator", "train"},
    {"type", "*lm*", "", "--type decoder-only reads source and target as one text", "train"},
    {"task", "translation*", "", "the task is always translation; --type says which kind of model", "train"},
    {"dim-vocabs", "0", "", "", "train"},
    {"dim-vocabs", "0 0", "", "", "train"},
    {"after", "0e", "", "", "train"},
    {"optimizer-params", "", "", "", "train"},
    {"data-weighting", "", "", "", "train"},
    {"guided-alignment", "none", "", "", "train"},
    {"transformer-guided-alignment-layer", "last", "0", "", "train"},
    {"optimizer-delay", "0.*", "", "an update has at least one batch: lower --mini-batch-words instead", "train"},
    {"lr-decay-inv-sqrt", "* *", "", "it takes one number; the decay starts after --lr-warmup", "train"},
    {"valid-metrics", "*bleu-segmented*", "", "bleu is computed on detokenised text", "train"},
    {"valid-metrics", "*valid-script*", "", "translation runs --valid-script-path with a file of translations",
     "train"},
    {"mini-batch-words", "0", "", "", "translate score"},
    {"alignment", "", "", "", "translate score"},
    {"output-sampling", "full *", "", "--temperature T divides the logits", "translate"},
    {"output-sampling", "topk * *", "", "--temperature T divides the logits", "translate"},
    {"summary", "", "", "", "score"},
    {"summary", "ce-sum", "", "--summary ce-mean is the mean over pairs; multiply it by their number", "score"},
};

constexpr Foreign marian_program_rows[] = {
    {"marian marian-train", "dragoman train"},
    {"marian-decoder decode decoder", "dragoman translate; pieces become text with dragoman vocab decode"},
    {"marian-scorer scorer", "dragoman score"},
    {"marian-vocab",
     "dragoman vocab train -m vocab.yml lists tokens; dragoman train alone also creates missing vocabularies"},
    {"spm_train", "dragoman vocab train, or dragoman train alone, which creates missing vocabularies"},
    {"spm_encode", "dragoman vocab encode"},
    {"spm_decode", "dragoman vocab decode"},
    {"spm_export_vocab", "dragoman vocab inspect"},
    {"marian-conv", "dragoman quantize; models and shortlists are read without conversion"},
    {"marian-server server", "dragoman serve, over HTTP instead of WebSockets; docs/serve.md"},
    {"marian-evaluator evaluator marian-embedder embedder",
     "not here: they run COMET and BLEURT models; dragoman evaluate computes BLEU, chrF and TER"},
    {"fast_align eflomal extract_lex", "dragoman align"},
    {"atools", "dragoman align --symmetrize, which aligns in both directions first"},
    {"sacrebleu bleu multi-bleu", "dragoman evaluate"},
};

}  // namespace

std::span<const Foreign> marian_options() { return marian_option_rows; }
std::span<const Foreign> marian_programs() { return marian_program_rows; }
std::span<const ForeignValue> marian_values() { return values; }

}  // namespace dragoman
