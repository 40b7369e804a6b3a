#include "capi/error.h"

#include <new>

#include "base/file_error.h"
#include "tensor/arena.h"

namespace dragoman {
namespace {

constexpr const char* memory_hint = "translate shorter texts, or fewer at once";

}  // namespace

Failure failure_of(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const OutOfMemory& e) {
    return {DRAGOMAN_OUT_OF_MEMORY, {e.what(), e.hint().empty() ? memory_hint : e.hint()}};
  } catch (const Error& e) {
    return {DRAGOMAN_ERROR, {e.what(), e.hint()}};
  } catch (const std::filesystem::filesystem_error& e) {
    return {DRAGOMAN_ERROR, {error_of(e).what(), error_of(e).hint()}};
  } catch (const std::bad_alloc&) {
    return {DRAGOMAN_OUT_OF_MEMORY, {"out of memory", memory_hint}};
  } catch (const std::exception& e) {
    return {DRAGOMAN_BUG, {e.what(), "this should not happen; please report it"}};
  } catch (...) {
    return {DRAGOMAN_BUG, {"an exception of unknown type", "this should not happen; please report it"}};
  }
}

}  // namespace dragoman

const char* dragoman_version() { return DRAGOMAN_VERSION; }

const char* dragoman_error_message(const dragoman_error* error) { return error ? error->message.c_str() : ""; }
const char* dragoman_error_hint(const dragoman_error* error) { return error ? error->hint.c_str() : ""; }
void dragoman_error_free(dragoman_error* error) { delete error; }
