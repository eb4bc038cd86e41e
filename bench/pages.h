#pragma once
// bench/pages.h - the work that is measured: a state of about 1 KB that goes through ten nodes.

#include <string>

#include "belay/runtime.h"

namespace belay::bench {

struct Page {
  std::string title{};
  std::string text{};
  int visits = 0;
};

inline constexpr int nodes_per_run = 10;

// What each node changes.
enum class Writes { text, counter };

// About 1,000 bytes of text that does not repeat itself.
Page first_page();
// Ten nodes in a line. With Writes::text each rewrites the text and counts, with Writes::counter it
// only counts.
Graph<Page> line_of_nodes(Writes writes);
// One node that counts, then the question to a person whether the title may stand.
Graph<Page> page_for_approval();

// Carries `runs` runs of `graph` out on `loop`, never more than `in_flight` at a time. Ends the
// program with a message when one of them does not come to where it should.
void perform(EventLoop& loop, Runtime& runtime, const Graph<Page>& graph, int runs, int in_flight);

// A model for graphs that ask none.
class NoModel final : public Model {
 public:
  Task<Result<ModelReply>> generate(ModelRequest) override {
    co_return error(ErrorCode::invalid, "The benchmarks ask no model.");
  }
};

// The parts of a runtime that are the same for every store.
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
  // Runs the loop until the task has ended.
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

// The value, or the end of the program with the error's sentence.
template <typename T>
T value_or_exit(Result<T> result);
[[noreturn]] void exit_with(const std::string& why);

template <typename T>
T value_or_exit(Result<T> result) {
  if (!result.ok()) exit_with(result.error().message);
  return *std::move(result);
}

}  // namespace belay::bench
