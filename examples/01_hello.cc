// A first agent: a durable run with one node.
//
//     $ 01_hello run --thread first --input name=Ada
//     $ 01_hello history first

#include <belay/belay.hpp>
#include <string>

using namespace belay;

// The state of a run is a plain struct. Each member is a channel, stored when it changes.
struct Hello {
  std::string name = "world";
  std::string greeting{};
};

// A node reads the state and returns an update.
Update<Hello> greet(const Hello& hello, Context&) {
  return set(&Hello::greeting, "Hello, " + hello.name + "!");
}

// build() checks the graph as a whole: its error lists every fault, each with a remedy.
Result<Graph<Hello>> hello_graph() {
  GraphBuilder<Hello> graph{"hello"};
  graph.node("greet", greet);
  graph.edge(start, "greet").edge("greet", end);
  return std::move(graph).build();
}

// The program is its own command line, on a SQLite file.
int main(int argc, char** argv) { return belay::main(argc, argv, hello_graph()); }
