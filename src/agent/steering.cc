// A message is accepted only while its run has not scheduled the node `finish`, or after that node
// has continued the run (service/steering.h). Therefore every accepted message is read by a node.

#include <algorithm>

#include "belay/agent.h"
#include "belay/service.h"

namespace belay {

std::string_view name_of(SteeringUse use) {
  return use == SteeringUse::next_call ? "next_call" : "after_answer";
}

std::optional<SteeringUse> steering_use_named(std::string_view name) {
  for (SteeringUse use : {SteeringUse::next_call, SteeringUse::after_answer}) {
    if (name_of(use) == name) return use;
  }
  return std::nullopt;
}

namespace {

Task<Result<SteeringMessages>> messages_in(Records& records, RecordSpan span) {
  auto page = co_await read_page<SteeringMessage>(records, std::move(span));
  if (!page.ok()) co_return std::move(page).error();
  co_return std::move(page->records);
}

RecordSpan span_of(const Context& context, bool waits) {
  return RecordSpan("run").equal_to(context.run().text(), waits);
}

// A replay repeats the decisions of the recorded task, whatever has been accepted since.
Task<Result<SteeringMessages>> used_messages(Context& context) {
  RecordSpan span = span_of(context, false);
  auto messages = co_await messages_in(context.records(), std::move(span));
  if (!messages.ok()) co_return std::move(messages).error();
  std::string task = context.task().text();
  std::erase_if(*messages, [&](const auto& each) { return each.record.used_by != task; });
  co_return std::move(messages);
}

}  // namespace

Task<Result<SteeringMessages>> waiting_messages(Context& context, bool all) {
  if (context.is_replay()) {
    auto used = co_await used_messages(context);
    co_return std::move(used);
  }
  RecordSpan span = span_of(context, true).limit(limits::steering_waiting_max);
  auto messages = co_await messages_in(context.records(), std::move(span));
  if (!messages.ok()) co_return std::move(messages).error();
  std::string_view next_call = name_of(SteeringUse::next_call);
  std::erase_if(*messages, [&](const auto& each) { return !all && each.record.use != next_call; });
  co_return std::move(messages);
}

std::string steering_text(const SteeringMessages& messages) {
  std::string text;
  for (const auto& each : messages) {
    if (!text.empty()) text += "\n\n";
    text += each.record.text;
  }
  return text;
}

void use_messages(const SteeringMessages& messages, int call, Context& context) {
  if (messages.empty()) return;
  Value::Array ids;
  for (const auto& each : messages) {
    SteeringMessage used = each.record;
    used.waits = false;
    used.used_by = context.task().text();
    used.used_at = context.now();
    ids.emplace_back(used.id);
    context.save(used, each.version);
  }
  context.emit("steered", Value::object({{"call", call}, {"messages", Value(std::move(ids))}}));
}

}  // namespace belay
