#pragma once
// cli/doctor.h - prints diagnostics, for `belay doctor` and `belay models check`.

#include "belay/value.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/store_diagnostics.h"

namespace belay::cli {

// Prints a diagnostic in one or two lines, and returns its document.
Value show_finding(const Diagnostic& finding, Output& output);
// Prints the diagnostics. `what` and `where` become a member of the document, such as "store" and
// its path.
ExitCode show_findings(const std::string& what, const std::string& where,
                       const std::vector<Diagnostic>& findings, Output& output);

}  // namespace belay::cli
