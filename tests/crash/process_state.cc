#include "tests/crash/process_state.h"

#include <signal.h>
#include <sys/wait.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace belay::crash {

bool heeds_sigterm(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string name; status >> name;) {
    std::uint64_t signals = 0;
    if (name == "SigCgt:" && status >> std::hex >> signals) return signals >> (SIGTERM - 1) & 1;
  }
  return false;
}

bool has_ended(pid_t process) {
  siginfo_t end{};
  return ::waitid(P_PID, static_cast<id_t>(process), &end, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         end.si_pid == process;
}

}  // namespace belay::crash
