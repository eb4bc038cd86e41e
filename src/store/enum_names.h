#pragma once
// store/enum_names.h - converts enumerators of stored rows to their names and back. The names are
// stored: append, never rename.

#include <array>
#include <optional>
#include <string_view>

#include "belay/thread.h"

namespace belay::store {

template <typename E>
inline constexpr std::array<std::string_view, 0> enum_names{};
template <>
inline constexpr std::array<std::string_view, 7> enum_names<RunStatus>{
    "queued", "running", "paused", "completed", "failed", "cancelled", "quarantined"};
template <>
inline constexpr std::array<std::string_view, 3> enum_names<PauseReason>{"approval", "timer",
                                                                         "breakpoint"};
template <>
inline constexpr std::array<std::string_view, 5> enum_names<ApprovalStatus>{
    "open", "approved", "rejected", "expired", "closed"};
template <>
inline constexpr std::array<std::string_view, 14> enum_names<CommitKind>{
    "input",   "node",   "attempt", "pause",   "decision", "expiry",     "claim",
    "failure", "cancel", "timer",   "release", "fork",     "quarantine", "consent"};
template <>
inline constexpr std::array<std::string_view, 5> enum_names<WriteOp>{"set", "append", "merge",
                                                                     "add", "reduce"};
template <>
inline constexpr std::array<std::string_view, 4> enum_names<TaskStatus>{"waiting", "asking",
                                                                        "answered", "done"};
template <>
inline constexpr std::array<std::string_view, 2> enum_names<EffectClass>{"keyed", "unkeyed"};
template <>
inline constexpr std::array<std::string_view, 5> enum_names<EffectStatus>{
    "intended", "done", "failed", "uncertain", "skipped"};
template <>
inline constexpr std::array<std::string_view, 3> enum_names<OutboxStatus>{"waiting", "delivered",
                                                                          "given_up"};

template <>
inline constexpr std::array<std::string_view, 4> enum_names<ConcurrencyScope>{"user", "key",
                                                                              "queue", "tenant"};

template <>
inline constexpr std::array<std::string_view, 4> enum_names<BusyThread>{"reject", "enqueue",
                                                                        "interrupt", "rollback"};
template <>
inline constexpr std::array<std::string_view, 4> enum_names<ThreadStatus>{"idle", "busy",
                                                                          "interrupted", "error"};

template <typename E>
std::string_view enum_name(E value) {
  auto index = static_cast<std::size_t>(value);
  return index < enum_names<E>.size() ? enum_names<E>[index] : "unknown";
}

template <typename E>
std::optional<E> enum_named(std::string_view name) {
  for (std::size_t i = 0; i < enum_names<E>.size(); ++i) {
    if (enum_names<E>[i] == name) return static_cast<E>(i);
  }
  return std::nullopt;
}

}  // namespace belay::store
