// Time travel: forks a run with another discount. A preview reports the nodes that the fork would
// repeat and the effects that have happened; the fork is a separate run. A replay executes the
// first run again from its journal, mails nothing, and reports the first divergence of new code.
//
//     $ 10_time_travel

#include <belay/testing.h>
#include <belay/belay.hpp>
#include <iostream>
#include <string>

using namespace belay;

struct Sale {
  std::string item{};
  int price = 0;
  int discount = 10;  // in percent
  std::string offer{};
};

Update<Sale> look_up(const Sale& sale, Context&) {
  return set(&Sale::price, static_cast<int>(sale.item.size()) * 100);
}

Update<Sale> write_offer(const Sale& sale, Context&) {
  int price = sale.price * (100 - sale.discount) / 100;
  return set(&Sale::offer, "A " + sale.item + " for " + std::to_string(price) + ".");
}

Update<Sale> mail_offer(const Sale& sale, Context& context) {
  context.keyed_effect("mail", [&] {
    std::cout << "mailed: " << sale.offer << "\n";
    return true;
  });
  return unchanged<Sale>();
}

Update<Sale> write_short_offer(const Sale& sale, Context&) {
  return set(&Sale::offer, sale.item + ", " + std::to_string(sale.discount) + "% off");
}

Result<Graph<Sale>> sale_graph(auto write) {
  GraphBuilder<Sale> graph{"sale"};
  graph.node("look_up", look_up);
  graph.node("write_offer", write);
  graph.node("mail_offer", mail_offer);
  graph.edge(start, "look_up").edge("look_up", "write_offer");
  graph.edge("write_offer", "mail_offer").edge("mail_offer", end);
  return std::move(graph).build();
}

void tell(const ReplayReport& report) {
  std::cout << "replayed: " << report.matching_commits << " commits are the same\n";
  if (auto& now = report.divergence) std::cout << now->node << " made " << now->replayed << "\n";
}

int main() {
  testing::SimulatedClock clock{*instant_from("2026-03-02T18:00:00Z")};
  testing::SimulatedLoop loop{clock};
  testing::SeededRandom random{1};
  testing::ScriptedModel no_model;
  auto store = open_store("memory:", clock, random).value();
  auto runtime = Runtime::open({*store, loop, clock, random, no_model}).value();
  auto graph = sale_graph(write_offer).value();
  runtime->add(graph);
  block_on(loop, runtime->start(graph, {.item = "chair"}, {.thread = ThreadId("first")})).value();

  // Fork after the second commit: the price is known, the offer is not written.
  ForkOptions fork{.from = ThreadId("first"), .seq = 2, .thread = ThreadId("second")};
  auto preview = block_on(loop, runtime->preview(fork)).value();
  for (const auto& node : preview.repeated_nodes) std::cout << "would run again: " << node << "\n";
  for (const auto& effect : preview.effects) std::cout << "has happened: " << effect.name << "\n";

  fork.edits = Value::object({{"discount", 25}});
  auto forked = block_on(loop, runtime->fork(fork)).value();
  std::cout << "the fork: " << to_json(forked.state) << "\n";
  tell(block_on(loop, runtime->replay({.thread = fork.from})).value());
  runtime->add(sale_graph(write_short_offer).value());
  tell(block_on(loop, runtime->replay({.thread = fork.from})).value());
}
