// Asks for an approval before it publishes. The process that asks ends; days later another process
// records the decision and the edited payload.
//
//     $ 03_approval run --thread first --input topic=rain
//     $ echo '"At last: rain."' >better.json
//     $ 03_approval approvals approve first --by ana --edit better.json
//     $ 03_approval approvals approve first --by ben

#include <belay/belay.hpp>
#include <string>

using namespace belay;
using namespace std::chrono_literals;

struct Post {
  std::string topic{};
  std::string text{};
  bool published = false;
};

Update<Post> write(const Post& post, Context&) {
  return set(&Post::text, "It is about " + post.topic + ".");
}

Update<Post> publish(const Post&, Context& context) {
  context.outcome("published");
  return set(&Post::published, true);
}

Result<Graph<Post>> post_graph() {
  GraphBuilder<Post> graph{"post"};
  graph.node("write", write);
  // An approval is a node: it shows the member and waits without a process; no node executes twice.
  graph.approval("review", &Post::text, {.question = "Publish this?", .expires = 72h})
      .when([](const Post& post) { return post.topic != "weather"; })
      .approved("publish")
      .rejected(end);
  graph.node("publish", publish);
  graph.edge(start, "write").edge("write", "review").edge("publish", end);
  return std::move(graph).build();
}

int main(int argc, char** argv) { return belay::main(argc, argv, post_graph()); }
