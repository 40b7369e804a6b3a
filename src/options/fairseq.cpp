#include "options/foreign.h"

namespace dragoman {
namespace {

constexpr std::string_view text =
    "train reads plain text, and creates the vocabularies of --vocabs if they are missing";
constexpr std::string_view joins =
    "translations are text: pieces of SentencePiece, and those of a list that end in @@, are always joined";
constexpr std::string_view length =
    "--max-length-add N: N tokens more than the source (max-len-a 1, max-len-b N); --max-length-factor X: X times as "
    "many";
constexpr std::string_view cluster = "mpirun or srun starts ranks, each of which finds its place: docs/scale.md";
constexpr std::string_view missing_layers = "there are no such layers; docs/attention.md lists those that there are";
constexpr std::string_view first_head = "--guided-alignment trains the first head, in the same pass as the translation";
constexpr std::string_view sampling = "--output-sampling full, topk K or nucleus P";

constexpr Foreign fairseq_option_rows[] = {
    // Files
    {"path save-dir", "--model names the model's file"},
    {"restore-file finetune-from-model",
     "--pretrained-model starts from another model; a stopped run resumes from --model itself"},
    {"source-lang target-lang s t lang-pairs",
     "--input names the text; --source-lang and --target-lang are for multilingual models", "", "translate"},
    {"source-lang target-lang s t lang-pairs",
     "--model en-de=FILE names the languages of a model; --source-lang and --target-lang are for multilingual models",
     "", "serve"},
    {"source-lang target-lang s t lang-pairs", "languages are not named; --train-sets takes the two files"},
    {"trainpref validpref testpref", "--train-sets and --valid-sets take two files each, source and target"},
    {"destdir dataset-impl only-source workers dict-only", text},
    {"train-subset valid-subset combine-valid-subsets", "--train-sets and --valid-sets name the files"},
    {"joined-dictionary", "--vocabs with the same name twice means a joint vocabulary"},
    {"srcdict tgtdict", "--vocabs takes the two SentencePiece models"},
    {"nwordssrc nwordstgt thresholdsrc thresholdtgt padding-factor",
     "--dim-vocabs sets the number of pieces of a vocabulary"},
    {"sentencepiece-enable-sampling sentencepiece-alpha", "--sentencepiece-alphas 0.1 samples segmentations"},
    {"remove-bpe", joins, any_value, "translate"},
    {"post-process", joins, "true,@@,@@ ,subword_nmt,sentencepiece", "translate"},
    {"bpe sentencepiece-model bpe-codes bpe-separator tokenizer moses-no-dash-splits moses-no-escape remove-bpe "
     "post-process",
     "input and output are plain text: SentencePiece, in the model file, splits and joins it"},
    {"keep-last-epochs keep-interval-updates keep-interval-updates-pattern", "--keep-last keeps the last checkpoints"},
    {"no-epoch-checkpoints no-last-checkpoints", "only --keep-last keeps checkpoints next to the model", any_value},
    {"keep-best-checkpoints", "--keep-best N keeps the N best by the first of --valid-metrics"},
    // Model
    {"arch",
     "--task transformer-base has the sizes of transformer, --task transformer-big those of "
     "transformer_vaswani_wmt_en_de_big; --type is the kind of model"},
    {"user-dir", "there are no plug-ins"},
    {"encoder-layers", "use --enc-depth"},
    {"decoder-layers", "use --dec-depth"},
    {"encoder-embed-dim decoder-embed-dim", "use --dim-emb"},
    {"encoder-ffn-embed-dim decoder-ffn-embed-dim", "use --transformer-dim-ffn"},
    {"encoder-attention-heads decoder-attention-heads", "use --transformer-heads"},
    {"encoder-normalize-before decoder-normalize-before", "--transformer-preprocess n --transformer-postprocess da"},
    {"no-decoder-final-norm", "--transformer-final-norm never, for both sides"},
    {"no-token-positional-embeddings", "--transformer-positions none"},
    {"no-scale-embedding", "--embedding-scale 1"},
    {"layernorm-embedding", "use --transformer-embedding-norm"},
    {"encoder-layerdrop decoder-layerdrop", "layers are never dropped", "0,0.0"},
    {"encoder-embed-path decoder-embed-path",
     "embeddings cannot be read from other files; --pretrained-model starts from a whole model"},
    {"adaptive-input adaptive-softmax-cutoff adaptive-softmax-dropout adaptive-softmax-factor tie-adaptive-weights "
     "tie-adaptive-proj char-inputs no-cross-attention cross-self-attention merge-src-tgt-embed",
     missing_layers},
    {"checkpoint-activations offload-activations",
     "batches are split into micro-batches, so that their size costs no memory", any_value},
    {"encoder-learned-pos decoder-learned-pos", "--transformer-positions learned"},
    {"activation-fn", "use --transformer-ffn-activation"},
    {"share-all-embeddings", "use --tied-embeddings-all"},
    {"share-decoder-input-output-embed", "use --tied-embeddings"},
    {"dropout", "use --transformer-dropout"},
    {"attention-dropout", "use --transformer-dropout-attention"},
    {"activation-dropout relu-dropout", "use --transformer-dropout-ffn"},
    // Training
    {"lr", "use --learn-rate"},
    {"lr-scheduler",
     "--lr-schedule: inverse-sqrt, noam, cosine, linear, constant; for reduce_lr_on_plateau, --lr-schedule constant "
     "--lr-decay 0.1 --lr-decay-strategy stalled --lr-decay-start 1",
     "inverse_sqrt"},
    {"total-num-update lr-period-updates", "--lr-decay-updates, with --lr-schedule linear or cosine"},
    {"end-learning-rate", "--lr-schedule linear and cosine fall to 0", "0,0.0"},
    {"power", "--lr-schedule linear falls along a line", "1,1.0"},
    {"t-mult", "--lr-schedule cosine falls once"},
    {"lr-shrink", "--lr-decay, with --lr-decay-strategy; --lr-schedule cosine falls once"},
    {"lr-patience", "--lr-decay X --lr-decay-strategy stalled --lr-decay-start N, one more than the patience"},
    {"lr-threshold", "--early-stopping-epsilon is the least improvement, not relative to the best value"},
    {"force-anneal", "--lr-decay X --lr-decay-strategy epoch --lr-decay-start N: the first epoch with a lower rate"},
    {"reset-lr-scheduler", "the learning rate follows the number of updates of the run"},
    {"reset-meters", "a resumed run reports what it has counted so far", any_value},
    {"store-ema ema-decay ema-start-update ema-update-freq ema-seed-model ema-fp32",
     "--exponential-smoothing takes 1 minus the decay, such as 1e-4"},
    {"warmup-updates", "use --lr-warmup"},
    {"warmup-init-lr", "use --lr-warmup-start-rate", "0,-1,1e-07,1e-7"},
    {"min-lr stop-min-lr", "--early-stopping and --after end a run", "-1,-1.0,1e-09,1e-9"},
    {"adam-betas adam-eps", "--optimizer-params takes beta1, beta2 and epsilon"},
    {"criterion",
     "training minimises cross-entropy, with --label-smoothing, by default 0.1, 0 is off; for "
     "label_smoothed_cross_entropy_with_alignment, --guided-alignment",
     "label_smoothed_cross_entropy"},
    {"sentence-avg", "gradients are always means over target tokens"},
    {"max-tokens",
     "--mini-batch-words, in target tokens without padding, of all GPUs together; for translate, in source tokens"},
    {"batch-size max-sentences", "sentences are batched by length, up to --mini-batch-words; this affects speed",
     any_value, "translate score"},
    {"batch-size max-sentences", "--mini-batch in sentences, or --mini-batch-words in target tokens"},
    {"max-tokens-valid batch-size-valid max-sentences-valid", "validation chooses its batches itself", any_value},
    {"update-freq", "use --optimizer-delay"},
    {"max-update", "--after 8000u ends a run after 8,000 updates"},
    {"stop-time-hours", "--after 90m ends a run after 90 minutes"},
    {"max-epoch", "--after 10e ends a run after ten epochs"},
    {"patience", "use --early-stopping", "", "train"},
    {"max-source-positions max-target-positions", "use --max-length"},
    {"skip-invalid-size-inputs-valid-test",
     "pairs longer than --max-length never end a run: they are left out, or cropped with --max-length-crop", any_value},
    {"truncate-source", "--max-length-crop crops both sides of longer pairs at --max-length"},
    {"curriculum", "--no-shuffle keeps the order of the text in every epoch", "0"},
    {"load-alignments", "use --guided-alignment, which names the files of links"},
    {"alignment-lambda", "use --guided-alignment-weight, with --guided-alignment"},
    {"alignment-layer", "use --transformer-guided-alignment-layer, one more: it counts from 1"},
    {"alignment-heads full-context-alignment", first_head, "1"},
    {"sampling-method sampling-temperature", "--corpus-weights says how often an epoch uses each corpus", "concat"},
    {"encoder-langtok decoder-langtok",
     "--protected-symbols '<2de>' '<2fr>' makes tags, with which source lines begin: they name the target language", "",
     "train"},
    {"encoder-langtok decoder-langtok", "--source-lang and --target-lang name the languages"},
    {"disable-validation", "there is no validation without --valid-sets"},
    {"validate-after-updates", "--valid-freq counts from the beginning", "0"},
    {"max-valid-steps", "--valid-max-lines limits the lines that are translated"},
    {"log-file", "use --log"},
    {"wandb-project aim-repo aim-run-hash azureml-logging", "--tensorboard and --log-json write the curves of a run"},
    {"log-interval", "use --disp-freq"},
    {"validate-interval validate-interval-updates", "--valid-freq 1e is every epoch, 1000u every 1,000 updates"},
    {"save-interval save-interval-updates", "--save-freq 1e is every epoch, 1000u every 1,000 updates"},
    {"best-checkpoint-metric",
     "the first of --valid-metrics decides --early-stopping; --keep-best, off by default, keeps the best model of "
     "each"},
    {"eval-bleu-remove-bpe",
     "--valid-metrics bleu is of words: pieces of SentencePiece, and those of a list that end in @@, are joined",
     any_value, "train"},
    {"eval-bleu eval-bleu-args eval-bleu-detok eval-bleu-detok-args eval-tokenized-bleu",
     "--valid-metrics bleu, of translations as translate prints them; the first metric decides"},
    {"eval-bleu-print-samples", "--valid-translation-output writes the translations to a file"},
    {"maximize-best-checkpoint-metric", "for each of --valid-metrics it is known whether higher or lower is better",
     any_value},
    {"reset-optimizer", "use --no-optimizer-reload"},
    {"reset-dataloader", "use --no-restore-corpus"},
    {"bf16 memory-efficient-bf16", "--precision bfloat16"},
    {"memory-efficient-fp16 amp", "--precision float16"},
    {"fp16-init-scale fp16-scale-window fp16-scale-tolerance min-loss-scale threshold-loss-scale fp16-no-flatten-grads",
     "--precision float16 sets the loss scale itself", any_value},
    {"tensorboard-logdir", "use --tensorboard"},
    {"distributed-world-size distributed-num-procs nprocs-per-node",
     "--devices names the GPUs, which share the tokens of --mini-batch-words", "1"},
    {"device-id", "--devices names the GPUs, from 0"},
    {"distributed-rank distributed-port distributed-init-method distributed-no-spawn", cluster},
    {"log-format no-progress-bar ddp-backend distributed-backend num-workers cpu data-buffer-size "
     "required-batch-size-multiple required-seq-len-multiple left-pad-source left-pad-target num-batch-buckets "
     "fixed-validation-seed find-unused-parameters bucket-cap-mb fast-stat-sync empty-cache-freq all-gather-list-size "
     "use-old-adam fp16-adam-stats",
     no_effect, any_value},
    // Translating
    {"beam", "use --beam-size"},
    {"nbest", "use --n-best"},
    {"lenpen", "--normalize: scores are divided by length to that power"},
    {"unnormalized", "--normalize 0"},
    {"unkpen", "translations contain the unknown piece only with --allow-unk"},
    {"max-len-a max-len-b max-len", length},
    {"no-early-stop no-beamable-mm print-step", no_effect, any_value},
    {"results-path", "--output names the file"},
    {"model-overrides", "the model file contains the architecture", "{}"},
    {"diverse-beam-groups diversity-rate lm-path lm-weight replace-unk match-source-len retain-dropout",
     "translate searches with a beam, or samples with --output-sampling", "-1,-1.0,0,0.0"},
    {"diverse-beam-strength", "beams have no groups", any_value},
    {"min-len", "use --min-length"},
    {"no-repeat-ngram-size", "use --no-repeat-ngram"},
    {"prefix-size", "use --force-decode"},
    {"sampling sampling-topk sampling-topp", sampling},
    {"buffer-size", "use --maxi-batch-lines"},
    {"print-alignment", "use --alignment"},
    {"score-reference", "dragoman score"},
    {"sacrebleu scoring sacrebleu-tokenizer sacrebleu-lowercase sacrebleu-char-level", "dragoman evaluate"},
    {"gen-subset", "--input names the text; the default is stdin"},
};

constexpr ForeignValue fairseq_value_rows[] = {
    {"arch", "transformer_iwslt_de_en", "", "--task transformer-base --transformer-dim-ffn 1024 --transformer-heads 4",
     "train"},
};

constexpr Foreign fairseq_program_rows[] = {
    {"fairseq-train fairseq-hydra-train", "dragoman train"},
    {"fairseq-validate", "dragoman score --summary ce-mean-words"},
    {"generate interactive fairseq-generate fairseq-interactive", "dragoman translate"},
    {"preprocess fairseq-preprocess", "not needed: dragoman train reads plain text; dragoman data checks it before"},
    {"fairseq-score", "dragoman evaluate"},
    {"average-checkpoints average_checkpoints", "dragoman average"},
    {"subword-nmt learn-bpe learn_bpe learn-joint-bpe-and-vocab learn_joint_bpe_and_vocab", "dragoman vocab train"},
    {"apply-bpe apply_bpe", "dragoman vocab encode"},
    {"finetune fine-tune", "dragoman train --pretrained-model MODEL"},
};

}  // namespace

std::span<const Foreign> fairseq_options() { return fairseq_option_rows; }
std::span<const ForeignValue> fairseq_values() { return fairseq_value_rows; }
std::span<const Foreign> fairseq_programs() { return fairseq_program_rows; }

}  // namespace dragoman
