/* Translates the lines of stdin:   translate_c MODEL < source > target */
#define _POSIX_C_SOURCE 200809L /* getline */
#include <dragoman/dragoman.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void log_message(void* context, enum dragoman_log_level level, const char* message) {
  (void)context, (void)level;
  fprintf(stderr, "%s\n", message);
}

static enum dragoman_status load(const char* model, struct dragoman_translator** translator,
                                 struct dragoman_error** error) {
  struct dragoman_engine_options engine_options;
  struct dragoman_translator_options options;
  struct dragoman_engine* engine = NULL;
  enum dragoman_status status;

  dragoman_engine_options_init(&engine_options, sizeof engine_options);
  engine_options.log = log_message;
  status = dragoman_engine_new(&engine_options, &engine, error);
  if (status != DRAGOMAN_OK) return status;

  dragoman_translator_options_init(&options, sizeof options);
  options.models = &model;
  options.model_count = 1;
  status = dragoman_translator_new(engine, &options, translator, error);
  dragoman_engine_free(engine); /* the translator keeps what it needs */
  return status;
}

static int failed(struct dragoman_error* error) {
  fprintf(stderr, "error: %s\n", dragoman_error_message(error));
  if (*dragoman_error_hint(error)) fprintf(stderr, "  hint: %s\n", dragoman_error_hint(error));
  dragoman_error_free(error);
  return 2;
}

int main(int argc, char** argv) {
  struct dragoman_translator* translator = NULL;
  struct dragoman_error* error = NULL;
  char* line = NULL;
  size_t size = 0;
  if (argc < 2) {
    fprintf(stderr, "usage: translate_c MODEL\n");
    return 2;
  }
  if (load(argv[1], &translator, &error) != DRAGOMAN_OK) return failed(error);
  while (getline(&line, &size, stdin) >= 0) {
    const char* text = line;
    struct dragoman_translations* best = NULL;
    line[strcspn(line, "\n")] = '\0';
    if (dragoman_translate(translator, &text, 1, NULL, &best, &error) != DRAGOMAN_OK) return failed(error);
    printf("%s\n", dragoman_translations_text(best, 0, 0));
    dragoman_translations_free(best);
  }
  free(line);
  dragoman_translator_free(translator);
  return 0;
}
