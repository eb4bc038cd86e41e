#pragma once
// bench/pages.h - the graphs that the benchmarks execute: ten nodes over a state of about 1 KB.

#include <string>

#include "belay/runtime.h"

namespace belay::bench {

struct Page {
  std::string title{};
  std::string text{};
  int visits = 0;
};

inline constexpr int nodes_per_run = 10;

// The channels that each node changes.
enum class Writes { text, counter };

// Returns a state with about 1,000 bytes of text without repetitions.
Page first_page();
// Builds ten nodes in a line. With Writes::text each node rewrites the text and counts, with
// Writes::counter it only counts.
Graph<Page> line_of_nodes(Writes writes);
// Builds one node that counts, followed by an approval of the title.
Graph<Page> page_for_approval();

// Executes `runs` runs of `graph` on `loop`, at most `in_flight` at the same time. Ends the program
// with a message if one of them does not have the expected result.
void perform(EventLoop& loop, Runtime& runtime, const Graph<Page>& graph, int runs, int in_flight);

// A model for graphs that call none.
class NoModel final : public Model {
 public:
  Task<Result<ModelReply>> generate(ModelRequest) override {
    co_return error(ErrorCode::invalid, "The benchmarks ask no model.");
  }
};

// The parts of a runtime that are equal for all stores.
struct World {
  std::unique_ptr<Clock> clock = system_clock();
  std::unique_ptr<Random> random = system_random();
  std::unique_ptr<EventLoop> loop = make_event_loop();
  NoModel model;

  std::unique_ptr<Runtime> runtime(Store& store);
  template <typename State>
  std::unique_ptr<Runtime> runtime(Store& store, const Graph<State>& graph) {
    auto opened = runtime(store);
    opened->add(graph);
    return opened;
  }
  // Runs the loop until the coroutine has ended.
  template <typename T>
  T wait_for(Task<T> task) {
    std::optional<T> value;
    Spawned running;
    loop->post([&] {
      running = spawn<T>(*loop, std::move(task), [&](T came) {
        value.emplace(std::move(came));
        loop->stop();
      });
    });
    loop->run();
    return *std::move(value);
  }
};

// Returns the value, or ends the program with the error's message.
template <typename T>
T value_or_exit(Result<T> result);
[[noreturn]] void exit_with(const std::string& why);

template <typename T>
T value_or_exit(Result<T> result) {
  if (!result.ok()) exit_with(result.error().message);
  return *std::move(result);
}

}  // namespace belay::bench
