// A third-party program: five graphs, one of them over a JSON object, no model, a thread that is
// started before belay::main, and belay::main.

#include <unistd.h>

#include <belay/belay.hpp>
#include <thread>

namespace {

using namespace belay;

struct Address {
  std::string street{};
  int number = 0;
};

struct Order {
  std::string item{};
  int count = 1;
  std::vector<std::string> notes{};
  std::optional<double> limit{};
  Address address{};
  std::string receipt{};
};

Update<Order> buy(const Order& order, Context& context) {
  context.outcome("bought");
  context.publish("parcels", Value(order.item));
  return set(&Order::receipt, std::to_string(order.count) + " x " + order.item);
}

Result<Graph<Order>> order_graph() {
  GraphBuilder<Order> graph{"order"};
  graph.approval("confirm", &Order::item, {.question = "Buy it?"}).approved("buy").rejected(end);
  graph.node("buy", buy);
  graph.edge(start, "confirm").edge("buy", end);
  return std::move(graph).build();
}

struct Question {
  std::string text{};
  std::string answer{};
};

Task<Update<Question>> ask(const Question& question, Context& context) {
  auto answer = (co_await context.model().complete(question.text)).value();
  co_return set(&Question::answer, answer);
}

Result<Graph<Question>> question_graph() {
  GraphBuilder<Question> graph{"question"};
  graph.node("ask", ask);
  graph.edge(start, "ask").edge("ask", end);
  return std::move(graph).build();
}

// Mistakes that the compiler would find for a struct are found by the runs of a JSON graph.
Result<JsonGraph> errand_graph() {
  JsonGraphBuilder graph{"errand"};
  graph.channel("to", {.kind = JsonKind::string, .required = true});
  graph.channel("count", {.kind = JsonKind::integer, .default_value = Value(1)});
  graph.channel("stops", {.kind = JsonKind::array, .reducer = JsonReducer::append});
  graph.channel("note");
  graph.channel("agreed", {.kind = JsonKind::boolean});
  graph.approval("confirm", "to", {.question = "Go there?"})
      .decision_flag("agreed")
      .approved("go")
      .rejected(end);
  graph.node("go", [](const Value& errand, Context& context) {
    context.outcome("went");
    if (errand["to"] == Value("nowhere")) return set("count", "none");
    return append("stops", errand["to"]).append("stops", errand["count"]);
  });
  graph.edge(start, "confirm").edge("go", end);
  return std::move(graph).build();
}

// A node that takes the time in its input (negative: forever, and without releasing its
// thread), and a node after it.
struct Journey {
  int seconds = 1;
  std::vector<std::string> seen{};
};

Task<Update<Journey>> travel(const Journey& journey, Context& context) {
  auto drive = [&journey]() -> Task<Result<int>> {
    while (journey.seconds < 0) ::pause();
    co_await sleep_for(std::chrono::seconds(journey.seconds));
    co_return journey.seconds;
  };
  EffectOptions options;
  auto driven = co_await context.unkeyed_effect("drive", std::move(options), drive);
  co_return append(&Journey::seen, "drove " + std::to_string(driven.value_or(0)));
}

Result<Graph<Journey>> journey_graph() {
  GraphBuilder<Journey> graph{"journey"};
  graph.node("travel", travel);
  graph.node("arrive",
             [](const Journey&, Context&) { return append(&Journey::seen, std::string("there")); });
  graph.edge(start, "travel").edge("travel", "arrive").edge("arrive", end);
  return std::move(graph).build();
}

// Only a lawyer or the chief may approve it.
Result<Graph<Order>> contract_graph() {
  GraphBuilder<Order> graph{"contract"};
  graph.approval("sign", &Order::item, {.question = "Sign it?", .roles = {"lawyer", "chief"}})
      .approved("buy")
      .rejected(end);
  graph.node("buy", buy);
  graph.edge(start, "sign").edge("buy", end);
  return std::move(graph).build();
}

Result<Graph<Question>> broken_graph() {
  GraphBuilder<Question> graph{"broken"};
  graph.node("ask", ask);
  return std::move(graph).build();
}

Task<Result<Done>> send_parcel(OutboxMessage message) {
  if (message.body == Value("a cat")) {
    co_return error(ErrorCode::unavailable, "Cats are not sent by post.");
  }
  co_return Done{};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && argv[1] == std::string_view("broken")) {
    return belay::main(argc, argv, broken_graph());
  }
  if (argc > 1 && argv[1] == std::string_view("scheduled")) {
    std::vector<Module> modules(1);
    modules[0].name = "journeys";
    modules[0].graphs = [](const ModuleSettings&) -> Result<Definitions> {
      return Definitions{journey_graph().value().definition()};
    };
    modules[0].schedules = {{.name = "journey",
                             .graph = "journey",
                             .every = std::chrono::seconds(1),
                             .input = Value::object({{"seconds", 0}})}};
    return belay::main(argc - 1, argv + 1, {.name = "shop"}, std::move(modules));
  }
  MainOptions options;
  options.name = "shop";
  options.receivers["parcels"] = send_parcel;
  // A library that the program uses might start one: signals may be delivered to it.
  std::thread([] {
    while (true) ::pause();
  }).detach();
  return belay::main(argc, argv, options, order_graph().value(), question_graph(), errand_graph(),
                     journey_graph(), contract_graph());
}
