// Counts down, one durable node at a time, and requests an approval before the end.

#include <belay/belay.hpp>
#include <iostream>
#include <memory>
#include <string>

using namespace belay;

struct Countdown {
  int left = 3;
  std::string said{};
};

Update<Countdown> count(const Countdown& countdown, Context&) {
  std::string text = countdown.said + std::to_string(countdown.left) + " ";
  return set(&Countdown::said, text).add(&Countdown::left, -1);
}

Result<Graph<Countdown>> countdown_graph() {
  GraphBuilder<Countdown> graph{"countdown"};
  graph.node("count", count);
  graph.approval("launch", &Countdown::said, {.question = "Launch?"}).approved(end).rejected(end);
  graph.edge(start, "count");
  graph.branch("count", [](const Countdown& state) { return state.left > 0; }, {"launch", "count"});
  return std::move(graph).build();
}

// The library inside a program, without the command line.
int embed() {
  auto belay = belay::open("memory:").value();
  auto graph = countdown_graph().value();
  belay->add(graph);
  RunView run = belay->run(graph, Countdown{}).value();
  std::cout << "embedded: " << name_of(run.row.status) << "\n";
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "embed") return embed();
  return belay::main(argc, argv, countdown_graph());
}
