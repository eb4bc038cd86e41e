#pragma once
// cli/run_until_signal.h - runs a coroutine of a command that opens no store.
//
// Threading: the main thread.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "belay/clock.h"
#include "belay/task.h"
#include "cli/signals.h"

namespace belay::cli {

// Runs the coroutine to its end. If a signal arrives first, sets `signal` and returns nullopt; the
// coroutine is then destroyed.
template <typename T>
std::optional<T> run_until_signal(Task<T> task, int& signal) {
  constexpr std::chrono::milliseconds poll_interval{50};
  std::unique_ptr<EventLoop> loop = make_event_loop();
  std::optional<T> result;
  Spawned running;
  std::function<void()> watch = [&] {
    if (auto caught = take_signal()) {
      signal = *caught;
      end_at_next_signal();
      return loop->stop();
    }
    loop->call_after(poll_interval, [&watch] { watch(); });
  };
  loop->post([&] {
    watch();
    running = spawn<T>(*loop, std::move(task), [&](T value) {
      result.emplace(std::move(value));
      loop->stop();
    });
  });
  loop->run();
  running.reset();
  return result;
}

}  // namespace belay::cli
