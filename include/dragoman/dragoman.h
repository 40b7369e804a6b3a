#pragma once

/*
 * dragoman for programs in C, and in languages that call C. Its binary interface is stable: everything here keeps its
 * meaning within libdragoman.so.0; functions and members of options are only added. docs/embedding.md has examples.
 *
 * Handles are opaque; the library makes and frees them; freeing NULL does nothing. A handle keeps the objects it was
 * made with alive: an engine may be freed before its translators. All functions may be called from several threads at
 * once, also on one handle, as long as none of them frees it. Strings are UTF-8 and end with a zero byte; the library
 * copies its arguments. Results belong to the handle that returned them.
 *
 * Options are structs that begin with their size. A function fills in the defaults:
 *
 *     struct dragoman_search_options search;
 *     dragoman_search_options_init(&search, sizeof search);
 *     search.beam_size = 4;
 *
 * so that a program works with a newer library, and with an older one if it sets no option unknown to it.
 * NULL in place of options stands for the defaults, except where a member is required: models, model, text, answer.
 *
 * A function that can fail returns a status, and takes the address of an error as its last argument, which may be NULL.
 * If it fails, it stores a new error there, which the caller frees, and leaves its other results as they were.
 *
 * After fork(), the child must create its own handles: calls with the parent's handles fail, except those that free.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum dragoman_status {
  DRAGOMAN_OK = 0,
  DRAGOMAN_ERROR = 1,         /* an option, a file or a text that the caller can correct */
  DRAGOMAN_OUT_OF_MEMORY = 2, /* there was no memory for this call; others are unaffected */
  DRAGOMAN_CANCELLED = 3,     /* by dragoman_cancel, or because the translator was freed */
  DRAGOMAN_BUG = 4            /* a bug in the library: please report it with the message */
};

/* "0.1.0" */
const char* dragoman_version(void);

/* ---- Errors ---- */

struct dragoman_error;
/* What was found and what was expected, in one line. */
const char* dragoman_error_message(const struct dragoman_error* error);
/* What to do; may be empty. */
const char* dragoman_error_hint(const struct dragoman_error* error);
void dragoman_error_free(struct dragoman_error* error);

/* ---- The engine: a device, threads and a log. A process may have several. ---- */

enum dragoman_log_level { DRAGOMAN_LOG_INFO = 0, DRAGOMAN_LOG_WARNING = 1 };
/* Receives messages for people. Called on any thread, on several at once, as long as the engine or a handle made with
 * it exists. */
typedef void (*dragoman_log_function)(void* context, enum dragoman_log_level level, const char* message);

struct dragoman_engine_options {
  size_t struct_size;
  const char* device;        /* "cpu", or "cuda:0": the first GPU; NULL: "cpu" */
  int threads;               /* 0: OMP_NUM_THREADS, or else one for each core that the process may use */
  int fast_math;             /* 1: on a GPU, products in float32 may round their factors to TF32 */
  dragoman_log_function log; /* NULL: messages are discarded */
  void* log_context;
};
void dragoman_engine_options_init(struct dragoman_engine_options* options, size_t struct_size);

struct dragoman_engine;
enum dragoman_status dragoman_engine_new(const struct dragoman_engine_options* options, struct dragoman_engine** engine,
                                         struct dragoman_error** error);
int dragoman_engine_threads(const struct dragoman_engine* engine);
void dragoman_engine_free(struct dragoman_engine* engine);

/* ---- Translating ---- */

enum dragoman_precision {
  DRAGOMAN_PRECISION_AUTOMATIC = 0, /* according to the type stored in the file */
  DRAGOMAN_PRECISION_FLOAT32 = 1,
  DRAGOMAN_PRECISION_BFLOAT16 = 2,
  DRAGOMAN_PRECISION_FLOAT16 = 3,
  DRAGOMAN_PRECISION_INT8 = 4
};

