#pragma once
// belay/state.h - a run's state, and how a node says what it changed.
//
// State is a plain struct; each of its members is a channel. A node gets it const and returns an
// Update that names what changes, so that nothing is stored for what did not, and so that a renamed
// member is a compile error:
//
//     return set(&Mail::draft, text).append(&Mail::log, line);
//
// Give every member a default: a run that was begun before a member existed takes it.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "belay/codec.h"

namespace belay {

// One change of one channel. `apply` changes a State behind a void pointer.
struct Change {
  enum class Kind { set, append, merge, add };
  std::size_t channel = 0;
  Kind kind = Kind::set;
  std::function<void(void*)> apply;
};

// What a node changed. A value type: make it with set(), append(), ... or unchanged<State>().
template <reflect::PlainStruct State>
class [[nodiscard]] Update {
 public:
  // The member's new value.
  template <typename M, typename V>
  Update&& set(M State::* member, V&& value) && {
    M kept(std::forward<V>(value));
    add_change(member, Change::Kind::set,
               [member, kept = std::move(kept)](State& state) { state.*member = kept; });
    return std::move(*this);
  }

  // One more item at the end of a list.
  template <typename M, typename V>
  Update&& append(std::vector<M> State::* member, V&& item) && {
    M kept(std::forward<V>(item));
    add_change(member, Change::Kind::append,
               [member, kept = std::move(kept)](State& state) { (state.*member).push_back(kept); });
    return std::move(*this);
  }

  // An entry of a map, replacing the one with that key.
  template <typename M, typename V>
  Update&& merge(std::map<std::string, M> State::* member, std::string key, V&& value) && {
    M kept(std::forward<V>(value));
    add_change(member, Change::Kind::merge,
               [member, key = std::move(key), kept = std::move(kept)](State& state) {
                 (state.*member).insert_or_assign(key, kept);
               });
    return std::move(*this);
  }

  // A number added to the member.
  template <typename M>
    requires std::is_arithmetic_v<M>
  Update&& add(M State::* member, M amount) && {
    add_change(member, Change::Kind::add,
               [member, amount](State& state) { state.*member = state.*member + amount; });
    return std::move(*this);
  }

  // What has been collected, in order. For the engine.
  std::vector<Change> take_changes() && { return std::move(changes_); }

 private:
  template <typename M, typename Apply>
  void add_change(M State::* member, Change::Kind kind, Apply apply) {
    Change change;
    change.channel = reflect::index_of(member);
    change.kind = kind;
    change.apply = [apply = std::move(apply)](void* state) { apply(*static_cast<State*>(state)); };
    changes_.push_back(std::move(change));
  }

  std::vector<Change> changes_;
};

template <typename State, typename M, typename V>
Update<State> set(M State::* member, V&& value) {
  return Update<State>().set(member, std::forward<V>(value));
}
template <typename State, typename M, typename V>
Update<State> append(std::vector<M> State::* member, V&& item) {
  return Update<State>().append(member, std::forward<V>(item));
}
template <typename State, typename M, typename V>
Update<State> merge(std::map<std::string, M> State::* member, std::string key, V&& value) {
  return Update<State>().merge(member, std::move(key), std::forward<V>(value));
}
template <typename State, typename M>
Update<State> add(M State::* member, M amount) {
  return Update<State>().add(member, amount);
}
template <typename State>
Update<State> unchanged() {
  return Update<State>();
}

// A state type as the engine sees it: channels with names and codecs. Made by state_type<State>().
struct ChannelType {
  std::string_view name;
  void (*encode)(const void* state, Encoder& out, const Unknown* unknown);
  bool (*decode)(const Value& from, void* state, Decoder& in, Unknown* unknown);
  // Whether this channel of two states has the same text.
  bool (*equal)(const void* left, const void* right);
};
struct StateType {
  std::vector<ChannelType> channels;
  std::shared_ptr<void> (*make)();
  std::shared_ptr<void> (*copy)(const void* state);
};

namespace detail {
template <std::size_t Index, typename State>
auto& member_at(State& state) {
  return reflect::with_members(
      state, [](auto&... members) -> auto& { return std::get<Index>(std::tie(members...)); });
}

template <typename State, std::size_t Index>
ChannelType channel_type() {
  ChannelType type;
  type.name = reflect::member_names<State>[Index];
  type.encode = [](const void* state, Encoder& out, const Unknown* unknown) {
    codec::encode(member_at<Index>(*static_cast<const State*>(state)), out, unknown);
  };
  type.decode = [](const Value& from, void* state, Decoder& in, Unknown* unknown) {
    return codec::decode(from, member_at<Index>(*static_cast<State*>(state)), in, unknown);
  };
  type.equal = [](const void* left, const void* right) {
    Encoder left_text, right_text;
    codec::encode(member_at<Index>(*static_cast<const State*>(left)), left_text);
    codec::encode(member_at<Index>(*static_cast<const State*>(right)), right_text);
    return left_text.text == right_text.text;
  };
  return type;
}

template <typename State, std::size_t... I>
StateType make_state_type(std::index_sequence<I...>) {
  StateType type;
  type.channels = {channel_type<State, I>()...};
  type.make = []() -> std::shared_ptr<void> { return std::make_shared<State>(); };
  type.copy = [](const void* state) -> std::shared_ptr<void> {
    return std::make_shared<State>(*static_cast<const State*>(state));
  };
  return type;
}
}  // namespace detail

// A state from a JSON object: a missing member takes its default. `invalid`, with the path, for
// what does not fit, and for a member that the state has no place for: an input is of today.
Result<std::shared_ptr<void>> state_from(const StateType& type, const Value& input);

template <reflect::PlainStruct State>
const StateType& state_type() {
  static const StateType type =
      detail::make_state_type<State>(std::make_index_sequence<reflect::member_count<State>>());
  return type;
}

}  // namespace belay
