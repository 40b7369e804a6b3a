#pragma once
#include <memory>

#include "dragoman/dragoman.h"
#include "dragoman/engine.h"

/// Shared with what is made with it, so that it may be freed first.
struct dragoman_engine {
  std::shared_ptr<dragoman::Engine> engine;
};
