#pragma once
// belay/detail/state_type.h - type-erased states, channels and updates, for the engine.

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "belay/detail/json_schema.h"
#include "belay/rows.h"
#include "belay/value.h"

namespace belay {

// The type-erased operand of a channel write.
class Operand {
 public:
  virtual ~Operand() = default;
  // Writes the JSON text of the new value, or of the items, entries or number that are added.
  virtual void encode(Encoder& out) const = 0;
  // Combines the operand with the state and consumes it. Not for WriteOp::reduce. `invalid` if the
  // result is out of the channel's range: a sum.
  virtual Result<Done> apply(void* state) = 0;
  // The typed value, for a graph's own reducer.
  virtual void* value() = 0;
  virtual std::shared_ptr<Operand> copy() const = 0;
};

// A node's write of one channel: all operations of an update on a channel are one ChannelWrite.
struct ChannelWrite {
  std::size_t channel = 0;
  WriteOp kind = WriteOp::set;
  std::shared_ptr<Operand> operand;
};

// Schedules one task of `node` in the next superstep, with its own input.
struct Send {
  std::string node;
  std::string input;  // JSON text, read by Context::input()

  Send(std::string to_node, std::string json) : node(std::move(to_node)), input(std::move(json)) {}
};

// Returns a Send with a plain struct, a string, a number or a Value as its input. Throws Failure
// (`invalid`) for an input that JSON cannot represent.
template <typename Input>
Send send_to(std::string_view node, const Input& input) {
  Encoder text;
  codec::encode(input, text);
  if (!text.problem.empty()) {
    detail::throw_failure(error(ErrorCode::invalid, "The input for \"" + std::string(node) +
                                                        "\" can't be sent: " + text.problem));
  }
  return Send(std::string(node), std::move(text.text));
}

// A channel write of a JSON graph's node, by name; the graph converts it to a ChannelWrite.
struct NamedWrite {
  std::string channel;
  std::optional<WriteOp> kind;  // unset: the channel's own reducer determines it
  Value value;
};

// A node's update without its type. For the engine.
struct NodeUpdate {
  std::vector<ChannelWrite> changes;
  std::vector<std::string> go_to;
  std::vector<Send> sends;
  std::vector<NamedWrite> named = {};  // empty after the graph has converted them
};

// A type-erased channel. `index` is its position in the state type.
struct ChannelType {
  using Encode = std::function<void(const void* state, Encoder&, const Unknown*)>;
  using Combine = std::function<bool(WriteOp, const Value&, void* state, Decoder&, Unknown*)>;

  std::string name;
  std::size_t index = 0;
  Encode encode_channel = nullptr;
  Combine combine_channel = nullptr;
  // For a channel that is declared at run time: its kind, "array", and its declaration, "array,
  // append", which is part of the graph's hash.
  std::string type_name = {};
  std::string declaration = {};
  bool is_required = false;  // an input must contain it

  void encode(const void* state, Encoder& out, const Unknown* unknown) const {
    encode_channel(state, out, unknown);
  }
  bool decode(const Value& from, void* state, Decoder& in, Unknown* unknown) const {
    return combine_channel(WriteOp::set, from, state, in, unknown);
  }
  // Combines a stored operand with the channel. Returns false, with the problem in `in`, if it does
  // not fit. Not for WriteOp::reduce.
  bool combine(WriteOp kind, const Value& from, void* state, Decoder& in, Unknown* unknown) const {
    return combine_channel(kind, from, state, in, unknown);
  }
};

// A type of a graph's state: a plain struct, or a JSON object (json_graph.h).
template <typename State>
concept GraphState = reflect::PlainStruct<State> || std::is_same_v<State, Value>;

// A type-erased state type. Made by state_type<State>(), or by a JSON graph's builder.
struct StateType {
  std::vector<ChannelType> channels;
  std::function<std::shared_ptr<void>()> make;
  std::function<std::shared_ptr<void>(const void* state)> copy;
  std::function<Value()> schema = nullptr;         // the JSON Schema of an input
  std::function<Value()> stored_schema = nullptr;  // the same of a state
};

namespace detail {
// Moves the entries into the map, replacing those with the same keys.
template <typename Map>
void merge_into(Map& map, Map& entries) {
  while (!entries.empty()) {
    auto inserted = map.insert(entries.extract(entries.begin()));
    if (!inserted.inserted) inserted.position->second = std::move(inserted.node.mapped());
  }
}

// Returns false, and changes nothing, if the sum is out of the type's range.
template <typename M>
bool add_to(M& number, M amount) {
  if constexpr (std::is_integral_v<M> && !std::is_same_v<M, bool>) {
    M sum{};
    if (__builtin_add_overflow(number, amount, &sum)) return false;
    number = sum;
  } else {
    number = static_cast<M>(number + amount);
  }
  return true;
}

template <typename State, typename M>
class TypedOperand final : public Operand {
 public:
  using Apply = bool (*)(State&, M State::*, M&);
  TypedOperand(M State::* member, M value, Apply combine)
      : held(std::move(value)), member_(member), apply_(combine) {}
  void encode(Encoder& out) const override { codec::encode(held, out); }
  Result<Done> apply(void* state) override {
    if (apply_(*static_cast<State*>(state), member_, held)) return Done{};
    return error(ErrorCode::invalid, "The sum is beyond the range of its type.");
  }
  void* value() override { return &held; }
  std::shared_ptr<Operand> copy() const override { return std::make_shared<TypedOperand>(*this); }

