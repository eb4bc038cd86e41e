#include "cli/signals.h"

#include <pthread.h>
#include <signal.h>

#include <ctime>

namespace belay::cli {
namespace {

sigset_t held_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

void hold_signals() {
  sigset_t set = held_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

std::optional<int> take_signal() {
  sigset_t set = held_signals();
  timespec at_once{};
  int signal = ::sigtimedwait(&set, nullptr, &at_once);
  if (signal <= 0) return std::nullopt;
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  return signal;
}

}  // namespace belay::cli
