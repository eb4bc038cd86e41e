// Creates a state from the JSON input of a run, using only the channels of the state type.

#include "belay/state.h"

namespace belay {
namespace {

// Returns the path of the first member that no struct has.
std::string first_unknown(const Unknown& unknown) {
  if (!unknown.members.empty()) return unknown.members.begin()->first;
  for (const auto* part : {&unknown.inside, &unknown.items}) {
    for (const auto& [name, within] : *part) {
      if (within.empty()) continue;
      std::string rest = first_unknown(within);
      // The key of a list item is its text, which is not a name.
      return part == &unknown.inside ? name + "." + rest : rest;
    }
  }
  return "";
}

}  // namespace

Result<std::shared_ptr<void>> state_from(const StateType& type, const Value& input) {
  const Value::Object* members = input.as_object();
  if (!members) {
    return error(ErrorCode::invalid,
                 "The input is of kind " + std::string(input.kind()) + ", expected an object.");
  }
  std::shared_ptr<void> state = type.make();
  std::size_t known = 0;
  for (const ChannelType& channel : type.channels) {
    auto found = members->find(channel.name);
    if (found == members->end() && channel.is_required) {
      return error(ErrorCode::invalid,
                   "The input lacks \"" + channel.name + "\", which is required.");
    }
    if (found == members->end()) continue;
    ++known;
    Decoder in;
    in.path.emplace_back(channel.name);
    Unknown unknown;
    if (!channel.decode(found->second, state.get(), in, &unknown)) {
      return error(ErrorCode::invalid, "The input does not fit: " + in.problem);
    }
    if (unknown.empty()) continue;
    return error(ErrorCode::invalid, "The input has the unknown member \"" +
                                         std::string(channel.name) + "." + first_unknown(unknown) +
                                         "\".");
  }
  if (known == members->size()) return state;
  for (const auto& [name, member] : *members) {
    bool is_known = false;
    for (const ChannelType& channel : type.channels) is_known = is_known || channel.name == name;
    if (is_known) continue;
    return error(ErrorCode::invalid, "The input has the unknown member \"" + name + "\".");
  }
  return state;
}

}  // namespace belay
