#include "options/foreign.h"

namespace dragoman {
namespace {

constexpr std::string_view all_values = "*";
constexpr std::string_view text =
    "train reads text as it is, and makes the vocabularies of --vocabs that are not there";
constexpr std::string_view sampling = "--output-sampling full, topk K or nucleus P";

constexpr Foreign options[] = {
    // Files
    {"path save-dir", "--model names the model's file"},
    {"restore-file finetune-from-model",
     "--pretrained-model begins with another model; a run resumes from --model itself"},
    {"source-lang target-lang s t lang-pairs", "languages have no names; train takes the two files with --train-sets"},
    {"trainpref validpref testpref", "--train-sets and --valid-sets take two files each, source and target"},
    {"destdir dataset-impl only-source workers", text},
    {"joined-dictionary", "--vocabs with the same name twice is a joint vocabulary"},
    {"srcdict tgtdict", "--vocabs takes the two SentencePiece models"},
    {"nwordssrc nwordstgt", "--dim-vocabs says how many pieces a vocabulary has"},
    {"bpe sentencepiece-model bpe-codes tokenizer remove-bpe post-process",
     "text goes in and comes out as it is: the model file holds SentencePiece, which splits and joins it"},
    {"keep-last-epochs keep-interval-updates", "--keep-last keeps the last checkpoints"},
    {"no-epoch-checkpoints no-last-checkpoints", "only --keep-last keeps checkpoints beside the model", all_values},
    {"keep-best-checkpoints", "--keep-best keeps the best model of each of --valid-metrics"},
    // Model
    {"arch", "--task names a set of defaults, such as transformer-base; --type the kind of model"},
    {"encoder-layers", "here it is --enc-depth"},
    {"decoder-layers", "here it is --dec-depth"},
    {"encoder-embed-dim decoder-embed-dim", "here it is --dim-emb"},
    {"encoder-ffn-embed-dim decoder-ffn-embed-dim", "here it is --transformer-dim-ffn"},
    {"encoder-attention-heads decoder-attention-heads", "here it is --transformer-heads"},
    {"encoder-normalize-before decoder-normalize-before", "--transformer-preprocess n --transformer-postprocess da"},
    {"encoder-learned-pos decoder-learned-pos", "--transformer-positions learned"},
    {"activation-fn", "here it is --transformer-ffn-activation"},
    {"share-all-embeddings", "here it is --tied-embeddings-all"},
    {"share-decoder-input-output-embed", "here it is --tied-embeddings"},
    {"dropout", "here it is --transformer-dropout"},
    {"attention-dropout", "here it is --transformer-dropout-attention"},
    {"activation-dropout relu-dropout", "here it is --transformer-dropout-ffn"},
    // Training
    {"lr", "here it is --learn-rate"},
    {"lr-scheduler", "--lr-schedule: inverse-sqrt, noam, cosine, linear"},
    {"warmup-updates", "here it is --lr-warmup"},
    {"warmup-init-lr", "--lr-warmup rises from 0", "0,1e-07,1e-7"},
    {"min-lr stop-min-lr", "--early-stopping and --after end a run"},
    {"adam-betas adam-eps", "--optimizer-params takes beta1, beta2 and epsilon"},
    {"criterion", "training minimises cross-entropy, with --label-smoothing",
     "label_smoothed_cross_entropy,cross_entropy"},
    {"max-tokens", "--mini-batch-words, of target pieces; of translate, of source pieces"},
    {"batch-size max-sentences", "--mini-batch in sentences, or --mini-batch-words in pieces"},
    {"max-tokens-valid batch-size-valid", "validation chooses its batches itself", all_values},
    {"update-freq", "here it is --optimizer-delay"},
    {"max-update", "--after 8000u ends a run after 8,000 updates"},
    {"max-epoch", "--after 10e ends a run after ten epochs"},
    {"patience", "here it is --early-stopping"},
    {"max-source-positions max-target-positions", "here it is --max-length"},
    {"log-interval", "here it is --disp-freq"},
    {"validate-interval validate-interval-updates", "--valid-freq 1e is every epoch, 1000u every 1,000 updates"},
    {"save-interval save-interval-updates", "--save-freq 1e is every epoch, 1000u every 1,000 updates"},
    {"best-checkpoint-metric eval-bleu eval-bleu-args eval-bleu-detok eval-bleu-remove-bpe",
     "--valid-metrics bleu; the first metric decides"},
    {"maximize-best-checkpoint-metric", "each of --valid-metrics knows which way is better", all_values},
    {"reset-optimizer", "here it is --no-optimizer-reload"},
    {"reset-dataloader", "here it is --no-restore-corpus"},
    {"bf16", "--precision bfloat16"},
    {"memory-efficient-fp16", "--precision float16"},
    {"tensorboard-logdir", "here it is --tensorboard"},
    {"log-format no-progress-bar ddp-backend distributed-world-size num-workers cpu user-dir fp16-init-scale",
     "it has no bearing on what is computed here", all_values},
    // Translating
    {"beam", "here it is --beam-size"},
    {"nbest", "here it is --n-best"},
    {"lenpen", "--normalize: scores are divided by length to that power"},
    {"unkpen", "translations hold no unknown piece without --allow-unk"},
    {"max-len-a", "here it is --max-length-factor"},
    {"max-len-b max-len", "here it is --max-length-add"},
    {"min-len", "here it is --min-length"},
    {"no-repeat-ngram-size", "here it is --no-repeat-ngram"},
    {"prefix-size", "here it is --force-decode"},
    {"sampling sampling-topk sampling-topp", sampling},
    {"buffer-size", "here it is --maxi-batch-lines"},
    {"print-alignment", "here it is --alignment"},
    {"score-reference", "dragoman score"},
    {"sacrebleu scoring", "dragoman evaluate"},
    {"gen-subset", "--input names the text, or stdin is it"},
};

constexpr Foreign programs[] = {
    {"fairseq-train", "dragoman train"},
    {"generate interactive fairseq-generate fairseq-interactive", "dragoman translate"},
    {"preprocess fairseq-preprocess",
     "not needed: dragoman train reads text as it is; dragoman data looks at it first"},
    {"fairseq-score", "dragoman evaluate"},
    {"average-checkpoints average_checkpoints", "dragoman average"},
    {"subword-nmt learn-bpe learn-joint-bpe-and-vocab", "dragoman vocab train"},
    {"apply-bpe", "dragoman vocab encode"},
    {"finetune fine-tune", "dragoman train --pretrained-model MODEL"},
};

}  // namespace

std::span<const Foreign> fairseq_options() { return options; }
std::span<const Foreign> fairseq_programs() { return programs; }

}  // namespace dragoman
