// A subgraph: a graph as one node of another graph, with its own state. The outer graph defines the
// mapping of its input and its output.
//
//     $ 06_subgraph run --thread first --input text="we was here"
//     $ 06_subgraph run --thread second --input text="Nothing to object to."

#include <belay/belay.hpp>
#include <cctype>
#include <string>
#include <vector>

using namespace belay;

// The state of the subgraph, which is independent of letters.
struct Review {
  std::string text{};
  std::vector<std::string> objections{};
};

Update<Review> check_grammar(const Review& review, Context&) {
  if (review.text.find("we was") == std::string::npos) return unchanged<Review>();
  return append(&Review::objections, "we were, not we was");
}

Update<Review> check_style(const Review& review, Context&) {
  bool begins_large = std::isupper(static_cast<unsigned char>(review.text.at(0))) != 0;
  if (begins_large) return unchanged<Review>();
  return append(&Review::objections, "begin with a capital letter");
}

Result<Graph<Review>> review_graph() {
  GraphBuilder<Review> graph{"review"};
  graph.node("grammar", check_grammar);
  graph.node("style", check_style);
  graph.edge(start, "grammar").edge("grammar", "style").edge("style", end);
  return std::move(graph).build();
}

struct Letter {
  std::string text{};
  std::vector<std::string> remarks{};
};

Review review_of(const Letter& letter) { return Review{letter.text, {}}; }

Update<Letter> remarks_of(const Review& review) { return set(&Letter::remarks, review.objections); }

Result<Graph<Letter>> letter_graph() {
  BELAY_TRY(auto review, review_graph());
  GraphBuilder<Letter> graph{"letter"};
  graph.subgraph("review", review, review_of, remarks_of);
  graph.node("close", [](const Letter& letter, Context& context) {
    context.outcome(letter.remarks.empty() ? "accepted" : "sent_back");
    return unchanged<Letter>();
  });
  graph.edge(start, "review").edge("review", "close").edge("close", end);
  return std::move(graph).build();
}

int main(int argc, char** argv) { return belay::main(argc, argv, letter_graph()); }
