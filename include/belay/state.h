#pragma once
// belay/state.h - a run's state, and how a node says what it changed.
//
// State is a plain struct; each of its members is a channel. A node gets it const and returns an
// Update that names what changes, so that nothing is stored for what did not, and so that a renamed
// member is a compile error:
//
//     return set(&Mail::draft, text).append(&Mail::log, line);
//
// What is appended, merged or added is stored as such: a list that grows costs its new items only.
// Nodes that run in parallel see the same state, and their updates are combined in a fixed order
// when all of them have ended. Two of them may append to one list, merge into one map or add to one
// number; two that set one member are an error that names both.
//
// An update may also say where to go next, in place of the edges of its node:
//
//     return set(&Plan::parts, parts).go_to("write");
//     return unchanged<Plan>().send("fetch", Page{url}).send("fetch", Page{other});
//
// Give every member a default: a run that was begun before a member existed takes it.

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "belay/codec.h"
#include "belay/rows.h"

namespace belay {

// What is to be combined with a channel, without its type.
class Operand {
 public:
  virtual ~Operand() = default;
  // The JSON text of what is set, or of the items, entries or number that are added.
  virtual void encode(Encoder& out) const = 0;
  // Combines it with the state, and is used up. Not for ValueKind::reduce.
  virtual void apply(void* state) = 0;
  // The typed value, for a graph's own reducer.
  virtual void* value() = 0;
  virtual std::shared_ptr<Operand> copy() const = 0;
};

// What a node did to one channel. All that it did to a channel is one Change.
struct Change {
  std::size_t channel = 0;
  ValueKind kind = ValueKind::set;
  std::shared_ptr<Operand> operand;
};

// One visit of `node` in the next superstep, with an input of its own.
struct Send {
  std::string node;
  std::string input;  // JSON text; what context.input() reads

  Send(std::string to_node, std::string json) : node(std::move(to_node)), input(std::move(json)) {}
};

// A Send with a plain struct, a string, a number or a Value as its input. Throws Failure
// (`invalid`) for an input that JSON can't say.
template <typename Input>
Send send_to(std::string_view node, const Input& input) {
  Encoder text;
  codec::encode(input, text);
  if (!text.problem.empty()) {
    throw Failure(error(ErrorCode::invalid, "The input for \"" + std::string(node) +
                                                "\" can't be sent: " + text.problem));
  }
  return Send(std::string(node), std::move(text.text));
}

// What a node's update comes to, without its type. For the engine.
struct NodeAnswer {
  std::vector<Change> changes;
  std::vector<std::string> go_to;
  std::vector<Send> sends;
};

namespace detail {
template <typename State, typename M>
class TypedOperand final : public Operand {
 public:
  using Apply = void (*)(State&, M State::*, M&);
  TypedOperand(M State::* member, M value, Apply combine)
      : held(std::move(value)), member_(member), apply_(combine) {}
  void encode(Encoder& out) const override { codec::encode(held, out); }
  void apply(void* state) override { apply_(*static_cast<State*>(state), member_, held); }
  void* value() override { return &held; }
  std::shared_ptr<Operand> copy() const override { return std::make_shared<TypedOperand>(*this); }

  M held;

 private:
  M State::* member_;
  Apply apply_;
};
}  // namespace detail

// What a node changed, and where it goes. Make it with set(), append(), ... or unchanged<State>().
template <reflect::PlainStruct State>
class [[nodiscard]] Update {
 public:
  // The member's new value.
  template <typename M, typename V>
  Update&& set(M State::* member, V&& value) && {
    Change& change = change_of(member, ValueKind::set);
    change.kind = ValueKind::set;
    change.operand =
        operand(member, M(std::forward<V>(value)),
                [](State& state, M State::* place, M& held) { state.*place = std::move(held); });
    return std::move(*this);
  }

  // One more item at the end of a list.
  template <typename M, typename V>
  Update&& append(std::vector<M> State::* member, V&& item) && {
    using List = std::vector<M>;
    Change& change = change_of(member, ValueKind::append);
    if (!change.operand) {
      change.operand = operand(member, List(), [](State& state, List State::* place, List& held) {
        List& list = state.*place;
        list.insert(list.end(), std::make_move_iterator(held.begin()),
                    std::make_move_iterator(held.end()));
      });
    }
    held<List>(change).push_back(M(std::forward<V>(item)));
    return std::move(*this);
  }

  // An entry of a map, replacing the one with that key.
  template <typename M, typename V>
  Update&& merge(std::map<std::string, M> State::* member, std::string key, V&& value) && {
    using Map = std::map<std::string, M>;
    Change& change = change_of(member, ValueKind::merge);
    if (!change.operand) {
      change.operand = operand(member, Map(), [](State& state, Map State::* place, Map& held) {
        held.merge(state.*place);
        std::swap(state.*place, held);
      });
    }
    held<Map>(change).insert_or_assign(std::move(key), M(std::forward<V>(value)));
    return std::move(*this);
  }

  // A number added to the member.
  template <typename M>
    requires std::is_arithmetic_v<M>
  Update&& add(M State::* member, std::type_identity_t<M> amount) && {
    Change& change = change_of(member, ValueKind::add);
    if (!change.operand) {
      change.operand = operand(member, M(), [](State& state, M State::* place, M& held) {
        state.*place = static_cast<M>(state.*place + held);
      });
    }
    M& sum = held<M>(change);
    sum = static_cast<M>(sum + amount);
    return std::move(*this);
  }

