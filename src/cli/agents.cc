// `belay agents`: lists, shows and draws the graphs of the program, or of a server; opens no store.

#include "belay/command.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/count_text.h"
#include "cli/process_context.h"
#include "cli/suggestions.h"
#include "service/json_encode.h"

namespace belay::cli {
namespace {

constexpr const char* kAgentsHelp =
    R"(Opens no store.

Examples:
  {p} agents list
  {p} agents show NAME
  {p} agents graph NAME --format mermaid
  {p} agents graph NAME --format dot | dot -Tsvg -o graph.svg
)";

Result<const GraphDefinition*> find_agent(const Definitions& graphs, const std::string& name) {
  std::vector<std::string> known;
  for (const auto& graph : graphs) {
    if (graph->name == name) return graph.get();
    known.push_back(graph->name);
  }
  return error(ErrorCode::not_found,
               "Unknown agent \"" + shortened(name, 60, "...") + "\"." + did_you_mean(name, known));
}

// Prints a text of several lines as lines of the result. Names are data and must not control the
// terminal.
void show_lines(Output& output, std::string_view text, std::string_view indent) {
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    output.line(std::string(indent) + one_line(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string drawn(const GraphDefinition& graph, const std::string& format) {
  if (format == "mermaid") return to_mermaid(graph);
  if (format == "dot") return to_dot(graph);
  return to_outline(graph);
}

class AgentsCommand : public ProcessCommand {
 public:
  CommandResult run_in_process(const ProcessContext& context) final {
    BELAY_TRY(Definitions graphs, context.program.graphs(context.settings));
    return show(graphs, context.output);
  }
  Task<CommandResult> run(CommandContext& world) final {
    co_return show(world.graphs, world.output);
  }

 private:
  virtual CommandResult show(const Definitions& graphs, Output& output) = 0;
};

class AgentsListCommand final : public AgentsCommand {
  CommandResult show(const Definitions& graphs, Output& output) override {
    std::size_t width = 0;
    for (const auto& graph : graphs) width = std::max(width, columns(graph->name));
    Value::Array documents;
    for (const auto& graph : graphs) {
      std::size_t approvals = 0;
      for (const GraphDefinition::Node& node : graph->nodes) approvals += node.approval ? 1 : 0;
      output.line(output.styled(Style::bold, padded(one_line(graph->name), width)) + "  " +
                  count_text(graph->nodes.size(), "node") + ", " +
                  count_text(approvals, "approval"));
      documents.push_back(agent_document(*graph));
    }
    output.document(Value::object({{"agents", std::move(documents)}}));
    return ExitCode::done;
  }
};

class AgentsShowCommand final : public AgentsCommand {
 public:
  void declare(CommandWords& words) override {
    words.argument("NAME", name_, "The agent").required().completes(NamesToComplete::agents);
  }

 private:
  CommandResult show(const Definitions& graphs, Output& output) override {
    BELAY_TRY(const GraphDefinition* graph, find_agent(graphs, name_));
    output.line(output.styled(Style::bold, one_line(graph->name)) + "  (graph " +
                to_hex(graph->hash).substr(0, 12) + ")");
    std::string channels;
    for (const ChannelType& channel : graph->state->channels) {
      channels += (channels.empty() ? "" : ", ") + std::string(channel.name);
      if (!channel.declaration.empty()) channels += " (" + channel.declaration + ")";
    }
    output.paragraph("State: " + channels, "  ");
    output.line();
    show_lines(output, to_outline(*graph), "  ");
    output.document(agent_document(*graph));
    return ExitCode::done;
  }

  std::string name_;
};

class AgentsGraphCommand final : public AgentsCommand {
 public:
  void declare(CommandWords& words) override {
    words.argument("NAME", name_, "The agent").required().completes(NamesToComplete::agents);
    words.option("--format", format_, "mermaid, dot (Graphviz) or text")
        .choices({"mermaid", "dot", "text"})
        .shows_default();
  }

 private:
  CommandResult show(const Definitions& graphs, Output& output) override {
    BELAY_TRY(const GraphDefinition* graph, find_agent(graphs, name_));
    std::string picture = drawn(*graph, format_);
    show_lines(output, picture, "");
    output.document(
        Value::object({{"name", graph->name}, {"format", format_}, {"graph", std::move(picture)}}));
    return ExitCode::done;
  }

  std::string name_;
  std::string format_ = "text";
};

constexpr CommandTraits kAgentsTraits{
    .uses_server_agents = true, .asks_server = true, .uses_named_servers = false};

}  // namespace

CommandSpec builtin::agents_command(const Program&) {
  return {.path = {"agents"}, .line = "List, show and draw the agents", .end = kAgentsHelp};
}

CommandSpec builtin::agents_list_command(const Program&) {
  return {.path = {"agents", "list"},
          .line = "List the agents",
          .end = kAgentsHelp,
          .traits = kAgentsTraits,
          .make = make_command<AgentsListCommand>};
}

CommandSpec builtin::agents_show_command(const Program&) {
  return {.path = {"agents", "show"},
          .line = "Show an agent's state and nodes",
          .end = kAgentsHelp,
          .traits = kAgentsTraits,
          .make = make_command<AgentsShowCommand>};
}

CommandSpec builtin::agents_graph_command(const Program&) {
  return {.path = {"agents", "graph"},
          .line = "Draw an agent's graph",
          .end = kAgentsHelp,
          .traits = kAgentsTraits,
          .make = make_command<AgentsGraphCommand>};
}

}  // namespace belay::cli
