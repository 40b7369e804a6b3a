#pragma once

namespace dragoman {

/// Blocks the signals that programs handle (SIGINT, SIGTERM, …) in the calling thread, which the library has started:
/// their handlers run on the program's own threads.
void leave_signals_to_the_program();

}  // namespace dragoman
