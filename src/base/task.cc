#include "belay/task.h"

#include <cstdio>
#include <cstdlib>

namespace belay::detail {

void task_threw(std::exception_ptr thrown) {
  const char* what = "an exception of an unknown type";
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& exception) {
    what = exception.what();
    std::fprintf(stderr, "belay: a spawned task threw: %s\n", what);
    std::abort();
  } catch (...) {
    std::fprintf(stderr, "belay: a spawned task threw: %s\n", what);
    std::abort();
  }
}

}  // namespace belay::detail
