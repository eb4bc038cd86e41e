// An agent with tools: a model that requests calls, receives their results, and answers. The second
// tool has an effect outside; its receiver recognises a call that is repeated after a crash by its
// key.
//
//     $ 04_tools run --thread first --input question="Do I need an umbrella in Oslo?"

#include <belay/testing.h>
#include <belay/belay.hpp>
#include <string>

using namespace belay;

struct Place {
  std::string place{};
  static void describe(Described<Place>& arguments) {
    arguments.member(&Place::place).text("A city").length(1, 80);
  }
};

Tool weather() {
  return make_tool<Place>({.name = "weather",
                           .description = "Returns the weather of a city.",
                           .effect = ToolEffect::reads},
                          [](const Place& in, ToolContext&) { return "rain in " + in.place; });
}

Tool order_umbrella() {
  return make_tool<Place>({.name = "order_umbrella",
                           .description = "Orders an umbrella, delivered to a city.",
                           .effect = ToolEffect::keyed},
                          [](const Place& in, ToolContext& call) -> Result<std::string> {
                            if (call.key().empty()) {
                              return error(ErrorCode::invalid, "An order needs a key.");
                            }
                            return "an umbrella is on its way to " + in.place;
                          });
}

struct Chat {
  std::string question{};
  std::string answer{};
};

Result<Graph<Chat>> chat_graph() {
  AgentOptions options;
  options.prompt = "You answer questions about the weather.";
  options.tools = {weather(), order_umbrella()};
  GraphBuilder<Chat> graph{"chat"};
  graph.agent("ask", options, &Chat::question, &Chat::answer);
  graph.edge(start, "ask").edge("ask", end);
  return std::move(graph).build();
}

int main(int argc, char** argv) {
  Value oslo = Value::object({{"place", "Oslo"}});
  MainOptions options;
  options.model = std::make_shared<testing::ScriptedModel>(  // replaces a language model
      testing::calls({{"1", "weather", oslo}})
          .calls({{"2", "order_umbrella", oslo}})
          .replies("Yes: it rains there. One is on its way."));
  return belay::main(argc, argv, options, chat_graph());
}
