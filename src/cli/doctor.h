#pragma once
// cli/doctor.h - belay doctor: is the store well, and if not, what to do. It opens no store.

#include "belay/clock.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/settings.h"

namespace belay::cli {

ExitCode examine_store(const Settings& settings, Output& output, Clock& clock);

}  // namespace belay::cli
