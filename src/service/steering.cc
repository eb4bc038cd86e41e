#include "service/steering.h"

#include <algorithm>

#include "base/in_quotes.h"
#include "base/trimmed.h"
#include "belay/agent.h"
#include "driver/run_driver.h"
#include "service/find_run.h"

namespace belay {
// Not in the unnamed namespace, because the codec reads the names of its members.
// The members of SteeringMessage under the names of the API.
struct SteeringDocument {
  std::string id{};
  std::string threadId{}, runId{};
  std::string text{}, use{}, sentBy{};
  Instant createdAt{};
  bool waits = false;
  std::string usedBy{};
  std::optional<Instant> usedAt{};
};

namespace {

// The wait while an agent's node `finish` is scheduled, or other commits move the run.
constexpr std::chrono::milliseconds kRetryInterval{10};
constexpr int kTriesMax = 500;

Result<Done> check_message(const Steer& message) {
  if (trimmed(message.text).empty()) {
    return error(ErrorCode::invalid, "The message has no text. Provide one.");
  }
  if (message.text.size() > limits::steering_bytes_max) {
    return error(ErrorCode::invalid,
                 "The message has " + std::to_string(message.text.size()) + " bytes; at most " +
                     std::to_string(limits::steering_bytes_max) + " are allowed.");
  }
  BELAY_CHECK(check_name("sender of the message", message.by));
  if (!message.id.empty()) BELAY_CHECK(check_name("id of the message", message.id));
  return Done{};
}

Error ended(const RunRow& run) {
  return error(ErrorCode::conflict, "The run of thread " + in_quotes(run.thread.text) +
                                        " has ended (" + std::string(name_of(run.status)) +
                                        "), the message was not stored. Start the next run with "
                                        "it.");
}

Error used_id(const std::string& id) {
  return error(ErrorCode::conflict,
               "Another message has the id " + in_quotes(id) + ". Send this one with a new id.");
}

// An agent decides now whether the run ends: see the header.
bool is_finishing(const RunRow& run) {
  std::string nodes = "," + run.node + ",";
  return nodes.find("," + std::string(finish_node) + ",") != std::string::npos;
}

struct Acceptance {
  SteeringParts parts;
  TenantId tenant;
  ThreadId thread;
  Steer message;
  RunRow run = {};  // as it was read last

