#pragma once
// graph/json_channels.h - the channels of a JSON graph: checks and combines their values.
//
// The state is a Value: an object with every channel as a member. A JsonChannels is immutable;
// the nodes of the graph, its state type and the operands of pending writes share its ownership.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "belay/json_graph.h"

namespace belay {

class JsonChannels : public std::enable_shared_from_this<JsonChannels> {
 public:
  using Declared = std::vector<std::pair<std::string, JsonChannel>>;
  explicit JsonChannels(Declared declared);

  // Returns the faults of the declarations, one sentence each, for build().
  std::vector<std::string> faults() const;
  std::optional<std::size_t> find(std::string_view name) const;
  const JsonChannel& at(std::size_t channel) const { return declared_[channel].second; }

  StateType state_type() const;
  // The JSON Schema of an input (`none`), or of a state (`stored`).
  Value schema(RequiredMembers mode) const;
  std::vector<GraphDefinition::ChannelRule> rules() const;

  // Converts the node's writes by channel name (NamedWrite) to ChannelWrites. Fails with `invalid`
  // if a channel is unknown or a value does not match its channel.
  NodeResult resolve(std::string_view node, NodeUpdate answer) const;

  // Combines `from` with the channel's value `held`. Returns a description of the expected operand
  // if `from` cannot be combined; empty if it was combined.
  std::string combine(std::size_t channel, WriteOp kind, Value from, Value& held) const;

 private:
  ChannelType channel_type(std::size_t channel) const;
  GraphDefinition::ChannelRule rule(std::size_t channel) const;
  Result<Done> resolve(std::string_view node, NamedWrite named, NodeUpdate& answer) const;

  Declared declared_;
  std::map<std::string, std::size_t, std::less<>> places_;
};

}  // namespace belay
