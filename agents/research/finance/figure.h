#pragma once
// agents/research/finance/figure.h - the results of a subtask: figures and findings.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agents/research/finance/quantity.h"

namespace belay::research {

// Identified by (specialist, subtask, metric, period_end).
struct Figure {
  std::string specialist;
  std::string subtask;
  std::string metric;
  std::string period_end;  // YYYY-MM-DD
  // "ratio", a currency ("USD"), "USD/shares", "shares", "days", "months", "count", or "score".
  std::string unit;
  Quantity quantity;
};

enum class Severity { low, medium, high };
const char* severity_name(Severity severity);

// Identified by (specialist, subtask, code, period_end).
struct Finding {
  std::string specialist;
  std::string subtask;
  std::string code;
  Severity severity = Severity::low;
  std::string period_end;
  std::string metric = {};                   // the figure that it is based on; empty: none
  std::string quote = {};                    // verbatim from the filing; empty: none
  std::string item = {};                     // of the filing: "1A"; empty: none
  std::optional<std::uint64_t> offset = {};  // of the quote in the filing, in bytes
};

struct Results {
  std::vector<Figure> figures;
  std::vector<Finding> findings;
};

}  // namespace belay::research
