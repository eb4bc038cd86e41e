#pragma once
// cli/doctor.h - belay doctor: is the store well, and if not, what to do. It opens no store.

#include "belay/clock.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/settings.h"
#include "cli/store_diagnostics.h"

namespace belay::cli {

// A line or two of it; and its document.
Value show_finding(const Diagnostic& finding, Output& output);
// What was found, line by line; `what` and `where` say of what in the document: "store", PATH.
ExitCode show_findings(const std::string& what, const std::string& where,
                       const std::vector<Diagnostic>& findings, Output& output);

ExitCode examine_store(const Settings& settings, Output& output, Clock& clock);

}  // namespace belay::cli
