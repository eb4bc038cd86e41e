#pragma once
// belay/state.h - a run's state, and the updates that nodes return.
//
// State is a plain struct; each of its members is a channel. A node receives it const and returns
// an Update that names the changed members; unchanged members are not stored again, and a renamed
// member is a compile error:
//
//     return set(&Mail::draft, text).append(&Mail::log, line);
//
// The operands of append, merge and add are stored as such: for a growing list, only new items are
// written. Parallel nodes receive the same state, and their updates are combined in a fixed order
// after all of them have ended. Several nodes can append to one list, merge into one map or add to
// one number; if two of them set the same member, the run fails with an error that names both.
//
// An update can also select the next nodes, instead of the edges of its node:
//
//     return set(&Plan::parts, parts).go_to("write");
//     return unchanged<Plan>().send("fetch", Page{url}).send("fetch", Page{other});
//
// A value must fit its member: it converts to the member's type without narrowing. Text for a
// number, 3.9 for an int, a number for an enum or a pointer for a bool does not compile. An int
// for an int64_t or a double compiles, as does a value in braces for a list, a map or a struct,
// and a T for a std::optional<T>.
//
// Give every member a default: runs that started before the member existed use it.

#include "belay/detail/fits.h"
#include "belay/detail/state_type.h"

namespace belay {

// The channel writes of a node and, optionally, its next nodes. Make it with set(), append(), ...
// or unchanged<State>(). Each call returns the whole update: write "return append(...).add(...)",
// or in a loop "update = std::move(update).send(...)".
template <GraphState State>
class [[nodiscard]] Update {
 public:
  // Sets the member.
  template <typename M, typename V = detail::Braced<M>>
  Update set(M State::* member, V&& value) && {
    ChannelWrite& change = change_of(member, WriteOp::set);
    change.kind = WriteOp::set;
    change.operand = operand(member, detail::fitted<M>(std::forward<V>(value)),
                             [](State& state, M State::* place, M& held) {
                               state.*place = std::move(held);
                               return true;
                             });
    return std::move(*this);
  }

  // Appends one item to a list, or all items of a std::vector of items.
  template <typename M, typename V>
  Update append(std::vector<M> State::* member, V&& item) && {
    std::vector<M>& list = appended(member);
    if constexpr (!detail::Fits<M, V> && detail::FitsEach<M, V>) {
      auto items = std::forward<V>(item);
      for (auto&& each : items) list.push_back(detail::fitted<M>(std::move(each)));
    } else {
      list.push_back(detail::fitted<M>(std::forward<V>(item)));
    }
    return std::move(*this);
  }
  // The same for several items: append(&Mail::log, {"written", "read"}).
  template <typename M>
  Update append(std::vector<M> State::* member,
                std::initializer_list<std::type_identity_t<M>> items) && {
    std::vector<M>& list = appended(member);
    list.insert(list.end(), items);
    return std::move(*this);
  }

  // Sets an entry of a map.
  template <typename M, typename V = detail::Braced<M>>
  Update merge(std::map<std::string, M> State::* member, std::string key, V&& value) && {
    using Map = std::map<std::string, M>;
    ChannelWrite& change = change_of(member, WriteOp::merge);
    if (!change.operand) {
      change.operand = operand(member, Map(), [](State& state, Map State::* place, Map& held) {
        detail::merge_into(state.*place, held);
        return true;
      });
    }
    held<Map>(change).insert_or_assign(std::move(key), detail::fitted<M>(std::forward<V>(value)));
    return std::move(*this);
  }

  // Adds a number to the member.
  template <typename M, typename V>
    requires std::is_arithmetic_v<M>
  Update add(M State::* member, V&& value) && {
    M amount = detail::fitted<M>(std::forward<V>(value));
    ChannelWrite& change = change_of(member, WriteOp::add);
    if (!change.operand) {
      change.operand = operand(member, M(), [](State& state, M State::* place, M& held) {
        return detail::add_to(state.*place, held);
      });
    }
    if (!detail::add_to(held<M>(change), amount)) {
      detail::throw_failure(error(ErrorCode::invalid,
                                  "What a node adds to a number is beyond the range of its type."));
    }
    return std::move(*this);
  }

  // Passes an operand to the reducer that the graph declares for this member. Call it once for each
  // member: a second call replaces the operand.
  template <typename M, typename V = detail::Braced<M>>
  Update reduce(M State::* member, V&& value) && {
    ChannelWrite& change = change_of(member, WriteOp::reduce);
    change.kind = WriteOp::reduce;
    change.operand = operand(member, detail::fitted<M>(std::forward<V>(value)), nullptr);
    return std::move(*this);
  }

