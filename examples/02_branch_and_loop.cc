// Guesses a number by binary search: a branch, and a loop that ends when the number is found.
//
//     $ 02_branch_and_loop run --thread first --input secret=42
//     $ 02_branch_and_loop agents graph guessing --format text

#include <belay/belay.hpp>
#include <vector>

using namespace belay;

struct Guessing {
  int secret = 1;  // from 1 to 100
  int low = 1;
  int high = 100;
  std::vector<int> guesses{};
};

Update<Guessing> guess(const Guessing& game, Context&) {
  return append(&Guessing::guesses, (game.low + game.high) / 2);
}

Update<Guessing> learn(const Guessing& game, Context&) {
  int last = game.guesses.back();
  if (last < game.secret) return set(&Guessing::low, last + 1);
  return set(&Guessing::high, last - 1);
}

bool is_found(const Guessing& game) { return game.guesses.back() == game.secret; }

Result<Graph<Guessing>> guessing_graph() {
  GraphBuilder<Guessing> graph{"guessing"};
  graph.node("guess", guess);
  graph.node("learn", learn);
  graph.edge(start, "guess");
  // A bool selects one of two targets: {if false, if true}. The selection is committed together
  // with the node: neither a restart nor a new version of the program repeats it.
  graph.branch("guess", is_found, {"learn", end});
  graph.edge("learn", "guess");
  return std::move(graph).build();
}

int main(int argc, char** argv) { return belay::main(argc, argv, guessing_graph()); }
