#include "options/foreign.h"

namespace dragoman {
namespace {

// Names that Marian, fairseq or OpenNMT-py has too are in their tables.
constexpr Foreign sockeye_option_rows[] = {
    // Files and vocabularies
    {"source target", "--train-sets takes the two files"},
    {"prepared-data", "train reads plain text, without preparation: --train-sets"},
    {"validation-source validation-target", "--valid-sets takes the two files"},
    {"source-vocab target-vocab", "--vocabs names both vocabularies, which train creates if they are missing"},
    {"shared-vocab", "--vocabs with the same name twice means a joint vocabulary"},
    {"num-words word-min-count pad-vocab-to-multiple-of", "--dim-vocabs sets the number of pieces of a vocabulary"},
    {"source-factors target-factors validation-source-factors validation-target-factors source-factor-vocabs "
     "target-factor-vocabs source-factors-num-embed target-factors-num-embed source-factors-combine "
     "target-factors-combine source-factors-share-embedding target-factors-share-embedding target-factors-weight "
     "input-factors",
     "vocabularies have no factors"},
    {"end-of-prepending-tag", "tags are pieces of the source: --protected-symbols"},
    {"output-folder", "--model names the model's file"},
    {"output", "--model names the model's file", "", "train"},
    {"overwrite-output", "--no-reload starts from scratch even if the model file exists"},
    {"params", "--pretrained-model starts from another model"},
    {"allow-missing-params ignore-extra-params", "--pretrained-model needs all parameters of its architecture"},
    {"fixed-param-names fixed-param-strategy", "--freeze 'PATTERN' keeps parameters fixed"},
    {"max-seq-len", "use --max-length"},
    {"bucket-width bucket-scaling no-bucketing no-bucket-scaling batch-sentences-multiple-of max-processes "
     "num-samples-per-shard min-num-shards chunk-size clamp-to-dtype no-logfile loglevel loglevel-secondary-workers "
     "quiet-secondary-workers use-cpu env",
     no_effect, any_value},
    // Model
    {"encoder", "--type is the kind of model", "transformer"},
    {"decoder", "--transformer-decoder-autoreg rnn with --dec-cell ssru is ssru_transformer", "transformer"},
    {"num-layers", "--enc-depth and --dec-depth (6:2 is --enc-depth 6 --dec-depth 2)"},
    {"transformer-model-size num-embed", "use --dim-emb"},
    {"transformer-attention-heads", "use --transformer-heads"},
    {"transformer-feed-forward-num-hidden", "use --transformer-dim-ffn"},
    {"transformer-activation-type", "use --transformer-ffn-activation"},
    {"transformer-feed-forward-use-glu", "feed-forward layers have no gates"},
    {"transformer-positional-embedding-type", "--transformer-positions: sinusoidal (fixed), learned, none", "fixed"},
    {"transformer-dropout-act transformer-dropout-prepost embed-dropout",
     "--transformer-dropout, and -attention, -ffn and -embedding for parts of the model"},
    {"weight-tying-type",
     "--tied-embeddings-all (src_trg_softmax), --tied-embeddings (trg_softmax) or --tied-embeddings-src (src_trg)"},
    {"weight-init weight-init-scale weight-init-xavier-factor-type weight-init-xavier-rand-type",
     "weights begin with the distribution of the architecture", any_value},
    {"lhuc", "--lora-rank N trains few parameters for adaptation: updates of rank N"},
    {"neural-vocab-selection neural-vocab-selection-block-loss bow-task-weight bow-task-pos-weight skip-nvs nvs-thresh",
     "--shortlist restricts translate to likely pieces"},
    {"alignment-matrix", "use --guided-alignment, which reads links such as 0-0 1-2"},
    {"length-task length-task-weight length-task-layers", "models do not predict lengths"},
    // Training
    {"batch-type", "--mini-batch-words in target tokens, or --mini-batch in sentences"},
    {"update-interval", "use --optimizer-delay", "1"},
    {"label-smoothing-impl", "there is one form of --label-smoothing", any_value},
    {"initial-learning-rate", "use --learn-rate"},
    {"learning-rate-warmup", "use --lr-warmup"},
    {"learning-rate-scheduler-type learning-rate-t-scale",
     "--lr-schedule: inverse-sqrt, noam, cosine, linear, constant; for plateau-reduce, --lr-schedule constant "
     "--lr-decay 0.9 --lr-decay-strategy stalled --lr-decay-start 8"},
    {"learning-rate-reduce-factor", "--lr-decay, with --lr-decay-strategy stalled", "1,1.0"},
    {"learning-rate-reduce-num-not-improved", "--lr-decay X --lr-decay-strategy stalled --lr-decay-start N"},
    {"optimizer-betas optimizer-epsilon optimizer-eps", "--optimizer-params takes beta1, beta2 and epsilon"},
    {"momentum", "the optimizer is Adam"},
    {"gradient-clipping-threshold", "use --clip-norm"},
    {"gradient-clipping-type",
     "--clip-norm bounds the norm of the gradient (norm); 0 is off (none); single elements are not clipped (abs)",
     "norm", "train"},
    {"checkpoint-interval", "--valid-freq 4000u and --save-freq 4000u: every 4,000 updates"},
    {"max-num-checkpoint-not-improved", "use --early-stopping"},
    {"checkpoint-improvement-threshold", "use --early-stopping-epsilon", "0,0.0"},
    {"max-updates max-num-epochs max-samples max-seconds max-checkpoints",
     "--after ends a run after updates (8000u), epochs (10e), target tokens (1000000t) or minutes (90m)"},
    {"min-updates min-num-epochs min-samples", "--early-stopping counts validations: raise it, or --valid-freq"},
    {"optimized-metric",
     "the first of --valid-metrics decides --early-stopping; --keep-best, off by default, keeps the best model of "
     "each"},
    {"decode-and-evaluate", "--valid-metrics bleu translates the validation text; --valid-max-lines limits it"},
    {"keep-last-params", "--keep-last keeps the last checkpoints", "-1"},
    {"keep-initializations cache-last-best-params cache-strategy cache-metric",
     "--keep-last and --keep-best keep checkpoints, for dragoman average", "0"},
    {"device-ids", "--devices names the GPUs, from 0", "-1"},
    {"dist", "--devices names the GPUs; mpirun or srun starts ranks: docs/scale.md"},
    {"apex-amp", "--precision float16 or bfloat16"},
    {"dtype", "--precision is the type of matrix products", "float32"},
    {"stop-training-on-decoder-failure", "an error in validation ends a run", any_value},
    // Translating
    {"nbest-size", "use --n-best", "1"},
    {"greedy", "--beam-size 1"},
    {"beam-search-stop", "--search-rule says when a search ends", "all"},
    {"length-penalty-alpha length-penalty-beta brevity-penalty-type brevity-penalty-weight "
     "brevity-penalty-constant-length-ratio",
     "--normalize and --length-penalty divide scores by length", "none"},
    {"max-input-length", "--max-length: longer lines are split into segments"},
    {"max-output-length", "--max-length-add N: N tokens more than the source"},
    {"max-output-length-num-stds", "--max-length-add and --max-length-factor limit the length of translations"},
    {"restrict-lexicon restrict-lexicon-topk", "use --shortlist"},
    {"output-type", "--scores, --n-best, --alignment and --word-scores add to each line", "translation"},
    {"sample", "use --output-sampling"},
    {"ensemble-mode",
     "--ensemble-mean geometric averages log-probabilities (log_linear), arithmetic probabilities (linear)", "",
     "translate"},
    {"json-input", "lines are text, with --constraints also phrases behind tabs; dragoman serve takes JSON"},
    {"checkpoints", "--model names the file of a checkpoint"},
    {"avoid-list", "use --avoid, whose phrases are text like that of the translations"},
    {"strip-unknown-words prevent-unk", "translations contain the unknown piece only with --allow-unk", any_value},
};

constexpr Foreign sockeye_program_rows[] = {
    {"sockeye-train", "dragoman train"},
    {"sockeye-translate", "dragoman translate"},
    {"sockeye-score", "dragoman score"},
    {"sockeye-average", "dragoman average"},
    {"sockeye-vocab", "dragoman vocab train, or dragoman train alone, which creates missing vocabularies"},
    {"sockeye-prepare-data", "not needed: dragoman train reads plain text; dragoman data checks it before"},
    {"sockeye-evaluate", "dragoman evaluate"},
    {"sockeye-lexicon", "dragoman align --shortlist"},
    {"sockeye-quantize", "dragoman quantize"},
    {"sockeye-embeddings", "dragoman inspect describes a model"},
};

}  // namespace

std::span<const Foreign> sockeye_options() { return sockeye_option_rows; }
std::span<const Foreign> sockeye_programs() { return sockeye_program_rows; }

}  // namespace dragoman
