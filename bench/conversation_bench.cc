// Measures threads with several runs on SQLite: the second run of a thread compared with its first,
// and a thread of 10,000 runs compared with one of 10: its next run, and the list, the read and the
// fork of its newest run.

#include <cstdio>
#include <filesystem>

#include "bench/machine.h"
#include "bench/options.h"
#include "bench/pages.h"

namespace {

using namespace belay;
using namespace belay::bench;

constexpr int threads = 300;
constexpr int runs_of_long_thread = 10'000;
constexpr int runs_of_short_thread = 10;
constexpr int repeats = 100;

struct Talk {
  std::string question{};
  std::string answer{};
  int turns = 0;
};

Graph<Talk> talk_graph() {
  GraphBuilder<Talk> graph{"talk"};
  graph.accumulate(&Talk::turns);
  graph.node("answer", [](const Talk& talk, Context&) {
    return set(&Talk::answer, "The answer to " + talk.question);
  });
  graph.edge(start, "answer").edge("answer", end);
  return value_or_exit(std::move(graph).build());
}

class Conversations {
 public:
  Conversations(World& world, Store& store)
      : world_(world),
        store_(store),
        graph_(talk_graph()),
        runtime_(world.runtime(store, graph_)) {}

  void say(const std::string& thread, int number) {
    StartOptions options;
    options.thread = ThreadId(thread);
    Talk talk;
    talk.question = "question " + std::to_string(number);
    talk.turns = 1;
    RunView view =
        value_or_exit(block_on(*world_.loop, runtime_->start(graph_, std::move(talk), options)));
    if (view.row.status != RunStatus::completed) exit_with("A run did not complete.");
    last_ = view;
  }
  // Microseconds of one run of each thread.
  double say_on_all(int number) {
    Span span;
    for (int i = 0; i < threads; ++i) say("thread " + std::to_string(i), number);
    span.stop();
    return span.seconds * 1e6 / threads;
  }
  double next_runs(const std::string& thread, int first) {
    Span span;
    for (int i = 0; i < repeats; ++i) say(thread, first + i);
    span.stop();
    if (last_.state["turns"] != Value(first + repeats)) exit_with("A turn is missing.");
    return span.seconds * 1e6 / repeats;
  }
  double lists(const std::string& thread) {
    return of_each([&] {
      std::function<Result<std::vector<RunRow>>(Snapshot&)> reader = [&](Snapshot& view) {
        RunFilter filter;
        filter.tenant = default_tenant();
        filter.thread = ThreadId(thread);
        filter.limit = 10;
        return view.runs(filter);
      };
      auto rows = value_or_exit(
          block_on(*world_.loop, read<std::vector<RunRow>>(store_, std::move(reader))));
      if (rows.size() != 10) exit_with("The list is short.");
    });
  }
  double reads(const std::string& thread) {
    return of_each([&] {
      value_or_exit(block_on(*world_.loop, runtime_->status(default_tenant(), ThreadId(thread))));
    });
  }
  double forks(const std::string& thread) {
    return of_each([&] {
      ForkOptions options;
      options.from = ThreadId(thread);
      value_or_exit(block_on(*world_.loop, runtime_->fork(options)));
    });
  }

 private:
  template <typename Work>
  static double of_each(Work work) {
    Span span;
    for (int i = 0; i < repeats; ++i) work();
    span.stop();
    return span.seconds * 1e6 / repeats;
  }

  World& world_;
  Store& store_;
  Graph<Talk> graph_;
  std::unique_ptr<Runtime> runtime_;
  RunView last_;
};

std::uint64_t bytes_of(Store& store) { return value_or_exit(store.statistics()).bytes; }

}  // namespace

int main(int count, char** arguments) {
  Options options = options_from(count, arguments);
  Workplace place(options.directory);
  World world;
  auto store =
      value_or_exit(open_sqlite_store(place.path + "/talk.db", *world.clock, *world.random));
  Conversations talks(world, *store);
  std::printf("%s\n\n", description().c_str());

  std::printf("%d threads, microseconds and bytes of each run:\n\n| run | time | bytes |\n",
              threads);
  std::printf("|---|---|---|\n");
  std::vector<double> times;
  for (int number = 1; number <= 4; ++number) {
    std::uint64_t before = bytes_of(*store);
    times.push_back(talks.say_on_all(number));
    std::printf("| %d | %.0f | %.0f |\n", number, times.back(),
                static_cast<double>(bytes_of(*store) - before) / threads);
  }
  std::printf("\nratio to the first run: second %.2f, third %.2f, fourth %.2f\n",
              times[1] / times[0], times[2] / times[0], times[3] / times[0]);

  std::printf("\nThreads of different lengths, microseconds:\n\n");
  std::printf("| runs | next run | list of 10 | read of the newest | fork of the newest |\n");
  std::printf("|---|---|---|---|---|\n");
  int said = 0;
  for (int length : {runs_of_short_thread, runs_of_long_thread}) {
    for (; said < length; ++said) talks.say("long", said);
    double next = talks.next_runs("long", said);
    said += repeats;
    double list = talks.lists("long");
    double read = talks.reads("long");
    double fork = talks.forks("long");
    std::printf("| %d | %.0f | %.0f | %.0f | %.0f |\n", said, next, list, read, fork);
  }
}
