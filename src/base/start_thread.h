#pragma once
// base/start_thread.h - starts a thread that receives no signals.

#include <csignal>
#include <thread>
#include <utility>

namespace belay {

// A thread owned by Belay. It blocks all signals, so that each one is delivered to a thread of the
// program, whose system calls expect to be interrupted.
template <typename Run>
std::thread start_thread(Run run) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  // A new thread inherits the signal mask of the thread that starts it.
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  std::thread thread(std::move(run));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace belay
