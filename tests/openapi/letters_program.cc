// A program with structs for everything that the description of its API has types for: inputs,
// states, approvals with answers, records, and the arguments of tools.

#include <belay/belay.hpp>

// Not in an unnamed namespace: the codec reads the names of the members.
namespace letters {

using namespace belay;

enum class Tone { formal, friendly };

struct Address {
  std::string name;
  std::optional<std::string> city;
};

struct Draft {
  std::string text;
  std::vector<std::string> enclosed;
};

struct Letter {
  std::string topic;
  Tone tone = Tone::formal;
  Address to;
  Draft draft;
  std::optional<std::int64_t> cents;
  std::int64_t versions = 0;
  bool sent = false;
};

// The answer that an approval of a letter needs.
struct Postage {
  std::int64_t cents = 0;
  std::optional<std::string> remark;
};

struct SentLetter {
  static constexpr std::string_view collection = "sent-letters";
  std::string id;
  Address to;
  std::string text;
  std::optional<std::int64_t> cents;
  std::string key() const { return id; }
  static auto indexed() { return std::tuple(); }
};

struct FindAddress {
  std::string name;
  std::int64_t most = 1;
  static void describe(Described<FindAddress>& about) {
    about.member(&FindAddress::name).text("The name of a person");
    about.member(&FindAddress::most).between(1, 10).optional();
  }
};

struct Greeting {
  std::string name = "you";
  std::string greeting;
};

namespace {

Update<Letter> write(const Letter& letter, Context&) {
  std::string begin = letter.tone == Tone::formal ? "Dear " : "Hello ";
  Draft draft{begin + letter.to.name + ", about " + letter.topic, {"map"}};
  return set(&Letter::draft, std::move(draft)).add(&Letter::versions, 1);
}

Update<Letter> send(const Letter& letter, Context& context) {
  Postage postage = context.decision()->answer_as<Postage>();
  context.save(SentLetter{context.run().text(), letter.to, letter.draft.text, postage.cents});
  return set(&Letter::cents, postage.cents).set(&Letter::sent, true);
}

Result<Graph<Letter>> letter_graph() {
  GraphBuilder<Letter> graph{"letter writer"};
  graph.node("write", write);
  graph.approval("review", &Letter::draft, {.question = "Send it?"})
      .answer<Postage>()
      .approved("send")
      .choice("rewrite", "write", "Write it again")
      .rejected(end);
  graph.node("send", send);
  graph.edge(start, "write").edge("write", "review").edge("send", end);
  return std::move(graph).build();
}

Result<Graph<Greeting>> greeting_graph() {
  GraphBuilder<Greeting> graph{"greeter"};
  graph.node("greet", [](const Greeting& state, Context&) {
    return set(&Greeting::greeting, "Hello, " + state.name + "!");
  });
  graph.edge(start, "greet").edge("greet", end);
  return std::move(graph).build();
}

// An agent whose state is a JSON object.
Result<JsonGraph> counting_graph() {
  JsonGraphBuilder graph{"counter"};
  graph.channel("from", {.kind = JsonKind::integer, .required = true});
  graph.channel("count", {.kind = JsonKind::integer});
  graph.node("count", [](const Value& state, Context&) {
    return set("count", state["from"].as_int().value_or(0) + 1);
  });
  graph.edge(start, "count").edge("count", end);
  return std::move(graph).build();
}

Result<Definitions> graphs(const ModuleSettings&) {
  BELAY_TRY(auto letter, letter_graph());
  BELAY_TRY(auto greeting, greeting_graph());
  BELAY_TRY(auto counting, counting_graph());
  return Definitions{letter.definition(), greeting.definition(), counting.definition()};
}

Task<Result<std::string>> find_address(const FindAddress& wanted, ToolContext&) {
  co_return wanted.name + ", Main Street 1";
}

Module module() {
  Module module;
  module.name = "letters";
  module.graphs = graphs;
  module.collections = {record_collection<SentLetter>()};
  ToolOptions options;
  options.name = "find_address";
  options.description = "Finds the address of a person.";
  options.effect = ToolEffect::reads;
  module.tools.push_back(make_tool<FindAddress>(std::move(options), find_address));
  return module;
}

}  // namespace
}  // namespace letters

int main(int argc, char** argv) {
  belay::MainOptions options;
  options.name = "letters";
  return belay::main(argc, argv, std::move(options), {letters::module()});
}
