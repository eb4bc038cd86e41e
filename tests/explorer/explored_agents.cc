#include "tests/explorer/explored_agents.h"

namespace belay::explorer {
namespace {

auto logs(std::string name) {
  return [name](const Letter&, Context&) { return append(&Letter::log, name); };
}

Update<Letter> draft(const Letter&, Context&) {
  return set(&Letter::text, std::string("Dear all")).append(&Letter::log, std::string("draft"));
}

Task<Update<Letter>> check_until(Task<Done> end) {
  co_await end;
  co_return append(&Letter::log, std::string("check"));
}

Update<Letter> send(const Letter& letter, Context& context) {
  context.save(Sent{letter.text});
  context.outcome("sent");
  return append(&Letter::log, std::string("send"));
}

}  // namespace

Graph<Letter> one_after_another() {
  GraphBuilder<Letter> graph{"letter"};
  graph.one_run_per_thread();
  graph.node("draft", draft);
  graph.node("check", logs("check"));
  graph.approval("review", &Letter::text, {.question = "Send it?"})
      .approved("send")
      .rejected(end)
      .decision_flag(&Letter::approved);
  graph.node("send", send);
  graph.edge(start, "draft").edge("draft", "check").edge("check", "review").edge("send", end);
  return std::move(graph).build().value();
}

Graph<Letter> side_by_side(const NodeWait& wait) {
  GraphBuilder<Letter> graph{"letter"};
  graph.one_run_per_thread();
  graph.node("draft", draft);
  graph.node("check", [&wait](const Letter&, Context&) { return check_until(wait("check")); });
  graph.approval("review", &Letter::text, {.question = "Send it?"})
      .approved("send")
      .rejected(end)
      .decision_flag(&Letter::approved);
  graph.node("send", send);
  graph.edge(start, "draft").edge("draft", "check").edge("draft", "review");
  graph.edge("check", end).edge("send", end);
  return std::move(graph).build().value();
}

Graph<Letter> turn_by_turn() {
  GraphBuilder<Letter> graph{"letter"};
  graph.accumulate(&Letter::log);
  graph.node("draft", draft);
  graph.edge(start, "draft").edge("draft", end);
  return std::move(graph).build().value();
}

}  // namespace belay::explorer
