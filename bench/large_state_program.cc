// The program of held_bench: an agent with 2 MB of text in its state that makes 80 commits.

#include <belay/belay.hpp>

namespace {

using namespace belay;

constexpr std::size_t text_bytes = 2'000'000;
constexpr int commits = 80;

struct Load {
  std::string text{};
  int count = 0;
};

Result<Graph<Load>> load_graph() {
  GraphBuilder<Load> graph{"load"};
  graph.node("fill",
             [](const Load&, Context&) { return set(&Load::text, std::string(text_bytes, 'x')); });
  graph.node("count", [](const Load&, Context&) { return add(&Load::count, 1); });
  graph.edge(start, "fill").edge("fill", "count");
  graph.branch("count",
               [](const Load& load) {
                 return load.count < commits ? std::string("count") : std::string(end);
               },
               {"count", end});
  return std::move(graph).build();
}

}  // namespace

int main(int argc, char** argv) {
  MainOptions options;
  options.name = "load";
  return belay::main(argc, argv, options, load_graph());
}
