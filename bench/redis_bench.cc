// Measures reading the state of a paused run from the SQLite file, and with its values from Redis.
// Start a Redis before: redis-server --port 6399 --save "" --bind 127.0.0.1; then
//     redis_bench redis://127.0.0.1:6399

#include <algorithm>
#include <cstdio>
#include <vector>

#include "belay/runtime.h"
#include "belay/testing.h"
#include "bench/machine.h"
#include "bench/options.h"
#include "redis/cached_store.h"

namespace {

using namespace belay;

constexpr int channels = 16;
constexpr int reads = 300;

struct Papers {
  std::map<std::string, std::string> a{}, b{}, c{}, d{};
};

// Builds a graph whose run makes some commits and pauses for an approval, with about `bytes` bytes
// of state.
Graph<Papers> papers_graph(std::size_t bytes) {
  GraphBuilder<Papers> graph{"papers"};
  graph.node("write", [bytes](const Papers&, Context&) {
    Papers made;
    for (int i = 0; i < channels / 4; ++i) {
      std::string name = "page " + std::to_string(i);
      std::string page(bytes / channels, static_cast<char>('a' + i));
      made.a[name] = made.b[name] = made.c[name] = made.d[name] = page;
    }
    return set(&Papers::a, made.a)
        .set(&Papers::b, made.b)
        .set(&Papers::c, made.c)
        .set(&Papers::d, made.d);
  });
  graph.approval("keep", &Papers::a, {.question = "Keep them?"}).approved(end).rejected(end);
  graph.edge(start, "write").edge("write", "keep");
  return std::move(graph).build().value();
}

// Returns the median time of reading the run's state, in microseconds.
double median_look(EventLoop& loop, Runtime& runtime, const ThreadId& thread) {
  std::vector<double> took;
  for (int i = 0; i < reads; ++i) {
    double began = bench::wall_seconds();
    auto view = block_on(loop, runtime.status(default_tenant(), thread));
    took.push_back((bench::wall_seconds() - began) * 1e6);
    if (!view.ok()) std::printf("%s\n", view.error().message.c_str());
  }
  return bench::median(std::move(took));
}

void measure(Store& bare, redis::Client& client, std::size_t bytes) {
  auto clock = system_clock();
  auto random = system_random();
  auto loop = make_event_loop();
  testing::ScriptedModel model;
  auto cached = redis::cache_store(bare, client);
  auto graph = papers_graph(bytes);
  std::vector<double> took;
  StartOptions options;
  options.thread = ThreadId("papers-" + std::to_string(bytes));
  for (Store* store : {cached.get(), &bare}) {
    auto runtime = Runtime::open({*store, *loop, *clock, *random, model}).value();
    runtime->add(graph);
    // The first call starts the run, the second one finds it.
    auto begun = block_on(*loop, runtime->start(graph, Papers{}, options));
    if (!begun.ok()) std::printf("%s\n", begun.error().message.c_str());
    took.push_back(median_look(*loop, *runtime, options.thread));
  }
  auto counts = redis::cache_counts(*cached);
  double share = 100.0 * static_cast<double>(counts.hits) /
                 static_cast<double>(std::max<std::uint64_t>(counts.hits + counts.misses, 1));
  std::printf("| %zu KB | %.0f us | %.0f us | %.0f %% |\n", bytes >> 10, took[1], took[0], share);
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  auto address = redis::address_from(count > 1 ? arguments[1] : "");
  if (!address.ok()) {
    std::printf("%s\n", address.error().message.c_str());
    return 2;
  }
  auto random = system_random();
  auto clock = system_clock();
  redis::ClientOptions options;
  options.link.address = *address;
  options.prefix = "belay-bench:";
  redis::Client client(std::move(options), *random);
  if (!client.wait_until_up(std::chrono::milliseconds(1'000))) {
    std::printf("%s\n", client.trouble().c_str());
    return 1;
  }
  bench::Workplace workplace("");
  auto store = open_sqlite_store(workplace.path + "/store.db", *clock, *random).value();
  std::printf("| state | SQLite alone | values from Redis | found there |\n|---|---|---|---|\n");
  for (std::size_t bytes : {1u << 10, 16u << 10, 256u << 10}) measure(*store, client, bytes);
  return 0;
}