/* How the predictions of several models are joined: docs/search.md. */
enum dragoman_ensemble_mean {
  DRAGOMAN_MEAN_AUTOMATIC = 0, /* as in the program that the models come from */
  DRAGOMAN_MEAN_GEOMETRIC = 1, /* of log-probabilities */
  DRAGOMAN_MEAN_ARITHMETIC = 2 /* of probabilities */
};

/* When a search ends, and what it keeps: docs/search.md. */
enum dragoman_search_rule {
  DRAGOMAN_RULE_AUTOMATIC = 0, /* as in the program that the model comes from */
  DRAGOMAN_RULE_MARIAN = 1,
  DRAGOMAN_RULE_HUGGINGFACE = 2,
  DRAGOMAN_RULE_HUGGINGFACE_EARLY = 3,
  DRAGOMAN_RULE_FAIRSEQ = 4,
  DRAGOMAN_RULE_CTRANSLATE2 = 5
};

/* How tokens are drawn instead of searched for. */
enum dragoman_sampling {
  DRAGOMAN_SAMPLING_NONE = 0,   /* a search finds the most probable translation */
  DRAGOMAN_SAMPLING_FULL = 1,   /* from all pieces */
  DRAGOMAN_SAMPLING_TOPK = 2,   /* from the sampling_pieces most probable ones */
  DRAGOMAN_SAMPLING_NUCLEUS = 3 /* from the fewest that together have the probability sampling_mass */
};

/* The options of `dragoman translate` with these names; docs/options.md. */
struct dragoman_search_options {
  size_t struct_size;
  int beam_size;            /* without effect on sampling, which draws as many translations as n_best says */
  int n_best;               /* translations of a text; 0: the best one */
  int rule;                 /* enum dragoman_search_rule */
  double normalize;         /* log-probabilities are divided by length^normalize; 0: plain sums */
  double length_penalty;    /* ... or by ((5 + length) / 6)^length_penalty; 0: off */
  double word_penalty;      /* subtracted for each target token */
  int max_length_add;       /* a translation has at most source + max_length_add pieces ... */
  int min_length;           /* ... and at least this many */
  double max_length_factor; /* above 0: at most this many times the pieces of the source */
  double min_length_factor; /* at least this many times the pieces of the source, within the maximum */
  int no_repeat_ngram;      /* forbid repeated n-grams of this length; 0: allow all */
  int allow_unk;            /* 1: allow the unknown piece */
  int sampling;             /* enum dragoman_sampling */
  int sampling_pieces;      /* DRAGOMAN_SAMPLING_TOPK draws from this many most probable pieces */
  double sampling_mass;     /* DRAGOMAN_SAMPLING_NUCLEUS from the fewest pieces of this total probability */
  double temperature;       /* of sampling: divides logits before a draw, 0.001 to 1000 */
  uint64_t seed;            /* of draws, together with the number of the text: see dragoman_translate and
                             * dragoman_request. The same seed, number, options and text give the same translation */
};
void dragoman_search_options_init(struct dragoman_search_options* options, size_t struct_size);

struct dragoman_translator_options {
  size_t struct_size;
  const char* const* models; /* files; several translate together and have the same vocabularies */
  size_t model_count;
  const double* weights;     /* of the models, model_count numbers; NULL: they count equally */
  int precision;             /* enum dragoman_precision */
  int max_length;            /* pieces; longer texts are translated in segments */
  const char* shortlist;     /* file of `dragoman align` or of Marian; NULL: all pieces are allowed */
  const char* const* vocabs; /* source and target: for other programs' models, if no file beside them names them */
  size_t vocab_count;
  const char* source_lang; /* for multilingual models; NULL: as stored in the model */
  const char* target_lang;
  const struct dragoman_search_options* search; /* for texts without options of their own */
  const char* glossary; /* file of terms whose translations must occur: `dragoman translate --glossary`; NULL: none */
  int ensemble_mean;    /* enum dragoman_ensemble_mean */
  const char* avoid;    /* file of phrases that must not occur: `dragoman translate --avoid`; NULL: none */
};
void dragoman_translator_options_init(struct dragoman_translator_options* options, size_t struct_size);

