#include "options/foreign.h"

namespace dragoman {
namespace {

constexpr std::string_view text =
    "train reads plain text, and creates the vocabularies of --vocabs if they are missing";
constexpr std::string_view sampling = "--output-sampling full, topk K or nucleus P";

constexpr Foreign fairseq_option_rows[] = {
    // Files
    {"path save-dir", "--model names the model's file"},
    {"restore-file finetune-from-model",
     "--pretrained-model starts from another model; a stopped run resumes from --model itself"},
    {"source-lang target-lang s t lang-pairs", "languages are not named; --train-sets takes the two files"},
    {"trainpref validpref testpref", "--train-sets and --valid-sets take two files each, source and target"},
    {"destdir dataset-impl only-source workers", text},
    {"joined-dictionary", "--vocabs with the same name twice means a joint vocabulary"},
    {"srcdict tgtdict", "--vocabs takes the two SentencePiece models"},
    {"nwordssrc nwordstgt", "--dim-vocabs sets the number of pieces of a vocabulary"},
    {"bpe sentencepiece-model bpe-codes tokenizer remove-bpe post-process",
     "input and output are plain text: SentencePiece, in the model file, splits and joins it"},
    {"keep-last-epochs keep-interval-updates", "--keep-last keeps the last checkpoints"},
    {"no-epoch-checkpoints no-last-checkpoints", "only --keep-last keeps checkpoints next to the model", any_value},
    {"keep-best-checkpoints", "--keep-best keeps the best model of each of --valid-metrics"},
    // Model
    {"arch", "--task names a set of defaults, such as transformer-base; --type the kind of model"},
    {"encoder-layers", "use --enc-depth"},
    {"decoder-layers", "use --dec-depth"},
    {"encoder-embed-dim decoder-embed-dim", "use --dim-emb"},
    {"encoder-ffn-embed-dim decoder-ffn-embed-dim", "use --transformer-dim-ffn"},
    {"encoder-attention-heads decoder-attention-heads", "use --transformer-heads"},
    {"encoder-normalize-before decoder-normalize-before", "--transformer-preprocess n --transformer-postprocess da"},
    {"encoder-learned-pos decoder-learned-pos", "--transformer-positions learned"},
    {"activation-fn", "use --transformer-ffn-activation"},
    {"share-all-embeddings", "use --tied-embeddings-all"},
    {"share-decoder-input-output-embed", "use --tied-embeddings"},
    {"dropout", "use --transformer-dropout"},
    {"attention-dropout", "use --transformer-dropout-attention"},
    {"activation-dropout relu-dropout", "use --transformer-dropout-ffn"},
    // Training
    {"lr", "use --learn-rate"},
    {"lr-scheduler", "--lr-schedule: inverse-sqrt, noam, cosine, linear"},
    {"warmup-updates", "use --lr-warmup"},
    {"warmup-init-lr", "--lr-warmup starts from 0", "0,1e-07,1e-7"},
    {"min-lr stop-min-lr", "--early-stopping and --after end a run"},
    {"adam-betas adam-eps", "--optimizer-params takes beta1, beta2 and epsilon"},
    {"criterion", "training minimises cross-entropy, with --label-smoothing",
     "label_smoothed_cross_entropy,cross_entropy"},
    {"max-tokens", "--mini-batch-words, in target tokens; for translate, in source tokens"},
    {"batch-size max-sentences", "--mini-batch in sentences, or --mini-batch-words in target tokens"},
    {"max-tokens-valid batch-size-valid", "validation chooses its batches itself", any_value},
    {"update-freq", "use --optimizer-delay"},
    {"max-update", "--after 8000u ends a run after 8,000 updates"},
    {"max-epoch", "--after 10e ends a run after ten epochs"},
    {"patience", "use --early-stopping"},
    {"max-source-positions max-target-positions", "use --max-length"},
    {"log-interval", "use --disp-freq"},
    {"validate-interval validate-interval-updates", "--valid-freq 1e is every epoch, 1000u every 1,000 updates"},
    {"save-interval save-interval-updates", "--save-freq 1e is every epoch, 1000u every 1,000 updates"},
    {"best-checkpoint-metric eval-bleu eval-bleu-args eval-bleu-detok eval-bleu-remove-bpe",
     "--valid-metrics bleu; the first metric decides"},
    {"maximize-best-checkpoint-metric", "for each of --valid-metrics it is known whether higher or lower is better",
     any_value},
    {"reset-optimizer", "use --no-optimizer-reload"},
    {"reset-dataloader", "use --no-restore-corpus"},
    {"bf16", "--precision bfloat16"},
    {"memory-efficient-fp16", "--precision float16"},
    {"tensorboard-logdir", "use --tensorboard"},
    {"log-format no-progress-bar ddp-backend distributed-world-size num-workers cpu user-dir fp16-init-scale",
     "it does not affect results here", any_value},
    // Translating
    {"beam", "use --beam-size"},
    {"nbest", "use --n-best"},
    {"lenpen", "--normalize: scores are divided by length to that power"},
    {"unkpen", "translations contain the unknown piece only with --allow-unk"},
    {"max-len-a", "use --max-length-factor"},
    {"max-len-b max-len", "use --max-length-add"},
    {"min-len", "use --min-length"},
    {"no-repeat-ngram-size", "use --no-repeat-ngram"},
    {"prefix-size", "use --force-decode"},
    {"sampling sampling-topk sampling-topp", sampling},
    {"buffer-size", "use --maxi-batch-lines"},
    {"print-alignment", "use --alignment"},
    {"score-reference", "dragoman score"},
    {"sacrebleu scoring", "dragoman evaluate"},
    {"gen-subset", "--input names the text; the default is stdin"},
};

constexpr Foreign fairseq_program_rows[] = {
    {"fairseq-train", "dragoman train"},
    {"generate interactive fairseq-generate fairseq-interactive", "dragoman translate"},
    {"preprocess fairseq-preprocess", "not needed: dragoman train reads plain text; dragoman data checks it before"},
    {"fairseq-score", "dragoman evaluate"},
    {"average-checkpoints average_checkpoints", "dragoman average"},
    {"subword-nmt learn-bpe learn-joint-bpe-and-vocab", "dragoman vocab train"},
    {"apply-bpe", "dragoman vocab encode"},
    {"finetune fine-tune", "dragoman train --pretrained-model MODEL"},
};

}  // namespace

std::span<const Foreign> fairseq_options() { return fairseq_option_rows; }
std::span<const Foreign> fairseq_programs() { return fairseq_program_rows; }

}  // namespace dragoman
