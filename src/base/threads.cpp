#include "base/threads.h"

namespace dragoman {

int thread_count() { return omp_get_max_threads(); }
void set_thread_count(int threads) { omp_set_num_threads(threads); }

}  // namespace dragoman
