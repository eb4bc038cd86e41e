#include "langgraph/cron_body.h"

#include "langgraph/cron_time.h"
#include "langgraph/errors.h"
#include "langgraph/run_body.h"
#include "langgraph/run_configuration.h"

namespace belay::langgraph {
namespace {

Error cron_refusal(std::string_view member, std::string_view why) {
  return error(ErrorCode::invalid,
               "\"" + std::string(member) + "\" is not supported for crons: " + std::string(why));
}

// The time after which no tick fires; nullopt: unchanged, and an unset time: never. `zone`: that of
// the cron after the change.
Result<std::optional<Instant>> end_time_in(const Value& body, const std::string& zone) {
  if (!body.find("end_time")) return std::optional<Instant>();
  BELAY_TRY(auto text, text_member(body, "end_time"));
  if (!text) return std::optional(Instant());
  BELAY_TRY(Instant time, time_in("end_time", *text, zone));
  return std::optional(time);
}

Result<Done> check_scheduled_run(const RunBody& run) {
  bool has_command = !run.resume.is_null() || run.change;
  if (has_command) return cron_refusal("command", "its runs begin with an input.");
  if (!run.checkpoint.empty()) {
    return cron_refusal("checkpoint", "its runs continue the current state of the thread.");
  }
  if (run.delay.count() > 0) return cron_refusal("after_seconds", "change its schedule.");
  return Done{};
}

Result<std::string> overlap_of(std::optional<BusyThread> strategy) {
  switch (strategy.value_or(BusyThread::enqueue)) {
    case BusyThread::enqueue:
      return std::string(name_of(Overlap::allow));
    case BusyThread::reject:
      return std::string(name_of(Overlap::skip));
    case BusyThread::interrupt:
      return std::string(name_of(Overlap::cancel_other));
    case BusyThread::rollback:
      break;
  }
  return cron_refusal("multitask_strategy", "rollback deletes runs. Use another strategy.");
}

// Removes the ids that `given` does not have. They name the messages of one run: with them, the
// messages of the next tick would replace these.
Value without_new_ids(const Value& given, Value input) {
  if (!input.as_object() || !input.find("messages")) return input;
  Value::Array* messages = input.as_object()->at("messages").as_array();
  if (!messages) return input;
  for (std::size_t i = 0; i < messages->size(); ++i) {
    const Value::Array* list = given.as_array();
    const Value& before = list && i < list->size() ? (*list)[i] : given;
    bool is_new = before["id"].is_null() && (*messages)[i].as_object();
    if (is_new) (*messages)[i].as_object()->erase("id");
  }
  return input;
}

}  // namespace

Value cron_payload(const Value& body) { return changed_payload(Value(Value::Object{}), body); }

Value changed_payload(Value payload, const Value& body) {
  Value::Object& members = *payload.as_object();
  for (std::string_view name :
       {"assistant_id", "input", "command", "config", "context", "webhook", "interrupt_before",
        "interrupt_after", "multitask_strategy", "stream_mode", "stream_subgraphs",
        "stream_resumable", "durability", "after_seconds", "checkpoint", "checkpoint_id"}) {
    const Value* member = body.find(name);
    if (!member) continue;
    members.erase(std::string(name));
    if (!member->is_null()) members.emplace(name, *member);
  }
  return payload;
}

Result<std::optional<bool>> deletes_threads_in(const Value& body) {
  BELAY_TRY(auto named, text_member(body, "on_run_completed"));
  if (!named) return std::optional<bool>();
  if (*named == "delete" || *named == "keep") return std::optional(*named == "delete");
  return error(ErrorCode::invalid, "\"on_run_completed\" must be delete or keep.");
}

bool changes_configuration(const Value& body) {
  return body.find("config") || body.find("context");
}

std::vector<http::Header> configured_headers(const Cron& cron, const Value& body) {
  const Value stored =
      parse_json(cron.view.schedule.run.configuration).value_or(Value(Value::Object{}));
  const Value& given = body["config"]["configurable"];
  const Value& before = cron.record.payload["config"]["configurable"];
  std::vector<http::Header> headers;
  const Value::Object* members = stored["configurable"].as_object();
  for (const auto& [name, value] : members ? *members : Value::Object()) {
    bool is_header = value.as_string() && !given.find(name) && before[name] != value;
    if (is_header) headers.push_back({name, *value.as_string()});
  }
  return headers;
}

Result<ScheduleChange> schedule_change_in(AgentServer& served, const CronRequest& request) {
  const Value& body = request.body;
  const Value& agent = request.agent;
  Value merged = request.payload;
  merge_configuration(merged, request.assistant, nullptr);
  BELAY_TRY(RunBody run, run_body_of(merged));
  BELAY_CHECK(check_scheduled_run(run));
  if (!run.webhook.empty() && !served.endings->has_webhooks()) {
    return cron_refusal("webhook", "this server sends none.");
  }
  ScheduleChange change;
  change.durability = run.run.durability;
  change.breakpoints = run.breakpoints;
  if (request.headers) {
    // The limit is a part of the configuration.
    change.supersteps = run.run.supersteps.value_or(0);
    change.configuration =
        configuration_text(merged, request.assistant, nullptr, request.user, *request.headers);
  }
  BELAY_TRY(change.expression, text_member(body, "schedule"));
  BELAY_TRY(change.zone, text_member(body, "timezone"));
  BELAY_TRY(change.ends_at, end_time_in(body, change.zone.value_or(request.zone)));
  BELAY_TRY(auto enabled, bool_member(body, "enabled"));
  if (enabled) change.paused = !*enabled;
  BELAY_TRY(std::string overlap, overlap_of(run.if_busy));
  if (body.find("multitask_strategy")) change.overlap = std::move(overlap);
  change.agent = *agent["name"].as_string();
  const Value given = run.input["messages"];
  BELAY_TRY(AgentInput input, agent_input(served.options.conversations, agent, std::move(run.input),
                                          served.world.parts.random));
  if (body.find("input")) change.input = without_new_ids(given, std::move(input.value));
  return change;
}

}  // namespace belay::langgraph
