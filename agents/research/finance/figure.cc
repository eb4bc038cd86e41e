#include "agents/research/finance/figure.h"

namespace belay::research {

const char* severity_name(Severity severity) {
  switch (severity) {
    case Severity::low:
      return "low";
    case Severity::medium:
      return "medium";
    case Severity::high:
      return "high";
  }
  return "low";
}

}  // namespace belay::research
