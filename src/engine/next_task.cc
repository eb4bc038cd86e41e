#include "engine/next_task.h"

#include <utility>

#include "base/text_in.h"
#include "belay/value.h"

namespace belay::engine {
namespace {

Value value_of_answer(const std::pair<std::string, InterruptResponse>& entry) {
  const auto& [question, answer] = entry;
  Value value = Value::object({{"question", question},
                               {"approved", answer.approved},
                               {"payload", answer.payload},
                               {"decidedBy", answer.decided_by},
                               {"comment", answer.comment}});
  bool is_plain =
      answer.choice.empty() || answer.choice == (answer.approved ? "approve" : "reject");
  if (!is_plain) value.as_object()->emplace("choice", answer.choice);
  return value;
}

Error damaged() {
  return error(
      ErrorCode::corrupt,
      "The next tasks of a checkpoint cannot be read. Run `belay check` and restore a backup.");
}

void write_materials(const BillOfMaterials& materials, Encoder& out) {
  if (materials.empty()) return;
  out.write_name("materials", false);
  write_json(value_of(materials), out.text);
}

// `materials`: of the run, in the first task.
void write_task(const NodeTask& task, std::optional<std::int64_t> superstep,
                const BillOfMaterials& materials, Encoder& out) {
  out.text += "{\"node\":";
  write_json_string(task.node->name, out.text);
  if (superstep) {
    out.text += ",\"superstep\":";
    out.write(*superstep);
    write_materials(materials, out);
  }
  if (task.input) {
    out.text += ",\"input\":";
    out.text += *task.input;
  }
  write_task_parts(task, out);
  if (!task.decisions.empty()) {
    out.write_name("decisions", false);
    out.text += decisions_text(task.decisions);
  }
  out.text += '}';
}

bool has_other_version(const Run& run) {
  return run.version != Digest{} && run.version != run.row.graph_hash;
}

void write_version(const Run& run, Encoder& out) {
  if (!has_other_version(run)) return;
  out.text += ",{\"version\":\"" + to_hex(run.version) + "\"}";
}

void write_breakpoints(const Run& run, Encoder& out) {
  if (!run.breakpoints_since) return;
  const auto& [before, after] = *run.breakpoints_since;
  Value both = Value::object({{"before", Value::Array(before.begin(), before.end())},
                              {"after", Value::Array(after.begin(), after.end())}});
  out.text += ",{\"breakpoints\":";
  write_json(both, out.text);
  out.text += '}';
}

void write_joins(const Run& run, Encoder& out) {
  for (const auto& [join, seen] : run.joins) {
    if (seen.empty()) continue;
    Value::Array names(seen.begin(), seen.end());
    out.text += ',';
    write_json(Value::object(
                   {{"join", static_cast<std::uint64_t>(join)}, {"seen", Value(std::move(names))}}),
               out.text);
  }
}

Result<Done> read_answers(const Value& from, NodeTask& task) {
  const Value::Array* answers = from["answers"].as_array();
  if (!answers) return Done{};
  for (const Value& each : *answers) {
    InterruptResponse answer;
    const bool* approved = each["approved"].as_bool();
    if (!approved) return damaged();
    answer.approved = *approved;
    answer.payload = each["payload"];
    answer.decided_by = text_in(each, "decidedBy");
    answer.comment = text_in(each, "comment");
    answer.choice = text_in(each, "choice");
    if (answer.choice.empty() && !answer.decided_by.empty()) {
      answer.choice = answer.approved ? "approve" : "reject";
    }
    task.answers.emplace_back(text_in(each, "question"), std::move(answer));
  }
  return Done{};
}

Result<Done> read_join(const Value& from, NextTasks& next) {
  auto join = from["join"].as_uint();
  const Value::Array* names = from["seen"].as_array();
  if (!join || !names) return damaged();
  for (const Value& name : *names) {
    if (!name.as_string()) return damaged();
    next.joins[*join].push_back(*name.as_string());
  }
  return Done{};
}

Result<Done> read_materials(const Value& from, BillOfMaterials& materials) {
  const Value* found = from.find("materials");
  if (!found) return Done{};
  if (!found->as_object()) return damaged();
  for (const auto& [group, text] : *found->as_object()) {
    if (!text.as_string()) return damaged();
    materials.insert_or_assign(group, *text.as_string());
  }
  return Done{};
}

Result<Done> read_task(const Value& from, NextTasks& next) {
  const std::string* node = from["node"].as_string();
  if (!node) return damaged();
  NodeTask task;
  task.position = next.tasks.size();
  if (const Value* input = from.find("input")) {
    task.input = std::make_shared<const std::string>(to_json(*input));
  }
  BELAY_CHECK(read_task_parts(from, task));
  if (const Value::Array* decisions = from["decisions"].as_array()) {
    for (const Value& each : *decisions) {
      BELAY_TRY(ApprovalDecision decision, decision_from(each));
      task.decisions.push_back(std::move(decision));
    }
  }
  if (auto superstep = from["superstep"].as_int()) next.superstep = *superstep;
  next.tasks.push_back(std::move(task));
  next.nodes.push_back(*node);
  return Done{};
}

}  // namespace

std::string without_decisions(const std::string& text) {
  auto tasks = parse_json(text, limits::document_depth_max);
  if (!tasks.ok() || !tasks->as_array()) return text;
  for (Value& each : *tasks->as_array()) {
    if (each.as_object()) each.as_object()->erase("decisions");
  }
  return to_json(*tasks);
}

std::string without_materials(const std::string& text, const Digest& version) {
  auto tasks = parse_json(text, limits::document_depth_max);
  if (!tasks.ok() || !tasks->as_array() || tasks->as_array()->empty()) return text;
  Value::Object* first = tasks->as_array()->front().as_object();
  if (!first || first->erase("materials") == 0) return text;
  first->erase("started");
  auto carrier = first->find("version");
  bool has_ended = carrier != first->end() && first->size() == 1;
  if (has_ended && carrier->second == Value(to_hex(version))) return "[]";
  return to_json(*tasks);
}

Value value_of_decision(const ApprovalDecision& decision) {
  std::string_view verdict = decision.expired ? "expired" : "";
  if (verdict.empty()) verdict = decision.approved ? "approved" : "rejected";
  Value::Object members{{"approval", decision.approval},
                        {"choice", decision.choice},
                        {"verdict", verdict},
                        {"at", to_text(decision.at)}};
  auto add = [&](std::string_view name, const std::string& text) {
    if (!text.empty()) members.emplace(std::string(name), text);
  };
  // Of an expiry, whether its choice approves.
  if (decision.expired && decision.approved) members.emplace("approved", true);
  add("decidedBy", decision.decided_by);
  add("onBehalfOf", decision.on_behalf_of);
  add("comment", decision.comment);
  if (decision.edited) members.emplace("edited", *decision.edited);
  if (!decision.answer.is_null()) members.emplace("answer", decision.answer);
  Value::Array votes;
  for (const ApprovalVote& vote : decision.votes) votes.push_back(detail::value_of(vote));
  if (!votes.empty()) members.emplace("votes", std::move(votes));
  return Value(std::move(members));
}

std::string decisions_text(const std::vector<ApprovalDecision>& decisions) {
  if (decisions.empty()) return "";
  Value::Array values;
  for (const ApprovalDecision& each : decisions) values.push_back(value_of_decision(each));
  return to_json(Value(std::move(values)));
}

Result<std::vector<ApprovalDecision>> decisions_from(std::string_view text) {
  std::vector<ApprovalDecision> decisions;
  if (text.empty()) return decisions;
  BELAY_TRY(Value values, parse_json(text));
  if (!values.as_array()) return damaged();
  for (const Value& each : *values.as_array()) {
    BELAY_TRY(ApprovalDecision decision, decision_from(each));
    decisions.push_back(std::move(decision));
  }
  return decisions;
}

Result<ApprovalDecision> decision_from(const Value& value) {
  ApprovalDecision decision;
  decision.approval = text_in(value, "approval");
  decision.choice = text_in(value, "choice");
  std::string verdict = text_in(value, "verdict");
  auto at = instant_from(text_in(value, "at"));
  if (decision.approval.empty() || verdict.empty() || !at) return damaged();
  decision.expired = verdict == "expired";
  const bool* approved = value["approved"].as_bool();
  decision.approved = verdict == "approved" || (approved && *approved);
  decision.at = *at;
  decision.decided_by = text_in(value, "decidedBy");
  decision.on_behalf_of = text_in(value, "onBehalfOf");
  decision.comment = text_in(value, "comment");
  if (const Value* edited = value.find("edited")) decision.edited = *edited;
  decision.answer = value["answer"];
  if (const Value::Array* votes = value["votes"].as_array()) {
    for (const Value& vote : *votes) decision.votes.push_back(detail::vote_from(vote));
  }
  return decision;
}

void write_task_parts(const NodeTask& task, Encoder& out) {
  using Phase = NodeTask::Phase;
  auto add = [&](std::string_view name, const Value& value) {
    out.write_name(name, false);
    write_json(value, out.text);
  };
  if (task.attempt != 1) add("attempt", task.attempt);
  bool waits = task.phase == Phase::backing_off || task.phase == Phase::sleeping ||
               (task.phase == Phase::interrupted && task.due != Instant());
  if (waits) add("due", to_text(task.due));
  if (task.previous_error) {
    add("error", Value::object({{"code", name_of(task.previous_error->code)},
                                {"message", task.previous_error->message}}));
  }
  if (task.phase == Phase::interrupted) add("interrupt", task.interrupt.text());
  if (!task.question.empty()) add("question", task.question);
  if (!task.answers.empty()) {
    Value::Array answers;
    for (const auto& answer : task.answers) answers.push_back(value_of_answer(answer));
    add("answers", Value(std::move(answers)));
  }
}

Result<Done> read_task_parts(const Value& from, NodeTask& task) {
  auto attempt = from["attempt"].as_int().value_or(1);
  if (attempt < 1 || !std::in_range<int>(attempt)) return damaged();
  task.attempt = static_cast<int>(attempt);
  if (const std::string* due = from["due"].as_string()) {
    auto instant = instant_from(*due);
    if (!instant) return damaged();
    task.due = *instant;
    task.phase = NodeTask::Phase::backing_off;
  }
  if (const Value* failure = from.find("error")) {
    auto code = error_code_named(text_in(*failure, "code"));
    if (!code) return damaged();
    task.previous_error = error(*code, text_in(*failure, "message"));
  }
  if (const std::string* interrupt = from["interrupt"].as_string()) {
    auto id = uuid_from(*interrupt);
    if (!id) return damaged();
    task.interrupt = InterruptId(*id);
    task.phase = NodeTask::Phase::interrupted;
  }
  task.question = text_in(from, "question");
  return read_answers(from, task);
}

std::string next_tasks_text(const Run& run, bool whole) {
  if (run.tasks.empty()) {
    if (!has_other_version(run) && run.materials.empty()) return "[]";
    Encoder ended;
    const Digest& version = has_other_version(run) ? run.version : run.row.graph_hash;
    ended.text = "[{\"version\":\"" + to_hex(version) + "\"";
    if (!has_other_version(run)) ended.text += ",\"started\":true";
    write_materials(run.materials, ended);
    return std::move(ended.text) + "}]";
  }
  Encoder out;
  if (is_parallel(run) && !whole) {
    out.text += "[{\"as_of\":";
    out.write(run.tasks_seq);
    write_materials(run.materials, out);
    out.text += '}';
    write_version(run, out);
    write_breakpoints(run, out);
    out.text += ']';
    return std::move(out.text);
  }
  out.text += '[';
  std::optional<std::int64_t> superstep = run.superstep;
  for (const NodeTask& task : run.tasks) {
    if (!superstep) out.text += ',';
    write_task(task, superstep, run.materials, out);
    superstep.reset();
  }
  if (run.at_breakpoint) out.text += ",{\"held\":true}";
  write_joins(run, out);
  write_version(run, out);
  write_breakpoints(run, out);
  out.text += ']';
  return std::move(out.text);
}

Result<NextTasks> next_tasks_from(std::string_view text) {
  auto parsed = parse_json(text, limits::document_depth_max);
  if (!parsed.ok() || !parsed->as_array()) return damaged();
  NextTasks next;
  for (const Value& each : *parsed->as_array()) {
    BELAY_CHECK(read_materials(each, next.materials));
    if (each.find("node")) {
      BELAY_CHECK(read_task(each, next));
    } else if (each.find("join")) {
      BELAY_CHECK(read_join(each, next));
    } else if (const bool* held = each["held"].as_bool()) {
      next.at_breakpoint = *held;
    } else if (auto as_of = each["as_of"].as_uint()) {
      next.as_of = as_of;
    } else if (const std::string* version = each["version"].as_string()) {
      // With a bill of a run that was not upgraded, it is only for programs that need a version.
      if (!each["started"].as_bool()) next.version = *version;
    } else if (const Value* breakpoints = each.find("breakpoints")) {
      auto read = decode_json<Breakpoints>(*breakpoints);
      if (!read.ok()) return damaged();
      next.breakpoints = *std::move(read);
    } else {
      return damaged();
    }
  }
  return next;
}

TaskId task_id(const RunId& run, std::string_view checkpoint_ns, std::int64_t superstep,
               std::string_view node, std::optional<std::size_t> position) {
  std::string seed(reinterpret_cast<const char*>(run.bytes.data()), run.bytes.size());
  seed += std::to_string(superstep);
  seed += ' ';
  seed += node;
  if (position) {
    seed += '\0';
    seed += std::to_string(*position);
  }
  if (!checkpoint_ns.empty()) {
    seed += '\0';
    seed += checkpoint_ns;
  }
  return TaskId(derived_uuid(seed));
}

std::string inner_checkpoint_ns(std::string_view checkpoint_ns, std::string_view node,
                                const TaskId& task) {
  std::string inner(checkpoint_ns);
  if (!inner.empty()) inner += '|';
  inner += node;
  inner += ':';
  return inner + task.text();
}

}  // namespace belay::engine
