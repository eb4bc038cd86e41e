#include "bench/pages.h"

#include <cstdio>
#include <cstdlib>

#include "belay/testing.h"

namespace belay::bench {
namespace {

Update<Page> rewrite(const Page& page, Context&) {
  std::string text = page.text;
  text[static_cast<std::size_t>(page.visits) % text.size()] ^= 1;
  return set(&Page::text, std::move(text)).add(&Page::visits, 1);
}

Update<Page> count(const Page&, Context&) { return add(&Page::visits, 1); }

struct Line {
  Runtime& runtime;
  const Graph<Page>& graph;
  int left;  // runs that have not started
};

// Executes runs one after the other until none is left.
Task<Done> take_turns(Line& line) {
  while (line.left > 0) {
    --line.left;
    Page page = first_page();
    StartOptions options;
    auto run = line.runtime.start(line.graph, std::move(page), std::move(options));
    auto view = co_await run;
    if (!view.ok()) exit_with(view.error().message);
    bool rests = view->row.status == RunStatus::completed || view->row.status == RunStatus::paused;
    if (!rests) exit_with("A run came to an unexpected end: " + view->row.error);
  }
  co_return Done{};
}

}  // namespace

void exit_with(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

Page first_page() {
  static const Page page = [] {
    testing::SeededRandom random(1);
    Page made;
    made.title = "A page of a diary";
    while (made.text.size() < 1'000) {
      std::uint64_t bits = random.bits();
      made.text += static_cast<char>('a' + bits % 26);
      if (bits >> 60 == 0) made.text += ' ';
    }
    return made;
  }();
  return page;
}

Graph<Page> line_of_nodes(Writes writes) {
  GraphBuilder<Page> graph{"pages"};
  std::string last(start);
  for (int i = 1; i <= nodes_per_run; ++i) {
    std::string name = "node" + std::to_string(i);
    graph.node(name, writes == Writes::text ? rewrite : count);
    graph.edge(last, name);
    last = name;
  }
  graph.edge(last, end);
  return value_or_exit(std::move(graph).build());
}

Graph<Page> page_for_approval() {
  GraphBuilder<Page> graph{"approved pages"};
  graph.node("count", count);
  graph.approval("review", &Page::title, {.question = "May the title stand?"})
      .approved(end)
      .rejected(end);
  graph.edge(start, "count").edge("count", "review");
  return value_or_exit(std::move(graph).build());
}

void perform(EventLoop& loop, Runtime& runtime, const Graph<Page>& graph, int runs, int in_flight) {
  Line line{runtime, graph, runs};
  int going = in_flight;
  std::vector<Spawned> tasks(static_cast<std::size_t>(in_flight));
  loop.post([&] {
    for (Spawned& task : tasks) {
      task = spawn<Done>(loop, take_turns(line), [&](Done) {
        if (--going == 0) loop.stop();
      });
    }
  });
  loop.run();
}

std::unique_ptr<Runtime> World::runtime(Store& store) {
  return value_or_exit(Runtime::open(RuntimeParts{store, *loop, *clock, *random, model}));
}

}  // namespace belay::bench
