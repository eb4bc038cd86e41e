// Names of event kinds, ids of events, and their JSON form.

#include <array>
#include <charconv>

#include "belay/event.h"

namespace belay {
namespace {

constexpr std::array<std::string_view, 9> kind_names{"status",      "values",    "updates",
                                                     "messages",    "custom",    "tasks",
                                                     "checkpoints", "approvals", "debug"};

std::optional<std::uint64_t> number_from(std::string_view text) {
  std::uint64_t number = 0;
  auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Value text_or_null(const std::string& text) { return text.empty() ? Value() : Value(text); }

}  // namespace

std::string EventId::text() const { return std::to_string(seq) + "-" + std::to_string(index); }

std::optional<EventId> event_id_from(std::string_view text) {
  std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  auto seq = number_from(text.substr(0, dash));
  auto index = number_from(text.substr(dash + 1));
  if (!seq || !index) return std::nullopt;
  return EventId{*seq, *index};
}

std::string_view name_of(EventKind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

std::optional<EventKind> event_kind_named(std::string_view name) {
  for (std::size_t i = 0; i < kind_names.size(); ++i) {
    if (kind_names[i] == name) return static_cast<EventKind>(i);
  }
  return std::nullopt;
}

Value to_value(const StreamEvent& event) {
  bool is_said = event.kind == EventKind::messages;
  return Value::object({{"id", event.id ? Value(event.id->text()) : Value()},
                        {"kind", name_of(event.kind)},
                        {"threadId", event.thread.text},
                        {"runId", event.run.text()},
                        {"namespace", text_or_null(event.checkpoint_ns)},
                        // The former name of "namespace", for clients that were written for it.
                        {"space", text_or_null(event.checkpoint_ns)},
                        {"node", text_or_null(event.node)},
                        {"taskId", event.task.is_null() ? Value() : Value(event.task.text())},
                        {"attempt", is_said ? Value(event.attempt) : Value()},
                        {"offset", is_said ? Value(event.offset) : Value()},
                        {"at", to_text(event.at)},
                        {"body", event.body}});
}

}  // namespace belay
