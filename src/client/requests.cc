#include "client/requests.h"

#include <algorithm>

#include "belay/limits.h"

namespace belay::client {
namespace {

Value texts_of(const std::vector<std::string>& texts) {
  return Value::Array(texts.begin(), texts.end());
}

Value edit_body(const StateEdit& edit) {
  Value::Object body;
  if (!edit.as_node.empty()) body["asNode"] = edit.as_node;
  if (edit.held) body["held"] = true;
  if (edit.from) {
    body["from"] = Value::object({{"runId", edit.from->run}, {"seq", edit.from->seq}});
  }
  Value::Array nodes;
  for (const FirstNode& first : edit.go_to) {
    Value::Object node{{"node", first.node}};
    if (!first.input.empty()) node["input"] = parse_json(first.input).value_or(Value());
    nodes.push_back(Value(std::move(node)));
  }
  if (!nodes.empty()) body["goTo"] = Value(std::move(nodes));
  return Value(std::move(body));
}

Value breakpoints_body(const Breakpoints& breakpoints) {
  return Value::object(
      {{"before", texts_of(breakpoints.before)}, {"after", texts_of(breakpoints.after)}});
}

}  // namespace

std::string deletion_path(std::string path, KeptRuns kept) {
  return kept == KeptRuns::newest ? path + "?keep=newest" : path;
}

Value resume_body(const std::optional<Breakpoints>& breakpoints,
                  const std::optional<std::uint64_t>& only_at,
                  const std::optional<Consent>& consent) {
  Value::Object body;
  if (breakpoints) body["breakpoints"] = breakpoints_body(*breakpoints);
  if (only_at) body["onlyAt"] = *only_at;
  if (consent) {
    body["acceptChanges"] = true;
    if (!consent->by.empty()) body["by"] = consent->by;
    if (!consent->on_behalf_of.empty()) body["onBehalfOf"] = consent->on_behalf_of;
  }
  return Value(std::move(body));
}

std::uint64_t page_limit(std::size_t limit) {
  return std::clamp<std::uint64_t>(limit, 1, limits::list_rows_max);
}

Result<Done> check_start(const StartRun& start) {
  if (start.records.empty()) return Done{};
  return error(ErrorCode::invalid, "The start of a run on a server cannot save records.");
}

Value start_body(const StartRun& start) {
  const RunSettings& options = start.run;
  Value::Object body{{"input", start.input}};
  if (!start.thread.empty()) body["threadId"] = start.thread.text;
  if (start.if_busy != BusyThread::reject) body["ifBusy"] = name_of(start.if_busy);
  if (options.timeout) body["timeoutMs"] = options.timeout->count();
  if (options.require_approval) body["requireApproval"] = *options.require_approval;
  if (start.user != UserId("local")) body["userId"] = start.user.text;
  if (options.max_retries) body["maxRetries"] = *options.max_retries;
  if (options.breakpoints) body["breakpoints"] = breakpoints_body(*options.breakpoints);
  if (start.edit) body["edit"] = edit_body(*start.edit);
  if (options.approval_expires) body["expiresMs"] = options.approval_expires->count();
  if (options.budget.tokens) body["maxTokens"] = *options.budget.tokens;
  if (options.budget.money) body["maxCost"] = *options.budget.money;
  // The server refuses a text that is not an object.
  if (!options.configuration.empty()) {
    body["configuration"] = parse_json(options.configuration).value_or(options.configuration);
  }
  if (start.queued) body["queued"] = true;
  if (start.delay.count() > 0) body["delayMs"] = start.delay.count();
  if (start.queue != default_queue) body["queue"] = start.queue;
  if (start.priority != 0) body["priority"] = start.priority;
  if (!start.concurrency_key.empty()) body["concurrencyKey"] = start.concurrency_key;
  return Value(std::move(body));
}

Value fork_body(const ForkOptions& options, bool is_preview) {
  Value::Object body;
  if (options.run) body["runId"] = options.run->text();
  if (options.seq) body["seq"] = *options.seq;
  if (!options.edits.is_null()) body["edits"] = options.edits;
  if (!options.thread.empty()) body["threadId"] = options.thread.text;
  if (!options.user.empty()) body["userId"] = options.user.text;
  if (!options.roles.empty()) body["roles"] = texts_of(options.roles);
  if (options.copy) body["copy"] = true;
  if (options.queued) body["queued"] = true;
  if (is_preview) body["preview"] = true;
  return Value(std::move(body));
}

Value decision_body(const Decision& decision) {
  Value::Object body;
  if (decision.choice.empty()) {
    body["approved"] = decision.approved;
  } else {
    body["choice"] = decision.choice;
  }
  if (!decision.answer.is_null()) body["answer"] = decision.answer;
  if (!decision.decided_by.empty()) body["decidedBy"] = decision.decided_by;
  if (!decision.on_behalf_of.empty()) body["onBehalfOf"] = decision.on_behalf_of;
  if (!decision.roles.empty()) body["roles"] = texts_of(decision.roles);
  if (!decision.comment.empty()) body["comment"] = decision.comment;
  if (decision.edited) body["edited"] = *decision.edited;
  return Value(std::move(body));
}

void add_user(Target& target, const std::optional<UserId>& user) {
  if (user) target.query("userId", user->text);
}

void add_field(Target& target, const RecordFilter& filter) {
  if (filter.field.empty()) return;
  target.query("field", filter.field);
  if (!filter.range) {
    target.query("value", filter.value);
    return;
  }
  const RecordRange& range = *filter.range;
  if (!range.from.empty()) target.query("from", range.from);
  if (!range.until.empty()) target.query("until", range.until);
  if (range.is_descending) target.query("descending", "true");
  if (!range.after.empty()) target.query("afterValue", range.after);
}

void add_run(Target& target, const std::optional<RunId>& run) {
  if (run) target.query("run", run->text());
}

Value thread_body(const ThreadSettings& settings) {
  Value::Object body;
  if (settings.title) body["title"] = *settings.title;
  if (settings.metadata) body["metadata"] = *settings.metadata;
  if (settings.expires_at) {
    bool is_never = *settings.expires_at == Instant{};
    body["expiresAt"] = is_never ? Value() : Value(to_text(*settings.expires_at));
  }
  return Value(std::move(body));
}

std::string thread_path(const ThreadId& thread, std::string_view more) {
  return Target("/api/threads").segment(thread.text).text() + std::string(more);
}

Ask ask_to(std::string method, std::string target, Value body) {
  Ask ask;
  ask.method = std::move(method);
  ask.target = std::move(target);
  ask.body = std::move(body);
  return ask;
}

Ask post(std::string target) { return post(std::move(target), Value(Value::Object{})); }
Ask post(std::string target, Value body) {
  return ask_to("POST", std::move(target), std::move(body));
}

Target runs_target(const RunPage& page) {
  bool is_of_thread = page.thread && page.statuses.empty() && !page.user;
  Target target(is_of_thread ? thread_path(*page.thread, "/runs") : std::string("/api/runs"));
  if (page.thread && !is_of_thread) target.query("threadId", page.thread->text);
  target.query("limit", page_limit(page.limit));
  if (page.before) target.query("before", page.before->text());
  add_user(target, page.user);
  return target;
}

}  // namespace belay::client
