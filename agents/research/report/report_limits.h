#pragma once
// agents/research/report/report_limits.h - bounds of a report, whatever the document contains.

#include <cstddef>

namespace belay::research::report {

// In bytes. Longer texts are cut, and end in an ellipsis.
inline constexpr std::size_t kNameLimit = 200;
inline constexpr std::size_t kReasonLimit = 500;
inline constexpr std::size_t kQuoteLimit = 2'000;
inline constexpr std::size_t kProseLimit = 20'000;

// An analysis of ten years has about 2,500 figures. Further ones are counted, not shown.
inline constexpr std::size_t kFigureLimit = 20'000;
inline constexpr std::size_t kFindingLimit = 2'000;
inline constexpr std::size_t kTextLimit = 100;
inline constexpr std::size_t kQuotesOfTextLimit = 40;
inline constexpr std::size_t kSourceLimit = 5'000;
inline constexpr std::size_t kListLimit = 200;  // constants, peers, failures
// Inputs of one figure, and of all figures. Further ones are counted, not shown.
inline constexpr std::size_t kInputLimit = 500;
inline constexpr std::size_t kAllInputsLimit = 40'000;

}  // namespace belay::research::report
