#pragma once
// graph/json_channels.h - the channels of a JSON graph: what fits them, and how changes combine.
//
// The state is a Value: an object that has every channel. Immutable and shared: the graph's nodes,
// its state type and operands under way hold it.

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

  // One sentence a fault, for build().
  std::vector<std::string> faults() const;
  std::optional<std::size_t> find(std::string_view name) const;
  const JsonChannel& at(std::size_t channel) const { return declared_[channel].second; }

  StateType state_type() const;
  std::vector<GraphDefinition::ChannelRule> rules() const;

  // Makes Changes of what the node named. `invalid` for a channel that is not there, and for what
  // does not fit it.
  NodeResult resolve(std::string_view node, NodeUpdate answer) const;

  // Combines `from` with what the channel holds. Empty, or what it should have been instead.
  std::string combine(std::size_t channel, WriteOp kind, Value from, Value& held) const;

 private:
  ChannelType channel_type(std::size_t channel) const;
  GraphDefinition::ChannelRule rule(std::size_t channel) const;
  Result<Done> resolve(std::string_view node, NamedWrite named, NodeUpdate& answer) const;

  Declared declared_;
  std::map<std::string, std::size_t, std::less<>> places_;
};

}  // namespace belay
