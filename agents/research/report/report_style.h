#pragma once
// agents/research/report/report_style.h - the compiled-in text of report.css.

#include <string_view>

namespace belay::research::report {

std::string_view report_style();

}  // namespace belay::research::report