/* Loads the models. A translator has a thread of its own, which also runs the functions that receive translations. */
struct dragoman_translator;
enum dragoman_status dragoman_translator_new(struct dragoman_engine* engine,
                                             const struct dragoman_translator_options* options,
                                             struct dragoman_translator** translator, struct dragoman_error** error);
/* Answers unfinished requests with DRAGOMAN_CANCELLED, then returns. If called by a function that receives a
 * translation, it returns at once, and the other requests are answered after that function. */
void dragoman_translator_free(struct dragoman_translator* translator);

/* Translations of one or several texts; for each of them the best one first. */
struct dragoman_translations;
size_t dragoman_translations_texts(const struct dragoman_translations* translations);
/* The number of translations of a text; 0 if there is no such text. */
size_t dragoman_translations_count(const struct dragoman_translations* translations, size_t text);
/* `rank` counts from 0, the best one. NULL or 0 if there is none. */
const char* dragoman_translations_text(const struct dragoman_translations* translations, size_t text, size_t rank);
/* The translations of a text are ordered by this score. */
double dragoman_translations_score(const struct dragoman_translations* translations, size_t text, size_t rank);
/* Sum over the tokens, base e. */
double dragoman_translations_log_prob(const struct dragoman_translations* translations, size_t text, size_t rank);
/* Base e, of each token, ends of sentences included; stores their number in `count`. NULL if there is no such
 * translation. */
const float* dragoman_translations_token_log_probs(const struct dragoman_translations* translations, size_t text,
                                                   size_t rank, size_t* count);
/* One of these tokens as text, such as "</s>". NULL if there is none. */
const char* dragoman_translations_piece(const struct dragoman_translations* translations, size_t text, size_t rank,
                                        size_t token);
/* A word or several of a text, and those of its translation that attend to them: bytes [begin, end) of each. Those of
 * the text count U+FFFD in place of ill-formed UTF-8. */
struct dragoman_linked_words {
  size_t source_begin, source_end;
  size_t target_begin, target_end;
};
/* How many there are of a translation; 0 unless dragoman_request.alignment is set. */
size_t dragoman_translations_links(const struct dragoman_translations* translations, size_t text, size_t rank);
/* One of them, in the order of the translation; all 0 if there is none. */
struct dragoman_linked_words dragoman_translations_link(const struct dragoman_translations* translations, size_t text,
                                                        size_t rank, size_t link);
void dragoman_translations_free(struct dragoman_translations* translations);

/* Translates `count` texts, each of them one line (a line break in it is read as a blank), and waits. Sampling draws
 * by the index of a text, from 0, as `dragoman translate` does by that of a line. The caller frees the translations.
 * `search` NULL means the translator's own options. Fails in a function that receives a translation, where it would
 * wait for itself. */
enum dragoman_status dragoman_translate(struct dragoman_translator* translator, const char* const* texts, size_t count,
                                        const struct dragoman_search_options* search,
                                        struct dragoman_translations** translations, struct dragoman_error** error);

/* Terms and the translations that must occur where they do: `count` of each, for requests to translators with the same
 * vocabulary. They take precedence over those of the translator's own glossary, which also apply. */
struct dragoman_glossary;
enum dragoman_status dragoman_glossary_new(struct dragoman_translator* translator, const char* const* terms,
                                           const char* const* translations, size_t count,
                                           struct dragoman_glossary** glossary, struct dragoman_error** error);
void dragoman_glossary_free(struct dragoman_glossary* glossary);

/* Phrases that translations must not contain: `count` of them, for requests to translators with the same vocabulary.
 * They add to the translator's own. */
struct dragoman_forbidden_phrases;
enum dragoman_status dragoman_forbidden_phrases_new(struct dragoman_translator* translator, const char* const* phrases,
                                                    size_t count, struct dragoman_forbidden_phrases** forbidden,
                                                    struct dragoman_error** error);
