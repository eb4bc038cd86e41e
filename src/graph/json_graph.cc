#include "belay/json_graph.h"

#include "base/in_quotes.h"
#include "graph/json_channels.h"

namespace belay {
namespace {

const ChannelType* find_channel(const StateType& type, std::string_view name) {
  for (const ChannelType& channel : type.channels) {
    if (channel.name == name) return &channel;
  }
  return nullptr;
}

Error mapped_badly(const std::string& node, const std::string& way, const Error& why) {
  return error(why.code, "The " + way + " of the subgraph " + in_quotes(node) +
                             " does not fit: " + why.message);
}

Result<std::shared_ptr<void>> mapped_input(const std::string& node, const ChannelPairs& pairs,
                                           const StateType& type, const Value& outer) {
  Value::Object given;
  for (const auto& [from, to] : pairs) given.insert_or_assign(to, outer[from]);
  auto state = state_from(type, Value(std::move(given)));
  if (!state.ok()) return mapped_badly(node, "input", state.error());
  return state;
}

NodeResult mapped_output(const std::string& node, const ChannelPairs& pairs, const StateType& type,
                         const void* inner) {
  NodeUpdate answer;
  for (const auto& [from, to] : pairs) {
    Encoder text;
    find_channel(type, from)->encode(inner, text, nullptr);
    if (!text.problem.empty()) {
      return mapped_badly(node, "output", error(ErrorCode::invalid, text.problem));
    }
    BELAY_TRY(Value value, parse_json(text.text));
    answer.named.push_back({to, std::nullopt, std::move(value)});
  }
  return answer;
}

Task<NodeResult> resolved(Task<NodeResult> task, std::shared_ptr<const JsonChannels> channels,
                          std::string node) {
  NodeResult result = co_await task;
  if (!result.ok()) co_return result;
  co_return channels->resolve(node, *std::move(result));
}

// Wraps the functions of the node so that channel names in its updates become channel indexes.
void resolve_answers(GraphDefinition::Node& node,
                     const std::shared_ptr<const JsonChannels>& channels) {
  if (node.run_plain) {
    node.run_plain = [run = std::move(node.run_plain), channels, name = node.name](
                         const void* state, Context& context) -> NodeResult {
      BELAY_TRY(NodeUpdate answer, run(state, context));
      return channels->resolve(name, std::move(answer));
    };
  } else if (node.run_task) {
    node.run_task = [run = std::move(node.run_task), channels, name = node.name](const void* state,
                                                                                 Context& context) {
      return resolved(run(state, context), channels, name);
    };
  } else if (node.subgraph) {
    node.subgraph->output = [output = std::move(node.subgraph->output), channels,
                             name = node.name](const void* inner) -> NodeResult {
      BELAY_TRY(NodeUpdate answer, output(inner));
      return channels->resolve(name, std::move(answer));
    };
  }
}

class Naming {
 public:
  Naming(const JsonChannels& channels, std::vector<std::string>& faults)
      : channels_(channels), faults_(faults) {}

  void approval(const std::string& node, GraphDefinition::Approval& approval) {
    if (auto shown = place("The approval " + in_quotes(node) + " shows", approval.names.channel)) {
      approval.channel = *shown;
    }
    flag(node, approval.names.pending_flag, approval.pending_flag, approval.set_awaiting);
    flag(node, approval.names.decision_flag, approval.decision_flag, approval.set_answer);
  }

  void mapping(const GraphDefinition::Node& node, const ChannelPairs& input,
               const ChannelPairs& output) {
    for (const auto& [outer, inner] : input) pair(node, outer, inner, true);
    for (const auto& [inner, outer] : output) pair(node, outer, inner, false);
  }

 private:
  std::optional<std::size_t> place(const std::string& what, const std::string& name) {
    auto found = channels_.find(name);
    if (!found) {
      faults_.push_back(what + " the channel " + in_quotes(name) +
                        ", which is not declared. Add .channel(" + in_quotes(name) +
                        ", ...) or correct the name.");
    }
    return found;
  }

  void flag(const std::string& node, const std::string& name, std::optional<std::size_t>& channel,
            std::function<void(void*, bool)>& setter) {
    if (name.empty()) return;
    std::string what = "The approval " + in_quotes(node) + " writes";
    channel = place(what, name);
    if (!channel) return;
    if (channels_.at(*channel).kind != JsonKind::boolean) {
      faults_.push_back(
          what + " true or false to the channel " + in_quotes(name) + ", which is declared as " +
          std::string(name_of(channels_.at(*channel).kind)) + ". Declare it as boolean.");
    }
    setter = [name](void* state, bool value) {
      static_cast<Value*>(state)->as_object()->insert_or_assign(name, Value(value));
    };
  }

