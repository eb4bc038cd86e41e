#pragma once
// tests/support/deal_graph.h - an agent for tests of decisions by choice, through any protocol: an
// approval with choices and a form, a node that records the decision, and an effect whose first
// call has an unknown outcome.

#include "belay/approval.h"
#include "belay/graph.h"

namespace belay {

struct DealPrice {
  int amount = 0;
  std::string reason{};
};

struct Deal {
  std::string topic{};
  std::string told{};     // the decision on the terms, as the next node has read it
  std::string receipt{};  // of the effect
};

inline Update<Deal> note_terms(const Deal&, Context& context) {
  const ApprovalDecision* made = context.decision();
  if (!made) return set(&Deal::told, "nothing");
  auto price = made->answer_as<DealPrice>();
  return set(&Deal::told, made->choice + ": " + made->comment + ": " +
                              std::to_string(price.amount) + " for " + price.reason);
}

// `posted` counts the calls of the effect, and must outlive the graph.
inline Graph<Deal> deal_graph(int& posted) {
  GraphBuilder<Deal> graph{"deal"};
  graph.approval("terms", &Deal::topic, {.question = "Agree?", .expires = Expiry::never})
      .approved("note")
      .choice("change", "note", "Other terms")
      .rejected(end)
      .answer<DealPrice>();
  graph.node("note", note_terms);
  graph.node("post", [&posted](const Deal&, Context& context) {
    auto sent = context.unkeyed_effect("smtp", {}, [&posted]() -> Result<std::string> {
      if (++posted == 1) return error(ErrorCode::uncertain, "The connection broke.");
      return "receipt " + std::to_string(posted);
    });
    return set(&Deal::receipt, sent ? "sent " + *sent : std::string("not sent"));
  });
  graph.edge(start, "terms").edge("note", "post").edge("post", end);
  return std::move(graph).build().value();
}

// A reply that chooses other terms, and the text that the next node then records.
inline constexpr const char* deal_reply =
    R"({"choice":"change","comment":"cheaper","answer":{"amount":7,"reason":"rain"}})";
inline constexpr const char* deal_told = "change: cheaper: 7 for rain";

}  // namespace belay