  // With a Result as the value: compile errors.
  template <typename M, detail::SomeResult V>
  BELAY_REFUSED(BELAY_NOT_ITS_VALUE)
  Update set(M State::* member, V&& value) &&;
  template <typename M, detail::SomeResult V>
  BELAY_REFUSED(BELAY_NOT_ITS_VALUE)
  Update append(std::vector<M> State::* member, V&& value) &&;
  template <typename M, detail::SomeResult V>
  BELAY_REFUSED(BELAY_NOT_ITS_VALUE)
  Update merge(std::map<std::string, M> State::* member, std::string key, V&& value) &&;
  template <typename M, detail::SomeResult V>
  BELAY_REFUSED(BELAY_NOT_ITS_VALUE)
  Update add(M State::* member, V&& value) &&;
  template <typename M, detail::SomeResult V>
  BELAY_REFUSED(BELAY_NOT_ITS_VALUE)
  Update reduce(M State::* member, V&& value) &&;

  // Selects this node instead of the node's edges; several calls select several nodes. The node
  // must declare them with destinations().
  Update go_to(std::string_view node) && {
    go_to_.emplace_back(node);
    return std::move(*this);
  }

  // Schedules a task of `node` with this input; each call schedules one. Declared like go_to().
  template <typename Input>
  Update send(std::string_view node, const Input& input) && {
    sends_.push_back(send_to(node, input));
    return std::move(*this);
  }

  // For the engine.
  NodeUpdate take_update() && {
    return {std::move(changes_), std::move(go_to_), std::move(sends_)};
  }

 private:
  // Returns this update's write of the member, or a new one. A later operation on a member that was
  // set changes the operand of the set.
  template <typename M>
  ChannelWrite& change_of(M State::* member, WriteOp kind) {
    std::size_t channel = reflect::index_of(member);
    for (ChannelWrite& change : changes_) {
      if (change.channel == channel) return change;
    }
    ChannelWrite& added = changes_.emplace_back();
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
  std::vector<M>& appended(std::vector<M> State::* member) {
    using List = std::vector<M>;
    ChannelWrite& change = change_of(member, WriteOp::append);
    if (!change.operand) {
      change.operand = operand(member, List(), [](State& state, List State::* place, List& held) {
        List& list = state.*place;
        list.insert(list.end(), std::make_move_iterator(held.begin()),
                    std::make_move_iterator(held.end()));
        return true;
      });
    }
    return held<List>(change);
  }

  template <typename M>
  static M& held(ChannelWrite& change) {
    return static_cast<detail::TypedOperand<State, M>&>(*change.operand).held;
  }

  std::vector<ChannelWrite> changes_;
  std::vector<std::string> go_to_;
  std::vector<Send> sends_;
};

// The update of a JSON graph: json_graph.h.
template <>
class Update<Value>;

template <typename State, typename M, typename V = detail::Braced<M>>
Update<State> set(M State::* member, V&& value) {
  return Update<State>().set(member, std::forward<V>(value));
}
template <typename State, typename M, typename V>
Update<State> append(std::vector<M> State::* member, V&& item) {
  return Update<State>().append(member, std::forward<V>(item));
}
template <typename State, typename M>
Update<State> append(std::vector<M> State::* member,
                     std::initializer_list<std::type_identity_t<M>> items) {
  return Update<State>().append(member, items);
}
template <typename State, typename M, typename V = detail::Braced<M>>
Update<State> merge(std::map<std::string, M> State::* member, std::string key, V&& value) {
  return Update<State>().merge(member, std::move(key), std::forward<V>(value));
}
template <typename State, typename M, typename V>
Update<State> add(M State::* member, V&& amount) {
  return Update<State>().add(member, std::forward<V>(amount));
}
template <typename State, typename M, typename V = detail::Braced<M>>
Update<State> reduce(M State::* member, V&& value) {
  return Update<State>().reduce(member, std::forward<V>(value));
}
// With a Result as the value: compile errors.
template <typename State, typename M, detail::SomeResult V>
BELAY_REFUSED(BELAY_NOT_ITS_VALUE)
Update<State> set(M State::* member, V&& value);
template <typename State, typename M, detail::SomeResult V>
BELAY_REFUSED(BELAY_NOT_ITS_VALUE)
Update<State> append(std::vector<M> State::* member, V&& value);
template <typename State, typename M, detail::SomeResult V>
BELAY_REFUSED(BELAY_NOT_ITS_VALUE)
Update<State> merge(std::map<std::string, M> State::* member, std::string key, V&& value);
template <typename State, typename M, detail::SomeResult V>
BELAY_REFUSED(BELAY_NOT_ITS_VALUE)
Update<State> add(M State::* member, V&& value);
template <typename State, typename M, detail::SomeResult V>
BELAY_REFUSED(BELAY_NOT_ITS_VALUE)
Update<State> reduce(M State::* member, V&& value);
template <typename State>
Update<State> unchanged() {
  return Update<State>();
}
template <typename State>
Update<State> go_to(std::string_view node) {
  return Update<State>().go_to(node);
}

template <reflect::PlainStruct State>
const StateType& state_type() {
  static const StateType type =
      detail::make_state_type<State>(std::make_index_sequence<reflect::member_count<State>>());
  return type;
}

}  // namespace belay
