#include "capi/engine.h"

#include "capi/error.h"
#include "capi/options.h"

dragoman_status dragoman_engine_new(const dragoman_engine_options* options, dragoman_engine** engine,
                                    dragoman_error** error) {
  return dragoman::guarded(error, [&] {
    dragoman::require_given(engine, "engine");
    auto made = std::make_shared<dragoman::Engine>(dragoman::read(options));
    (void)made->backend();  // an unusable device is an error here, not at the first model
    *engine = new dragoman_engine{std::move(made)};
  });
}

int dragoman_engine_threads(const dragoman_engine* engine) { return engine ? engine->engine->threads() : 0; }

void dragoman_engine_free(dragoman_engine* engine) { delete engine; }
