// A program whose graph depends on LETTER_VERSION, as if it were built from different sources.

#include <belay/belay.hpp>
#include <cstdlib>

namespace {

using namespace belay;

JsonUpdate nothing(const Value&, Context&) { return JsonUpdate(); }

// "old"; "retried": other policies and texts; "hooked" and "bare": a channel of another type, with
// an upgrade and without; "short": the approval is gone; "strange": another program's graph;
// "strict": another model, a change that the graph refuses.
Result<JsonGraph> letter_graph(const std::string& version, const std::string& old_hash) {
  bool is_text = version == "hooked" || version == "bare";
  JsonGraphBuilder graph{version == "strange" ? "invoice" : "letter"};
  graph.channel("text", {.kind = JsonKind::string});
  graph.channel("pages", {.kind = is_text ? JsonKind::string : JsonKind::integer});
  graph.node("write", nothing).retry({.attempts = version == "retried" ? 9 : 2});
  std::string next = version == "short" ? "send" : "review";
  if (version != "short") {
    std::string question = version == "retried" ? "Really send it?" : "Send it?";
    graph.approval("review", "text", {.question = question}).approved("send").rejected(end);
  }
  graph.node("send", nothing);
  graph.material("model", version == "strict" ? "openai:large" : "openai:small");
  if (version == "strict") graph.on_changed_materials(MaterialChange::refuse, {"model"});
  graph.edge(start, "write").edge("write", next).edge("send", end);
  if (version == "hooked") {
    graph.upgrade_from(old_hash, [](Value state) -> Result<Value> {
      Value::Object converted = *state.as_object();
      converted["pages"] = to_json(converted["pages"]);
      return Value(std::move(converted));
    });
  }
  return std::move(graph).build();
}

}  // namespace

int main(int argc, char** argv) {
  const char* wanted = std::getenv("LETTER_VERSION");
  Result<JsonGraph> old = letter_graph("old", "");
  if (!old.ok()) return 70;
  std::string hash = to_hex(old->definition()->hash);
  return belay::main(argc, argv, letter_graph(wanted ? wanted : "old", hash));
}
