// A program whose approvals have choices, a form, several deciders, or ask about an effect; and
// with a node whose model calls a tool.

#include <belay/belay.hpp>

namespace {

using namespace belay;

struct Letter {
  std::string text = "Dear Ana,\nit rains.\nBest";
  std::string told{};
};

struct Refund {
  int amount = 0;
  std::string reason{};
  std::optional<std::string> note{};
};

Update<Letter> tell(const Letter&, Context& context) {
  const ApprovalDecision* made = context.decision();
  std::string told =
      made ? made->choice + " by " + made->decided_by + ": " + made->comment : "none";
  return set(&Letter::told, std::move(told));
}

Result<Graph<Letter>> letter_graph() {
  GraphBuilder<Letter> graph{"letter"};
  graph.approval("review", &Letter::text, {.question = "Send it?", .expires = Expiry::never})
      .approved("send")
      .choice("rewrite", "send", "Write it again")
      .choice("drop", end);
  graph.node("send", tell);
  graph.edge(start, "review").edge("send", end);
  return std::move(graph).build();
}

Result<Graph<Letter>> refund_graph() {
  GraphBuilder<Letter> graph{"refund"};
  graph.approval("review", &Letter::text, {.question = "How much?"})
      .approved("pay")
      .rejected(end)
      .answer<Refund>();
  graph.node("pay", [](const Letter&, Context& context) {
    auto refund = context.decision()->answer_as<Refund>();
    return set(&Letter::told,
               std::to_string(refund.amount) + " for " + refund.reason + refund.note.value_or(""));
  });
  graph.edge(start, "review").edge("pay", end);
  return std::move(graph).build();
}

Result<Graph<Letter>> board_graph() {
  GraphBuilder<Letter> graph{"board"};
  graph.approval("vote", &Letter::text, {.question = "Agreed?"})
      .approved("send")
      .rejected(end)
      .choice("later", "send")
      .needs(2);
  graph.node("send", tell);
  graph.edge(start, "vote").edge("send", end);
  return std::move(graph).build();
}

// Sends the letter if no decision is made in time.
Result<Graph<Letter>> hasty_graph() {
  using std::chrono_literals::operator""ms;
  GraphBuilder<Letter> graph{"hasty"};
  graph
      .approval("review", &Letter::text,
                {.question = "Send it?", .expires = 200ms, .when_expired = "approve"})
      .approved("send")
      .rejected(end);
  graph.node("send", tell);
  graph.edge(start, "review").edge("send", end);
  return std::move(graph).build();
}

Result<Graph<Letter>> guarded_graph() {
  GraphBuilder<Letter> graph{"guarded"};
  graph.approval("sign", &Letter::text, {.question = "Sign it?", .roles = {"boss", "owner"}})
      .approved("send")
      .rejected(end);
  graph.node("send", tell);
  graph.edge(start, "sign").edge("send", end);
  return std::move(graph).build();
}

// The outcome of the effect remains unknown.
Result<Graph<Letter>> post_graph() {
  GraphBuilder<Letter> graph{"post"};
  graph.node("send", [](const Letter&, Context& context) {
    auto sent = context.unkeyed_effect("smtp", {}, []() -> Result<std::string> {
      return error(ErrorCode::uncertain, "The connection broke.");
    });
    return set(&Letter::told, sent ? "sent " + *sent : "not sent");
  });
  graph.edge(start, "send").edge("send", end);
  return std::move(graph).build();
}

// Calls a tool, and repeats its result.
class WeatherModel final : public Model {
 public:
  Task<Result<ModelReply>> generate(ModelRequest request) override {
    ModelReply reply;
    reply.method = "script";
    const Message& last = request.messages.back();
    if (last.role == Role::tool) reply.text = "It says: " + last.text;
    if (last.role != Role::tool) {
      reply.tool_calls = {{"c1", "weather", Value::object({{"city", "Oslo"}})}};
      reply.stop_reason = StopReason::tool_calls;
    }
    co_return std::move(reply);
  }
};

Task<Update<Letter>> look_outside(const Letter&, Context& context) {
  ModelRequest request;
  request.messages = {{Role::user, "The weather?"}};
  ModelReply first = (co_await context.model().generate(request)).value();
  std::string weather = context.keyed_effect("weather", [] { return std::string("rain"); });
  request.messages.push_back({Role::assistant, "", first.tool_calls});
  request.messages.push_back({Role::tool, weather, {}, "c1"});
  ModelReply second = (co_await context.model().generate(request)).value();
  co_return set(&Letter::told, second.text);
}

Result<Graph<Letter>> weather_graph() {
  GraphBuilder<Letter> graph{"weather"};
  graph.node("look", look_outside);
  graph.edge(start, "look").edge("look", end);
  return std::move(graph).build();
}

}  // namespace

int main(int argc, char** argv) {
  return belay::main(argc, argv, {.model = std::make_shared<WeatherModel>()}, letter_graph(),
                     refund_graph(), board_graph(), hasty_graph(), guarded_graph(), post_graph(),
                     weather_graph());
}
