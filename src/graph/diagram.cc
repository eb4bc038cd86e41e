// Draws graphs in three formats. All are written from one list of boxes and arrows, and therefore
// have the same content.

#include "belay/graph.h"

namespace belay {
namespace {

enum class Shape { terminal, node, approval };

struct Box {
  std::string id;  // within the diagram: names can contain characters that its syntax forbids
  std::string name;
  Shape shape = Shape::node;
  std::vector<std::string> notes;  // one line each
};

struct Arrow {
  std::string from, to;  // ids of boxes
  std::string label;
  bool chosen = false;  // a target of a branch
};

struct Picture {
  std::vector<Box> boxes;
  std::vector<Arrow> arrows;
};

std::string span_text(std::chrono::milliseconds span) {
  std::int64_t ms = span.count();
  for (auto [unit, length] : {std::pair<std::string_view, std::int64_t>("d", 86'400'000),
                              {"h", 3'600'000},
                              {"min", 60'000},
                              {"s", 1'000}}) {
    bool reads_well = ms >= length && ms % length == 0 && (unit != "d" || ms > length);
    if (reads_well) return std::to_string(ms / length) + " " + std::string(unit);
  }
  return std::to_string(ms) + " ms";
}

std::vector<std::string> notes_of(const GraphDefinition& graph, const GraphDefinition::Node& node) {
  std::vector<std::string> notes;
  if (node.approval) {
    const GraphDefinition::Approval& approval = *node.approval;
    std::string channel(graph.state->channels[approval.channel].name);
    notes.push_back((approval.when ? "may ask about " : "asks about ") + channel);
    bool expires = approval.options.expires != Expiry::never;
    notes.push_back(expires ? "expires after " + span_text(approval.options.expires)
                            : "never expires");
    if (approval.needs > 1) {
      notes.push_back("needs " + std::to_string(approval.needs) + " decisions");
    }
  }
  if (node.retry.attempts > 1) {
    notes.push_back(std::to_string(node.retry.attempts) + " attempts, waits " +
                    span_text(node.retry.base) + " to " + span_text(node.retry.cap));
  }
  if (node.timeout) notes.push_back("at most " + span_text(*node.timeout));
  if (node.subgraph) notes.push_back("the graph " + node.subgraph->graph->name);
  if (node.wait) notes.push_back("waits");
  if (node.interrupt_before) notes.push_back("pauses before it");
  if (node.interrupt_after) notes.push_back("pauses after it");
  return notes;
}

std::string id_of(const GraphDefinition& graph, std::string_view name) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].name == name) return "n" + std::to_string(i);
  }
  return name == start ? "begin" : "finish";  // "end" is a keyword of Mermaid
}

Picture picture_of(const GraphDefinition& graph) {
  Picture picture;
  picture.boxes.push_back({id_of(graph, start), std::string(start), Shape::terminal, {}});
  for (const GraphDefinition::Node& node : graph.nodes) {
    Shape shape = node.approval ? Shape::approval : Shape::node;
    picture.boxes.push_back({id_of(graph, node.name), node.name, shape, notes_of(graph, node)});
  }
  picture.boxes.push_back({id_of(graph, end), std::string(end), Shape::terminal, {}});

  auto arrow = [&](std::string_view from, std::string_view to, std::string label, bool chosen) {
    picture.arrows.push_back({id_of(graph, from), id_of(graph, to), std::move(label), chosen});
  };
  for (const std::string& entry : graph.entries) arrow(start, entry, "", false);
  for (const GraphDefinition::Node& node : graph.nodes) {
    if (node.approval) {
      const GraphDefinition::Approval& approval = *node.approval;
      auto leads = [&](std::string_view choice, std::string label) {
        std::string target = target_of(approval, choice);
        if (target.empty()) return;
        if (approval.options.when_expired == choice) label += " or expired";
        arrow(node.name, target, std::move(label), false);
      };
      leads("approve", approval.when ? "approved, or not asked" : "approved");
      leads("reject", "rejected");
      for (const auto& choice : approval.choices) leads(choice.name, choice.name);
    }
    for (const std::string& target : node.targets) {
      arrow(node.name, target, "", node.choose != nullptr);
    }
    for (const std::string& target : node.destinations) arrow(node.name, target, "", true);
  }
  for (const GraphDefinition::Join& join : graph.joins) {
    for (const std::string& from : join.from) arrow(from, join.to, "joins", false);
  }
  return picture;
}

// Escapes text for a quoted Mermaid label, whose entities begin with a number sign.
std::string in_mermaid(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    if (c == '#') {
      escaped += "#35;";
    } else if (c == '"') {
      escaped += "#quot;";
    } else if (c == '<') {
      escaped += "#lt;";
    } else if (c == '>') {
      escaped += "#gt;";
    } else if (c == '&') {
      escaped += "#amp;";
    } else if (c == '`') {
      escaped += "#96;";  // a backtick would begin a Markdown label
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// Escapes text for a quoted DOT string, where a backslash would begin an escape of a label.
std::string in_dot(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string mermaid_box(const Box& box) {
  std::string label = in_mermaid(box.name);
  for (const std::string& note : box.notes) label += "<br/>" + in_mermaid(note);
  switch (box.shape) {
    case Shape::terminal:
      return box.id + "([\"" + label + "\"])";
    case Shape::node:
      return box.id + "[\"" + label + "\"]";
    case Shape::approval:
      return box.id + "{{\"" + label + "\"}}";
  }
  return "";
}

std::string dot_box(const Box& box) {
  std::string label = in_dot(box.name);
  for (const std::string& note : box.notes) label += "\\n" + in_dot(note);
  std::string shape = "box";
  if (box.shape == Shape::terminal) shape = "oval";
  if (box.shape == Shape::approval) shape = "hexagon";
  return box.id + " [label=\"" + label + "\", shape=" + shape + "];";
}

}  // namespace

std::string to_mermaid(const GraphDefinition& graph) {
  Picture picture = picture_of(graph);
  std::string text = "flowchart TD\n";
  for (const Box& box : picture.boxes) text += "  " + mermaid_box(box) + "\n";
  for (const Arrow& arrow : picture.arrows) {
    std::string line = arrow.chosen ? " -.->" : " -->";
    std::string label = arrow.label.empty() ? "" : "|\"" + in_mermaid(arrow.label) + "\"|";
    text += "  " + arrow.from + line + label + " " + arrow.to + "\n";
  }
  return text;
}

std::string to_dot(const GraphDefinition& graph) {
  Picture picture = picture_of(graph);
  std::string text = "digraph \"" + in_dot(graph.name) + "\" {\n";
  for (const Box& box : picture.boxes) text += "  " + dot_box(box) + "\n";
  for (const Arrow& arrow : picture.arrows) {
    std::string options;
    if (!arrow.label.empty()) options = " [label=\"" + in_dot(arrow.label) + "\"]";
    if (arrow.chosen) options = " [style=dashed]";
    text += "  " + arrow.from + " -> " + arrow.to + options + ";\n";
  }
  return text + "}\n";
}

std::string to_outline(const GraphDefinition& graph) {
  Picture picture = picture_of(graph);
  auto name_of_box = [&](std::string_view id) {
    for (const Box& box : picture.boxes) {
      if (box.id == id) return box.name;
    }
    return std::string();
  };
  std::string text;
  for (const Box& box : picture.boxes) {
    if (box.id == id_of(graph, end)) continue;
    text += box.name;
    for (std::size_t i = 0; i < box.notes.size(); ++i) {
      text += (i == 0 ? " (" : "; ") + box.notes[i];
    }
    if (!box.notes.empty()) text += ")";
    text += "\n";
    for (const Arrow& arrow : picture.arrows) {
      if (arrow.from != box.id) continue;
      text += "  -> " + name_of_box(arrow.to);
      if (!arrow.label.empty()) text += "  when " + arrow.label;
      if (arrow.chosen) text += "  if chosen";
      text += "\n";
    }
  }
  return text;
}

}  // namespace belay
