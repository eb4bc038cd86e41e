#include "service/schedule_documents.h"

#include "service/json_decode.h"
#include "service/json_encode.h"

namespace belay {
// Not in the unnamed namespace, because the codec reads the names of their members.

// The members of ScheduleView under the names of the API.
struct ScheduleDocument {
  std::string name{}, userId{};
  std::string agent{};
  Value input{};
  std::optional<std::string> threadId{};
  std::string queue{};
  std::int64_t priority = 0;
  std::string expression{}, zone{}, overlap{};
  std::int64_t catchUpSeconds = 0, jitterSeconds = 0;
  std::optional<Instant> endsAt{};
  bool paused = false;
  std::optional<std::string> reason{}, module{};
  std::string description{};
  std::vector<Instant> next{};
  std::optional<std::string> lastRunId{}, lastThreadId{}, lastError{};
  std::optional<Instant> buffered{};
  Instant decidedUntil{};
  std::int64_t started = 0, skipped = 0, missed = 0, failed = 0;
  Instant createdAt{}, updatedAt{};
};

// The members of ScheduleTick.
struct ScheduleTickDocument {
  Instant at{}, until{};
  std::int64_t count = 1;
  std::string decision{};
  std::optional<std::string> reason{}, runId{}, threadId{};
  Instant decidedAt{};
};

struct BackfillDocument {
  std::int64_t ticks = 0, started = 0;
  std::optional<Instant> first{}, last{};
};

namespace {

template <typename T>
Value value_of_document(const T& document) {
  auto text = encode_json(document);
  return text.ok() ? parse_json(*text).value_or(Value()) : Value();
}

std::optional<std::string> unless_empty(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return text;
}

std::string_view durability_name(Durability durability) {
  switch (durability) {
    case Durability::sync:
      return "sync";
    case Durability::async:
      return "async";
    case Durability::exit:
      break;
  }
  return "exit";
}

Result<ScheduleTick> tick_from(const Value& value) {
  BELAY_TRY(ScheduleTickDocument document, decode_json<ScheduleTickDocument>(value));
  ScheduleTick tick;
  tick.at = document.at;
  tick.until = document.until;
  tick.count = document.count;
  tick.decision = std::move(document.decision);
  tick.reason = document.reason.value_or("");
  tick.run = document.runId.value_or("");
  tick.thread = document.threadId.value_or("");
  tick.decided_at = document.decidedAt;
  return tick;
}

Result<std::string> next_page_in(const Value& document) {
  const Value& next = document["next"];
  if (next.is_null()) return std::string();
  if (const std::string* text = next.as_string()) return *text;
  return error(ErrorCode::invalid, "Its member \"next\" is not text.");
}

}  // namespace

Value schedule_document(const ScheduleView& view) {
  const Schedule& schedule = view.schedule;
  ScheduleDocument document;
  document.name = schedule.name;
  document.userId = schedule.user;
  document.agent = schedule.run.agent;
  document.input = schedule.run.input;
  document.threadId = unless_empty(schedule.run.thread);
  document.queue = schedule.run.queue;
  document.priority = schedule.run.priority;
  document.expression = schedule.expression;
  document.zone = schedule.zone;
  document.overlap = schedule.overlap;
  document.catchUpSeconds = schedule.catch_up_seconds;
  document.jitterSeconds = schedule.jitter_seconds;
  if (schedule.ends_at != Instant()) document.endsAt = schedule.ends_at;
  document.paused = schedule.paused;
  document.reason = unless_empty(schedule.reason);
  document.module = unless_empty(schedule.module);
  document.description = view.description;
  document.next = view.next;
  document.lastRunId = unless_empty(schedule.last_run);
  document.lastThreadId = unless_empty(schedule.last_thread);
  document.lastError = unless_empty(schedule.last_error);
  document.buffered = schedule.buffered;
  document.decidedUntil = schedule.decided;
  document.started = schedule.started;
  document.skipped = schedule.skipped;
  document.missed = schedule.missed;
  document.failed = schedule.failed;
  document.createdAt = schedule.created_at;
  document.updatedAt = schedule.updated_at;
  return value_of_document(document);
}

Result<ScheduleView> schedule_from(const Value& value) {
  BELAY_TRY(ScheduleDocument document, decode_json<ScheduleDocument>(value));
  ScheduleView view;
  Schedule& schedule = view.schedule;
  schedule.name = std::move(document.name);
  schedule.user = std::move(document.userId);
  schedule.run.agent = std::move(document.agent);
  schedule.run.input = std::move(document.input);
  schedule.run.thread = document.threadId.value_or("");
  schedule.run.queue = std::move(document.queue);
  schedule.run.priority = document.priority;
  schedule.expression = std::move(document.expression);
  schedule.zone = std::move(document.zone);
  schedule.overlap = std::move(document.overlap);
  schedule.catch_up_seconds = document.catchUpSeconds;
  schedule.jitter_seconds = document.jitterSeconds;
  schedule.ends_at = document.endsAt.value_or(Instant());
  schedule.paused = document.paused;
  schedule.reason = document.reason.value_or("");
  schedule.module = document.module.value_or("");
  view.description = std::move(document.description);
  view.next = std::move(document.next);
  schedule.last_run = document.lastRunId.value_or("");
  schedule.last_thread = document.lastThreadId.value_or("");
  schedule.last_error = document.lastError.value_or("");
  schedule.buffered = document.buffered;
  schedule.decided = document.decidedUntil;
  schedule.started = document.started;
  schedule.skipped = document.skipped;
  schedule.missed = document.missed;
  schedule.failed = document.failed;
  schedule.created_at = document.createdAt;
  schedule.updated_at = document.updatedAt;
  return view;
}

Value schedules_document(const ListedSchedules& page) {
  Value::Array documents;
  for (const ScheduleView& view : page.schedules) documents.push_back(schedule_document(view));
  return Value::object({{"schedules", std::move(documents)}, {"next", text_or_null(page.next)}});
}

Result<ListedSchedules> schedules_from(const Value& document) {
  ListedSchedules page;
  BELAY_TRY(page.schedules, items_from<ScheduleView>(document, "schedules", schedule_from));
  BELAY_TRY(page.next, next_page_in(document));
  return page;
}

Value schedule_tick_document(const ScheduleTick& tick) {
  ScheduleTickDocument document;
  document.at = tick.at;
  document.until = tick.until;
  document.count = tick.count;
  document.decision = tick.decision;
  document.reason = unless_empty(tick.reason);
  document.runId = unless_empty(tick.run);
  document.threadId = unless_empty(tick.thread);
  document.decidedAt = tick.decided_at;
  return value_of_document(document);
}

Value schedule_ticks_document(const ScheduleTicks& page) {
  Value::Array documents;
  for (const ScheduleTick& tick : page.ticks) documents.push_back(schedule_tick_document(tick));
  return Value::object({{"ticks", std::move(documents)}, {"next", text_or_null(page.next)}});
}

Result<ScheduleTicks> schedule_ticks_from(const Value& document) {
  ScheduleTicks page;
  BELAY_TRY(page.ticks, items_from<ScheduleTick>(document, "ticks", tick_from));
  BELAY_TRY(page.next, next_page_in(document));
  return page;
}

Value backfill_document(const Backfill& backfill) {
  BackfillDocument document{backfill.ticks, backfill.started, backfill.first, backfill.last};
  return value_of_document(document);
}

Result<Backfill> backfill_from(const Value& value) {
  BELAY_TRY(BackfillDocument document, decode_json<BackfillDocument>(value));
  return Backfill{document.ticks, document.started, document.first, document.last};
}

ScheduleChange schedule_change_of(ScheduleBody body) {
  ScheduleChange change;
  change.expression = std::move(body.expression);
  change.zone = std::move(body.zone);
  change.agent = std::move(body.agent);
  change.thread = std::move(body.threadId);
  change.queue = std::move(body.queue);
  if (!body.input.is_null()) change.input = std::move(body.input);
  change.priority = body.priority;
  change.overlap = std::move(body.overlap);
  change.catch_up_seconds = body.catchUpSeconds;
  change.jitter_seconds = body.jitterSeconds;
  change.durability = body.durability;
  change.supersteps = body.supersteps;
  if (!body.configuration.is_null()) change.configuration = to_json(body.configuration);
  change.breakpoints = std::move(body.breakpoints);
  change.ends_at = body.endsAt;
  change.paused = body.paused;
  change.reason = std::move(body.reason);
  return change;
}

Value schedule_body(const ScheduleChange& change) {
  Value::Object body;
  if (change.expression) body["expression"] = *change.expression;
  if (change.zone) body["zone"] = *change.zone;
  if (change.agent) body["agent"] = *change.agent;
  if (change.thread) body["threadId"] = *change.thread;
  if (change.queue) body["queue"] = *change.queue;
  if (change.input) body["input"] = *change.input;
  if (change.priority) body["priority"] = *change.priority;
  if (change.overlap) body["overlap"] = *change.overlap;
  if (change.catch_up_seconds) body["catchUpSeconds"] = *change.catch_up_seconds;
  if (change.jitter_seconds) body["jitterSeconds"] = *change.jitter_seconds;
  if (change.durability) body["durability"] = durability_name(*change.durability);
  if (change.supersteps) body["supersteps"] = *change.supersteps;
  if (change.configuration) {
    body["configuration"] = parse_json(*change.configuration).value_or(*change.configuration);
  }
  if (change.breakpoints) {
    const Breakpoints& nodes = *change.breakpoints;
    body["breakpoints"] =
        Value::object({{"before", Value::Array(nodes.before.begin(), nodes.before.end())},
                       {"after", Value::Array(nodes.after.begin(), nodes.after.end())}});
  }
  if (change.ends_at) body["endsAt"] = to_text(*change.ends_at);
  if (change.paused) body["paused"] = *change.paused;
  if (change.reason) body["reason"] = *change.reason;
  return Value(std::move(body));
}

}  // namespace belay
