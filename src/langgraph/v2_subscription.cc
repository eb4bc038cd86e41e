#include "langgraph/v2_subscription.h"

#include <algorithm>
#include <array>

#include "langgraph/errors.h"

namespace belay::langgraph {
namespace {

constexpr std::string_view kCustomPrefix = "custom:";
constexpr std::int64_t kSeqNumberMax = std::int64_t{1} << 53;  // that JavaScript can represent
constexpr std::int64_t kDepthMax = 1'000;
constexpr std::size_t kSpacesMax = 100;
constexpr std::size_t kSpaceDepthMax = 100;
constexpr std::size_t kChannelsMax = 100;
constexpr std::array<std::string_view, 9> kChannels{"values",      "updates",   "messages",
                                                    "tools",       "lifecycle", "input",
                                                    "checkpoints", "tasks",     "custom"};

bool is_channel(std::string_view name) {
  bool is_named = name.starts_with(kCustomPrefix) && name.size() > kCustomPrefix.size();
  return is_named || std::find(kChannels.begin(), kChannels.end(), name) != kChannels.end();
}

bool is_same_step(std::string_view wanted, std::string_view step) {
  return wanted == step || wanted == step.substr(0, step.find(':'));
}

Result<std::vector<V2Space>> spaces_in(const Value& body) {
  std::vector<V2Space> spaces;
  const Value& named = body["namespaces"];
  if (named.is_null()) return spaces;
  auto wrong = error(ErrorCode::invalid, "\"namespaces\" must be an array of arrays of texts.");
  if (!named.as_array() || named.as_array()->size() > kSpacesMax) return wrong;
  for (const Value& each : *named.as_array()) {
    if (!each.as_array() || each.as_array()->size() > kSpaceDepthMax) return wrong;
    V2Space space;
    for (const Value& step : *each.as_array()) {
      if (!step.as_string()) return wrong;
      space.push_back(*step.as_string());
    }
    spaces.push_back(std::move(space));
  }
  return spaces;
}

Result<Done> check_members(const Value& body) {
  constexpr std::array<std::string_view, 4> known{"channels", "namespaces", "depth", "since"};
  for (const auto& [name, value] : *body.as_object()) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return error(ErrorCode::invalid, "Unknown member \"" + name.substr(0, 100) + "\".");
    }
  }
  return Done{};
}

}  // namespace

Result<V2Subscription> v2_subscription_of(const Value& body) {
  if (!body.as_object()) return error(ErrorCode::invalid, "A subscription must be an object.");
  BELAY_CHECK(check_members(body));
  V2Subscription wanted;
  BELAY_TRY(auto channels, texts_member(body, "channels"));
  if (!channels || channels->empty() || channels->size() > kChannelsMax) {
    return error(ErrorCode::invalid,
                 "\"channels\" must name 1 to " + std::to_string(kChannelsMax) + " channels.");
  }
  for (std::string& name : *channels) {
    if (!is_channel(name)) {
      return error(ErrorCode::invalid, "Unknown channel \"" + name.substr(0, 100) + "\".");
    }
    wanted.channels.insert(std::move(name));
  }
  BELAY_TRY(wanted.spaces, spaces_in(body));
  BELAY_TRY(std::int64_t depth, int_member(body, "depth", -1, 0, kDepthMax));
  if (depth >= 0) wanted.depth = static_cast<std::size_t>(depth);
  BELAY_TRY(std::int64_t since, int_member(body, "since", -1, 0, kSeqNumberMax));
  if (since >= 0) wanted.since = static_cast<std::uint64_t>(since);
  return wanted;
}

bool V2Subscription::matches(const V2Event& event) const {
  if (since && event.seq <= *since) return false;
  std::string_view channel = event.method;
  if (channel.starts_with("input.")) channel = "input";
  bool is_wanted = channels.contains(channel);
  const std::string* name = channel == "custom" ? event.data["name"].as_string() : nullptr;
  if (name) is_wanted = is_wanted || channels.contains(std::string(kCustomPrefix) + *name);
  if (!is_wanted) return false;
  auto contains = [&](const V2Space& prefix) {
    if (event.space.size() < prefix.size()) return false;
    if (depth && event.space.size() - prefix.size() > *depth) return false;
    return std::equal(prefix.begin(), prefix.end(), event.space.begin(), is_same_step);
  };
  if (spaces.empty()) return contains({});
  return std::any_of(spaces.begin(), spaces.end(), contains);
}

}  // namespace belay::langgraph
