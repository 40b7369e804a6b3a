#pragma once

namespace dragoman {

/// Blocks the signals that programs handle (SIGINT, SIGTERM, …) in the calling thread, one of the library's, so that
/// their handlers run on the program's own threads.
void leave_signals_to_the_program();

}  // namespace dragoman