  // Something for the reducer that the graph declares for this member. Once for each member.
  template <typename M, typename V>
  Update&& reduce(M State::* member, V&& value) && {
    Change& change = change_of(member, ValueKind::reduce);
    change.kind = ValueKind::reduce;
    change.operand = operand(member, M(std::forward<V>(value)), nullptr);
    return std::move(*this);
  }

  // Goes to this node next, in place of the node's edges; several calls go to several nodes. The
  // node must declare it with may_go_to().
  Update&& go_to(std::string_view node) && {
    go_to_.emplace_back(node);
    return std::move(*this);
  }

  // Visits `node` next with this input; as often as it is called. Declared like go_to().
  template <typename Input>
  Update&& send(std::string_view node, const Input& input) && {
    sends_.push_back(send_to(node, input));
    return std::move(*this);
  }

  // For the engine.
  NodeAnswer take_answer() && {
    return {std::move(changes_), std::move(go_to_), std::move(sends_)};
  }

 private:
  // What this update already does to the member; an operation on what it sets changes what is set.
  template <typename M>
  Change& change_of(M State::* member, ValueKind kind) {
    std::size_t channel = reflect::index_of(member);
    for (Change& change : changes_) {
      if (change.channel == channel) return change;
    }
    Change& added = changes_.emplace_back();
    added.channel = channel;
    added.kind = kind;
    return added;
  }

  template <typename M>
  static std::shared_ptr<Operand> operand(M State::* member, M value,
                                          typename detail::TypedOperand<State, M>::Apply apply) {
    return std::make_shared<detail::TypedOperand<State, M>>(member, std::move(value), apply);
  }

  template <typename M>
  static M& held(Change& change) {
    return static_cast<detail::TypedOperand<State, M>&>(*change.operand).held;
  }

  std::vector<Change> changes_;
  std::vector<std::string> go_to_;
  std::vector<Send> sends_;
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
Update<State> add(M State::* member, std::type_identity_t<M> amount) {
  return Update<State>().add(member, amount);
}
template <typename State, typename M, typename V>
Update<State> reduce(M State::* member, V&& value) {
  return Update<State>().reduce(member, std::forward<V>(value));
}
template <typename State>
Update<State> unchanged() {
  return Update<State>();
}
template <typename State>
Update<State> go_to(std::string_view node) {
  return Update<State>().go_to(node);
}

// One channel as the engine sees it, whatever its type. `index` is its place in the state type.
struct ChannelType {
  using Encode = void (*)(std::size_t index, const void* state, Encoder&, const Unknown*);
  using Combine = bool (*)(std::size_t index, ValueKind, const Value&, void* state, Decoder&,
                           Unknown*);

  std::string name;
  std::size_t index = 0;
  Encode encode_channel = nullptr;
  Combine combine_channel = nullptr;

  void encode(const void* state, Encoder& out, const Unknown* unknown) const {
    encode_channel(index, state, out, unknown);
  }
  bool decode(const Value& from, void* state, Decoder& in, Unknown* unknown) const {
    return combine_channel(index, ValueKind::set, from, state, in, unknown);
  }
  // Combines a stored operand with the channel; false, with the problem noted, when it does not
  // fit. Not for ValueKind::reduce.
  bool combine(ValueKind kind, const Value& from, void* state, Decoder& in,
               Unknown* unknown) const {
    return combine_channel(index, kind, from, state, in, unknown);
  }
};

// A state type as the engine sees it. Made by state_type<State>(), or by a JSON graph's builder.
struct StateType {
  std::vector<ChannelType> channels;
  std::function<std::shared_ptr<void>()> make;
  std::function<std::shared_ptr<void>(const void* state)> copy;
};

namespace detail {
template <std::size_t Index, typename State>
auto& member_at(State& state) {
  return reflect::with_members(
      state, [](auto&... members) -> auto& { return std::get<Index>(std::tie(members...)); });
}

template <typename M>
bool combine_member(ValueKind kind, const Value& from, M& member, Decoder& in, Unknown* unknown) {
  if (kind == ValueKind::set) return codec::decode(from, member, in, unknown);
  if constexpr (codec::is_vector<M>) {
    if (kind == ValueKind::append) {
      M items;
      if (!codec::decode(from, items, in, unknown)) return false;
      member.insert(member.end(), std::make_move_iterator(items.begin()),
                    std::make_move_iterator(items.end()));
      return true;
    }
  } else if constexpr (codec::is_string_map<M>) {
    if (kind == ValueKind::merge) {
      M entries;
      if (!codec::decode(from, entries, in, unknown)) return false;
      entries.merge(member);
      std::swap(member, entries);
      return true;
    }
  } else if constexpr (std::is_arithmetic_v<M>) {
    if (kind == ValueKind::add) {
      M amount{};
      if (!codec::decode(from, amount, in, unknown)) return false;
      member = static_cast<M>(member + amount);
      return true;
    }
  }
  return in.mismatch("what this member's type can take", from);
}

template <typename State, std::size_t Index>
ChannelType channel_type() {
  ChannelType type;
  type.name = reflect::member_names<State>[Index];
  type.index = Index;
  type.encode_channel = [](std::size_t, const void* state, Encoder& out, const Unknown* unknown) {
    codec::encode(member_at<Index>(*static_cast<const State*>(state)), out, unknown);
  };
  type.combine_channel = [](std::size_t, ValueKind kind, const Value& from, void* state,
                            Decoder& in, Unknown* unknown) {
    return combine_member(kind, from, member_at<Index>(*static_cast<State*>(state)), in, unknown);
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

template <reflect::PlainStruct State>
const StateType& state_type() {
  static const StateType type =
      detail::make_state_type<State>(std::make_index_sequence<reflect::member_count<State>>());
  return type;
}

}  // namespace belay