  M held;

 private:
  M State::* member_;
  Apply apply_;
};

template <std::size_t Index, typename State>
auto& member_at(State& state) {
  return reflect::with_members(
      state, [](auto&... members) -> auto& { return std::get<Index>(std::tie(members...)); });
}

template <typename M>
bool combine_member(WriteOp kind, const Value& from, M& member, Decoder& in, Unknown* unknown) {
  if (kind == WriteOp::set) return codec::decode(from, member, in, unknown);
  if constexpr (codec::is_vector<M>) {
    if (kind == WriteOp::append) {
      M items;
      if (!codec::decode(from, items, in, unknown)) return false;
      member.insert(member.end(), std::make_move_iterator(items.begin()),
                    std::make_move_iterator(items.end()));
      return true;
    }
  } else if constexpr (codec::is_string_map<M>) {
    if (kind == WriteOp::merge) {
      M entries;
      if (!codec::decode(from, entries, in, unknown)) return false;
      merge_into(member, entries);
      return true;
    }
  } else if constexpr (std::is_arithmetic_v<M>) {
    if (kind == WriteOp::add) {
      M amount{};
      if (!codec::decode(from, amount, in, unknown)) return false;
      return add_to(member, amount) || in.mismatch("an amount that stays in range", from);
    }
  }
  return in.mismatch("what this member's type can take", from);
}

template <typename State, std::size_t Index>
ChannelType channel_type() {
  ChannelType type;
  type.name = reflect::member_names<State>[Index];
  type.index = Index;
  type.encode_channel = [](const void* state, Encoder& out, const Unknown* unknown) {
    codec::encode(member_at<Index>(*static_cast<const State*>(state)), out, unknown);
  };
  type.combine_channel = [](WriteOp kind, const Value& from, void* state, Decoder& in,
                            Unknown* unknown) {
    return combine_member(kind, from, member_at<Index>(*static_cast<State*>(state)), in, unknown);
  };
  return type;
}

template <typename State, std::size_t... I>
StateType make_state_type(std::index_sequence<I...>) {
  StateType type;
  type.make = []() -> std::shared_ptr<void> { return std::make_shared<State>(); };
  type.copy = [](const void* state) -> std::shared_ptr<void> {
    return std::make_shared<State>(*static_cast<const State*>(state));
  };
  codec::require_storable_members<State>();
  if constexpr (codec::has_storable_members<State>) {
    type.channels = {channel_type<State, I>()...};
    type.schema = [] { return json_schema<State>(); };
    type.stored_schema = [] { return json_schema<State>(RequiredMembers::stored); };
  }
  return type;
}
}  // namespace detail

// Returns a state from a JSON object; a missing member has its default. `invalid`, with the path,
// for a value that does not fit, an unknown member (unlike stored states, an input is never of an
// older version), or a missing required member.
Result<std::shared_ptr<void>> state_from(const StateType& type, const Value& input);

}  // namespace belay