  void pair(const GraphDefinition::Node& node, const std::string& outer, const std::string& inner,
            bool is_input) {
    std::string what = "The subgraph " + in_quotes(node.name) + " maps";
    auto place_here = place(what, outer);
    const ChannelType* there = find_channel(*node.subgraph->graph->state, inner);
    if (!there) {
      faults_.push_back(what + " the channel " + in_quotes(inner) + ", which the graph " +
                        in_quotes(node.subgraph->graph->name) + " does not have.");
    }
    if (!place_here || !there || there->type_name.empty()) return;
    std::string_view here = name_of(channels_.at(*place_here).kind);
    bool reduces = !is_input && channels_.at(*place_here).reduce != nullptr;
    std::string_view from = is_input ? here : std::string_view(there->type_name);
    std::string_view to = is_input ? std::string_view(there->type_name) : here;
    bool fits = from == to || from == "any" || to == "any" ||
                (from == "integer" && to == "number") || (from == "number" && to == "integer");
    if (fits || reduces) return;
    faults_.push_back(what + " a channel of kind " + std::string(from) + ", " +
                      in_quotes(is_input ? outer : inner) + ", to one of kind " + std::string(to) +
                      ", " + in_quotes(is_input ? inner : outer) +
                      ". Declare both with the same kind.");
  }

  const JsonChannels& channels_;
  std::vector<std::string>& faults_;
};

}  // namespace

Update<Value>::Update(const Value::Object& members) {
  for (const auto& [name, value] : members) change(name, std::nullopt, value);
}

void Update<Value>::change(std::string_view channel, std::optional<WriteOp> kind, Value value) {
  answer_.named.push_back({std::string(channel), kind, std::move(value)});
}

Update<Value> Update<Value>::put(std::string_view channel, Value value) && {
  change(channel, std::nullopt, std::move(value));
  return std::move(*this);
}

Update<Value> Update<Value>::set(std::string_view channel, Value value) && {
  change(channel, WriteOp::set, std::move(value));
  return std::move(*this);
}

Update<Value> Update<Value>::append(std::string_view channel, Value item) && {
  Value::Array items;
  items.push_back(std::move(item));
  change(channel, WriteOp::append, std::move(items));
  return std::move(*this);
}

Update<Value> Update<Value>::merge(std::string_view channel, std::string name, Value value) && {
  Value::Object members;
  members.emplace(std::move(name), std::move(value));
  change(channel, WriteOp::merge, std::move(members));
  return std::move(*this);
}

Update<Value> Update<Value>::add(std::string_view channel, Value amount) && {
  change(channel, WriteOp::add, std::move(amount));
  return std::move(*this);
}

Update<Value> Update<Value>::go_to(std::string_view node) && {
  answer_.go_to.emplace_back(node);
  return std::move(*this);
}

Update<Value> Update<Value>::send(std::string_view node, const Value& input) && {
  answer_.sends.push_back(send_to(node, input));
  return std::move(*this);
}

JsonUpdate put(std::string_view channel, Value value) {
  return JsonUpdate().put(channel, std::move(value));
}
JsonUpdate set(std::string_view channel, Value value) {
  return JsonUpdate().set(channel, std::move(value));
}
JsonUpdate append(std::string_view channel, Value item) {
  return JsonUpdate().append(channel, std::move(item));
}
JsonUpdate merge(std::string_view channel, std::string name, Value value) {
  return JsonUpdate().merge(channel, std::move(name), std::move(value));
}
JsonUpdate add(std::string_view channel, Value amount) {
  return JsonUpdate().add(channel, std::move(amount));
}

JsonGraphBuilder& JsonGraphBuilder::channel(std::string_view name, JsonChannel declared) {
  channels_.emplace_back(name, std::move(declared));
  return *this;
}

JsonGraphBuilder::ApprovalSetting JsonGraphBuilder::approval(std::string_view name,
                                                             std::string_view channel,
                                                             ApprovalOptions options) {
  GraphDefinition::Approval asked;
  asked.options = std::move(options);
  asked.names.channel = channel;
  add_node(name).approval = std::move(asked);
  return ApprovalSetting(definition_, definition_.nodes.size() - 1);
}

JsonGraphBuilder::NodeSetting JsonGraphBuilder::subgraph_of(
    std::string_view name, std::shared_ptr<const GraphDefinition> graph, ChannelPairs input,
    ChannelPairs output) {
  std::string node(name);
  GraphDefinition::Subgraph inner;
  inner.graph = graph;
  inner.input = [node, graph, input](const void* state, const std::string*) {
    return mapped_input(node, input, *graph->state, *static_cast<const Value*>(state));
  };
  inner.output = [node, graph, output](const void* state) {
    return mapped_output(node, output, *graph->state, state);
  };
  add_node(name).subgraph = std::move(inner);
  std::size_t index = definition_.nodes.size() - 1;
  mappings_.push_back({index, std::move(input), std::move(output)});
  return NodeSetting(*this, index);
}

Result<JsonGraph> JsonGraphBuilder::build() && {
  auto channels = std::make_shared<const JsonChannels>(std::move(channels_));
  std::vector<std::string> faults = channels->faults();
  Naming naming(*channels, faults);
  for (GraphDefinition::Node& node : definition_.nodes) {
    if (node.approval) naming.approval(node.name, *node.approval);
    resolve_answers(node, channels);
  }
  for (const Mapping& each : mappings_) {
    naming.mapping(definition_.nodes[each.node], each.input, each.output);
  }
  definition_.own_state = std::make_shared<const StateType>(channels->state_type());
  definition_.state = definition_.own_state.get();
  definition_.channel_rules = channels->rules();
  BELAY_TRY(auto built, finish_graph(std::move(definition_), std::move(ways_), std::move(faults)));
  return JsonGraph(std::move(built));
}

}  // namespace belay
