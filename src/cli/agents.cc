#include "cli/agents.h"

#include "cli/count_text.h"
#include "cli/suggestions.h"
#include "service/json_encode.h"

namespace belay::cli {
namespace {

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

std::string drawn(const GraphDefinition& graph, AgentsGraph::Format format) {
  switch (format) {
    case AgentsGraph::Format::mermaid:
      return to_mermaid(graph);
    case AgentsGraph::Format::dot:
      return to_dot(graph);
    case AgentsGraph::Format::text:
      return to_outline(graph);
  }
  return "";
}

}  // namespace

Result<ExitCode> list_agents(const Definitions& graphs, Output& output) {
  std::size_t width = 0;
  for (const auto& graph : graphs) width = std::max(width, columns(graph->name));
  Value::Array documents;
  for (const auto& graph : graphs) {
    std::size_t approvals = 0;
    for (const GraphDefinition::Node& node : graph->nodes) approvals += node.approval ? 1 : 0;
    output.line(output.styled(Style::bold, padded(one_line(graph->name), width)) + "  " +
                count_text(graph->nodes.size(), "node") + ", " + count_text(approvals, "approval"));
    documents.push_back(agent_document(*graph));
  }
  output.document(Value::object({{"agents", std::move(documents)}}));
  return ExitCode::done;
}

Result<ExitCode> show_agent(const Definitions& graphs, const AgentsShow& wanted, Output& output) {
  BELAY_TRY(const GraphDefinition* graph, find_agent(graphs, wanted.name));
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

Result<ExitCode> draw_agent(const Definitions& graphs, const AgentsGraph& wanted, Output& output) {
  BELAY_TRY(const GraphDefinition* graph, find_agent(graphs, wanted.name));
  std::string picture = drawn(*graph, wanted.format);
  show_lines(output, picture, "");
  output.document(Value::object(
      {{"name", graph->name}, {"format", wanted.format_name}, {"graph", std::move(picture)}}));
  return ExitCode::done;
}

}  // namespace belay::cli
