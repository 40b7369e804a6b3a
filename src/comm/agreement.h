#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "comm/communicator.h"

namespace dragoman {

/// Work of all ranks in which only rank 0 can fail, such as writing a file. If it fails, all ranks throw.
void together(Communicator& ranks, const std::function<void()>& work);

/// Throws on all ranks if any has an error (null: none), and not before all ranks know: a rank throws its own, the
/// others throw the first in the order of ranks, with the name of its rank. All ranks call it, so that none ends while
/// another waits for it.
void fail_together(Communicator& ranks, const std::exception_ptr& error);

/// The minimum over all ranks, on all ranks.
int64_t least_of(Communicator& ranks, int64_t value);

/// The first text that is not empty, in the order of ranks, on all ranks; empty if all are.
std::string first_text(Communicator& ranks, const std::string& text);

/// Calls f. Returns the reason if it fails with any exception, else an empty text. A lost rank ends the run all the
/// same.
template <class F>
std::string failure_of(const F& f) {
  try {
    f();
    return "";
  } catch (const RankLost&) {
    throw;
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// A fact in which all ranks must agree.
struct SharedFact {
  std::string what;   // "version of dragoman"
  std::string value;  // without NUL
};
/// Error on all ranks unless all facts are equal. It names the first fact in which ranks differ from rank 0, and these
/// ranks. All ranks pass the same number of facts in the same order.
void require_same(Communicator& ranks, const std::vector<SharedFact>& facts);

/// For ranks that share lines: rank 0 warns of those that compute otherwise than it does (Backend::arithmetic), by
/// their numbers. All ranks call it.
void warn_of_other_arithmetic(Communicator& ranks, const std::string& arithmetic);

}  // namespace dragoman
