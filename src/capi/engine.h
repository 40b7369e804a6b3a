#pragma once
#include <memory>

#include "dragoman/dragoman.h"
#include "dragoman/engine.h"

/// Shared with the objects made from it, so that the caller may free it before them.
struct dragoman_engine {
  std::shared_ptr<dragoman::Engine> engine;
};