void dragoman_forbidden_phrases_free(struct dragoman_forbidden_phrases* forbidden);

/* Receives the outcome of a request in the translator's thread, exactly once for each request that was accepted. Other
 * texts wait while it runs. With DRAGOMAN_OK there are translations of one text, with another status an error. The
 * library frees both when the function returns. It may submit and cancel. */
typedef void (*dragoman_answer_function)(void* context, enum dragoman_status status,
                                         const struct dragoman_translations* translations,
                                         const struct dragoman_error* error);

/* Receives the beginning of the translation each time more of it is decided, in the translator's thread and before
 * the answer. Each text extends the previous one, by one or more tokens, and the translation extends the last one.
 * The library frees the text when the function returns. */
typedef void (*dragoman_partial_function)(void* context, const char* text);

struct dragoman_request {
  size_t struct_size;
  const char* text;                             /* one line: a line break in it is read as a blank */
  const char* prefix;                           /* forced prefix of the translation; NULL: none */
  const struct dragoman_search_options* search; /* NULL: the translator's */
  dragoman_answer_function answer;
  void* context;                            /* passed to both functions */
  dragoman_partial_function partial;        /* NULL: only the whole translation */
  const struct dragoman_glossary* glossary; /* may be freed after dragoman_submit; not with sampling; NULL: none */
  const struct dragoman_forbidden_phrases* avoid; /* may be freed after dragoman_submit; NULL: none */
  int alignment; /* 1: link words of the translation to those of the text, by attention; an error for a model
                  * without cross-attention */
  uint64_t line; /* number that sampling draws by, together with the seed: give each text another one, such as its
                  * line number from 0, or they share their draws */
};
void dragoman_request_init(struct dragoman_request* request, size_t struct_size);

/* Queues a text and returns. `ticket` (may be NULL) receives the number for dragoman_cancel. */
enum dragoman_status dragoman_submit(struct dragoman_translator* translator, const struct dragoman_request* request,
                                     uint64_t* ticket, struct dragoman_error** error);
/* Cancels a request. 1: it will be answered with DRAGOMAN_CANCELLED. 0: it has been answered, or is about to be. */
int dragoman_cancel(struct dragoman_translator* translator, uint64_t ticket);

/* ---- Scoring pairs of lines ---- */

struct dragoman_scorer_options {
  size_t struct_size;
  const char* model;         /* file */
  int64_t mini_batch_words;  /* target tokens scored at once */
  int max_length;            /* pieces per side; longer pairs are an error */
  const char* const* vocabs; /* as for a translator */
  size_t vocab_count;
  const char* source_lang;
  const char* target_lang;
};
void dragoman_scorer_options_init(struct dragoman_scorer_options* options, size_t struct_size);

struct dragoman_scorer;
enum dragoman_status dragoman_scorer_new(struct dragoman_engine* engine, const struct dragoman_scorer_options* options,
                                         struct dragoman_scorer** scorer, struct dragoman_error** error);
void dragoman_scorer_free(struct dragoman_scorer* scorer);

/* log p(target | source) of each pair. */
struct dragoman_scores;
size_t dragoman_scores_count(const struct dragoman_scores* scores);
/* Base e; 0 if there is no such pair. */
double dragoman_scores_log_prob(const struct dragoman_scores* scores, size_t pair);
/* Of each target token, end of sentence included; stores their number in `count`. NULL if there is no such pair. */
const float* dragoman_scores_token_log_probs(const struct dragoman_scores* scores, size_t pair, size_t* count);
void dragoman_scores_free(struct dragoman_scores* scores);

/* Scores `count` pairs and waits; many at once are faster. Calls on one scorer take turns. */
enum dragoman_status dragoman_score(struct dragoman_scorer* scorer, const char* const* sources,
                                    const char* const* targets, size_t count, struct dragoman_scores** scores,
                                    struct dragoman_error** error);

#ifdef __cplusplus
}
#endif
