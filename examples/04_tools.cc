// A model that uses tools: it is called, requests a tool, and is called again with the result. Each
// tool call is a keyed effect: the receiver recognises a call that is repeated after a crash by its
// idempotency key.
//
//     $ 04_tools run --thread first --input question="Do I need an umbrella in Oslo?"

#include <belay/testing.h>
#include <belay/belay.hpp>
#include <string>
#include <vector>

using namespace belay;

struct Chat {
  std::string question{};
  std::vector<std::string> transcript{};
  Value wanted{};  // the tool that the model requests, with its arguments
  std::string answer{};
};

// The tools. Each receives the idempotency key of its call.
std::string call_tool(const Value& wanted, const std::string& key) {
  const std::string* tool = wanted["tool"].as_string();
  const std::string* place = wanted["place"].as_string();
  if (!tool || !place || key.empty()) return "error: a tool and a place are needed";
  if (*tool == "weather") return "rain in " + *place;
  if (*tool == "order_umbrella") return "an umbrella is on its way to " + *place;
  return "error: there is no tool " + *tool;
}

Task<Update<Chat>> think(const Chat& chat, Context& context) {
  std::string prompt = chat.question;
  for (const std::string& line : chat.transcript) prompt += "\n" + line;
  auto reply = (co_await context.model().complete(prompt)).value();
  Value said = parse_json(reply).value();
  const std::string* answer = said["answer"].as_string();
  co_return set(&Chat::answer, answer ? *answer : "").set(&Chat::wanted, said);
}

Update<Chat> act(const Chat& chat, Context& context) {
  std::string call = to_json(chat.wanted);
  auto result = context.keyed_effect(
      "tool", [&] { return call_tool(chat.wanted, context.idempotency_key("tool")); });
  return append(&Chat::transcript, call + " -> " + result);
}

Result<Graph<Chat>> chat_graph() {
  GraphBuilder<Chat> graph{"chat"};
  graph.node("think", think).retry({.attempts = 3});
  graph.node("act", act);
  graph.edge(start, "think").edge("act", "think");
  graph.branch("think", [](const Chat& chat) { return !chat.answer.empty(); }, {"act", end});
  return std::move(graph).build();
}

int main(int argc, char** argv) {
  MainOptions options;
  options.model = std::make_shared<testing::ScriptedModel>(  // replaces a language model
      testing::replies(R"({"tool": "weather", "place": "Oslo"})")
          .replies(R"({"tool": "order_umbrella", "place": "Oslo"})")
          .replies(R"({"answer": "Yes: it rains there. One is on its way."})"));
  return belay::main(argc, argv, options, chat_graph());
}