  Task<Result<std::optional<SteeringMessage>>> stored();
  // Returns the time of the next message: after those of the waiting ones, whose order is that of
  // their times, also if the clock was set back meanwhile.
  Task<Result<Instant>> next_time();
  Task<Result<std::optional<SteeringMessage>>> try_once();
};

Task<Result<std::optional<SteeringMessage>>> Acceptance::stored() {
  auto records = store_records(parts.store, parts.clock, tenant, run.user);
  auto found = co_await records->get<SteeringMessage>(message.id);
  if (!found.ok()) co_return std::move(found).error();
  if (!*found) co_return std::optional<SteeringMessage>();
  bool is_same = (*found)->thread == thread.text && (*found)->text == message.text &&
                 (*found)->use == name_of(message.use);
  if (!is_same) co_return used_id(message.id);
  co_return *std::move(found);
}

Task<Result<Instant>> Acceptance::next_time() {
  auto records = store_records(parts.store, parts.clock, tenant, run.user);
  RecordSpan span =
      RecordSpan("run").equal_to(run.run.text(), true).limit(limits::steering_waiting_max);
  auto page = co_await read_page<SteeringMessage>(*records, std::move(span));
  if (!page.ok()) co_return std::move(page).error();
  if (page->records.size() < limits::steering_waiting_max) {
    Instant now = parts.clock.now();
    if (page->records.empty()) co_return now;
    co_return std::max(now, page->records.back().record.created_at + Instant::duration(1));
  }
  co_return error(ErrorCode::unavailable, std::to_string(page->records.size()) +
                                              " messages wait for this run. Send the "
                                              "message again when it has used some.");
}

// nullopt: the run cannot accept the message now, or has moved.
Task<Result<std::optional<SteeringMessage>>> Acceptance::try_once() {
  std::function<Result<RunRow>(Snapshot&)> reader = [this](Snapshot& view) {
    return run_of_thread(view, tenant, thread, parts.call);
  };
  BELAY_CO_TRY(run, co_await read<RunRow>(parts.store, std::move(reader)));
  BELAY_CO_TRY(auto earlier, co_await stored());
  if (earlier) co_return std::move(earlier);
  if (is_final(run.status)) co_return ended(run);
  if (is_finishing(run)) co_return std::optional<SteeringMessage>();
  SteeringMessage accepted;
  BELAY_CO_TRY(accepted.created_at, co_await next_time());
  accepted.id = message.id;
  accepted.thread = thread.text;
  accepted.run = run.run.text();
  accepted.text = message.text;
  accepted.use = name_of(message.use);
  accepted.by = message.by;
  BELAY_CO_TRY(RecordWrite write, record_write(accepted, run.user));
  std::vector<RecordWrite> writes{std::move(write)};
  BELAY_CO_TRY(bool is_saved, co_await save_records_for(parts.store, run, std::move(writes)));
  if (!is_saved) co_return std::optional<SteeringMessage>();
  co_return std::optional(std::move(accepted));
}

}  // namespace

Task<Result<SteeringMessage>> steer_run(SteeringParts parts, TenantId tenant, ThreadId thread,
                                        Steer message) {
  BELAY_CO_CHECK(check_message(message));
  if (message.id.empty()) message.id = random_uuid(parts.random).text();
  Acceptance acceptance{std::move(parts), std::move(tenant), std::move(thread), std::move(message)};
  for (int i = 0; i < kTriesMax; ++i) {
    if (i > 0) co_await sleep_for(kRetryInterval);
    BELAY_CO_TRY(auto accepted, co_await acceptance.try_once());
    if (accepted) co_return *std::move(accepted);
  }
  co_return error(ErrorCode::unavailable,
                  "The run commits too often to accept the message. Send it again.");
}

Task<Result<std::vector<SteeringMessage>>> steering_of_thread(SteeringParts parts, TenantId tenant,
                                                              ThreadId thread) {
  std::function<Result<RunRow>(Snapshot&)> reader = [&](Snapshot& view) {
    return run_of_thread(view, tenant, thread, parts.call);
  };
  BELAY_CO_TRY(RunRow run, co_await read<RunRow>(parts.store, std::move(reader)));
  auto records = store_records(parts.store, parts.clock, tenant, run.user);
  RecordSpan span = RecordSpan("thread").equal_to(thread.text).last_first();
  span.limit(limits::list_rows_max);
  auto page = co_await read_page<SteeringMessage>(*records, std::move(span));
  if (!page.ok()) co_return std::move(page).error();
  std::vector<SteeringMessage> messages;
  for (auto& each : page->records) messages.push_back(std::move(each.record));
  std::reverse(messages.begin(), messages.end());
  co_return std::move(messages);
}

Task<Result<Done>> delete_steering(Store& store, Clock& clock, TenantId tenant, UserId user,
                                   ThreadId thread) {
  auto records = store_records(store, clock, tenant, user);
  while (true) {
    RecordSpan span = RecordSpan("thread").equal_to(thread.text).limit(100);
    auto page = co_await read_page<SteeringMessage>(*records, std::move(span));
    if (!page.ok()) co_return std::move(page).error();
    if (page->records.empty()) co_return Done{};
    std::vector<RecordWrite> writes;
    for (const auto& each : page->records) {
      BELAY_CO_TRY(RecordWrite write, record_write(each.record, user));
      write.erase = true;
      writes.push_back(std::move(write));
    }
    BELAY_CO_CHECK(co_await save_records(store, tenant, std::move(writes)));
  }
}

Task<Done> add_unused_steering(Service& service, const Principal& who, RunRow run,
                               Value& document) {
  auto messages = co_await service.steering(who, std::move(run.thread));
  if (!messages.ok()) co_return Done{};
  Value::Array unused;
  for (const SteeringMessage& message : *messages) {
    bool is_unused = message.waits && message.run == run.run.text();
    if (is_unused) unused.push_back(steering_document(message));
  }
  if (!unused.empty()) document.as_object()->emplace("unusedSteering", std::move(unused));
  co_return Done{};
}

Value steering_document(const SteeringMessage& message) {
  SteeringDocument document{message.id,      message.thread, message.run,        message.text,
                            message.use,     message.by,     message.created_at, message.waits,
                            message.used_by, message.used_at};
  auto text = encode_json(document);
  return text.ok() ? parse_json(*text).value_or(Value()) : Value();
}

Result<SteeringMessage> steering_from(const Value& value) {
  BELAY_TRY(SteeringDocument document, decode_json<SteeringDocument>(value));
  return SteeringMessage{document.id,     document.threadId, document.runId,     document.text,
                         document.use,    document.sentBy,   document.createdAt, document.waits,
                         document.usedBy, document.usedAt};
}

}  // namespace belay
