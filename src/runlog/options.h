#pragma once
#include <string>

#include "dragoman/run_event.h"

namespace dragoman {

/// Where a run is logged.
struct RunLogOptions {
  std::string log_json;       // file that a line is appended to for each event; empty: none
  std::string tensorboard;    // folder for event files; empty: none
  std::string log;            // file that messages are appended to; empty: none
  std::string valid_log;      // file that the lines of validation are appended to; empty: none
  bool progress_bar = false;  // on stderr, if it is a terminal
  RunObserver observer;       // of a program; empty: none
};

}  // namespace dragoman
