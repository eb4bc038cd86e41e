#include "cli/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace belay::cli {
namespace {

constexpr int signals_until_the_end = 3;

// A handler receives only the signal's number; therefore the pipe is global to the process.
std::atomic<int> pipe_reads{-1};
std::atomic<int> pipe_writes{-1};
std::atomic<int> signals_left{signals_until_the_end};

void let_signals_end_the_process() {
  for (int signal : {SIGINT, SIGTERM}) ::signal(signal, SIG_DFL);
}

// Calls only functions that are allowed in a handler (signal-safety(7)).
void note_signal(int signal) {
  int error_number = errno;
  if (signals_left.fetch_sub(1) <= 1) {
    let_signals_end_the_process();
    ::raise(signal);
  }
  auto byte = static_cast<unsigned char>(signal);
  // A full pipe already contains enough signals.
  (void)!::write(pipe_writes.load(), &byte, 1);
  errno = error_number;
}

void catch_one(int signal) {
  struct sigaction caught{};
  caught.sa_handler = note_signal;
  caught.sa_flags = SA_RESTART;
  sigemptyset(&caught.sa_mask);
  ::sigaction(signal, &caught, nullptr);
}

bool is_ignored(int signal) {
  struct sigaction now{};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

void catch_signals() {
  ::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  if (pipe_reads.load() >= 0 || ::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
  pipe_reads = ends[0];
  pipe_writes = ends[1];
  catch_one(SIGTERM);
  if (!is_ignored(SIGINT)) catch_one(SIGINT);
  // The parent process might have blocked them.
  sigset_t caught;
  sigemptyset(&caught);
  sigaddset(&caught, SIGINT);
  sigaddset(&caught, SIGTERM);
  ::pthread_sigmask(SIG_UNBLOCK, &caught, nullptr);
}

std::optional<int> take_signal() {
  unsigned char byte = 0;
  if (::read(pipe_reads.load(), &byte, 1) != 1) return std::nullopt;
  return byte;
}

void end_at_next_signal() { signals_left = 1; }

}  // namespace belay::cli
