#include "engine/task_text.h"

#include "base/text_in.h"
#include "engine/next_task.h"

namespace belay::engine {
namespace {

using Phase = NodeTask::Phase;

Error damaged(const Run& run) {
  return error(ErrorCode::corrupt,
               "The stored task of thread \"" + run.row.thread.text +
                   "\" cannot be read. Run `belay check` and restore a backup.");
}

Value value_of(const RecordWrite& record) {
  Value::Array indexed;
  for (const auto& [field, value] : record.indexed) {
    Value::Array& pair = *indexed.emplace_back(Value::Array()).as_array();
    pair.emplace_back(field);
    pair.emplace_back(value);
  }
  Value::Object members{{"collection", record.collection},
                        {"user", record.user.text},
                        {"key", record.key},
                        {"json", record.json},
                        {"indexed", std::move(indexed)},
                        {"erase", record.erase}};
  if (record.expires_at != Instant()) members.emplace("expires", to_text(record.expires_at));
  if (record.is_of_tenant) members.emplace("ofTenant", true);
  if (record.expected_version) members.emplace("version", *record.expected_version);
  return Value(std::move(members));
}

RecordWrite record_from(const Value& value) {
  RecordWrite record;
  record.collection = text_in(value, "collection");
  record.user = UserId(text_in(value, "user"));
  record.key = text_in(value, "key");
  record.json = text_in(value, "json");
  if (const bool* erase = value["erase"].as_bool()) record.erase = *erase;
  if (const bool* of_tenant = value["ofTenant"].as_bool()) record.is_of_tenant = *of_tenant;
  if (const std::string* expires = value["expires"].as_string()) {
    record.expires_at = instant_from(*expires).value_or(Instant());
  }
  if (auto version = value["version"].as_int()) {
    record.expected_version = static_cast<std::uint64_t>(*version);
  }
  if (const Value::Array* indexed = value["indexed"].as_array()) {
    for (const Value& pair : *indexed) {
      const Value::Array* both = pair.as_array();
      if (!both || both->size() != 2 || !(*both)[0].as_string() || !(*both)[1].as_string())
        continue;
      record.indexed.emplace_back(*(*both)[0].as_string(), *(*both)[1].as_string());
    }
  }
  return record;
}

template <typename Items, typename ToValue>
void add_list(std::string_view name, const Items& items, ToValue to_value, Encoder& out) {
  if (items.empty()) return;
  Value::Array list;
  for (const auto& item : items) list.push_back(to_value(item));
  out.write_name(name, false);
  write_json(Value(std::move(list)), out.text);
}

void write_sends(const std::vector<Send>& sends, Encoder& out) {
  if (sends.empty()) return;
  out.write_name("sends", false);
  out.text += '[';
  for (std::size_t i = 0; i < sends.size(); ++i) {
    out.text += i == 0 ? "{\"node\":" : ",{\"node\":";
    write_json_string(sends[i].node, out.text);
    out.text += ",\"input\":" + sends[i].input + "}";
  }
  out.text += ']';
}

void write_end(const NodeTask& task, Encoder& out) {
  add_list("goTo", task.answer.go_to, [](const std::string& name) { return Value(name); }, out);
  write_sends(task.answer.sends, out);
  if (task.decided) {
    out.write_name("decided", false);
    write_json(value_of_decision(*task.decided), out.text);
  }
  const NodeEffects& effects = task.effects;
  add_list("records", effects.records, value_of, out);
  add_list(
      "events", effects.events,
      [](const NodeEffects::CustomEvent& event) {
        Value::Object each{{"name", event.name}, {"body", event.body}};
        if (event.type != "custom") each["type"] = event.type;
        return Value(std::move(each));
      },
      out);
  add_list(
      "messages", effects.messages,
      [](const NodeEffects::Message& message) {
        return Value::object({{"topic", message.topic}, {"body", message.body}});
      },
      out);
  if (effects.journaled > 0) {
    out.write_name("effects", false);
    out.write(static_cast<std::int64_t>(effects.journaled));
  }
  if (!effects.outcome.empty()) {
    out.write_name("outcome", false);
    out.write(std::string_view(effects.outcome));
  }
}

void read_end(const Value& from, NodeTask& task) {
  auto each = [&](std::string_view name, auto use) {
    if (const Value::Array* items = from[name].as_array()) {
      for (const Value& item : *items) use(item);
    }
  };
  each("goTo", [&](const Value& item) {
    if (item.as_string()) task.answer.go_to.push_back(*item.as_string());
  });
  each("sends", [&](const Value& item) {
    task.answer.sends.emplace_back(text_in(item, "node"), to_json(item["input"]));
  });
  each("records", [&](const Value& item) { task.effects.records.push_back(record_from(item)); });
  each("events", [&](const Value& item) {
    std::string type = text_in(item, "type");
    task.effects.events.push_back(
        {text_in(item, "name"), item["body"], type.empty() ? "custom" : std::move(type)});
  });
  each("messages", [&](const Value& item) {
    task.effects.messages.push_back({text_in(item, "topic"), item["body"]});
  });
  task.effects.journaled = static_cast<std::size_t>(from["effects"].as_int().value_or(0));
  task.effects.outcome = text_in(from, "outcome");
}

TaskStatus status_of(const NodeTask& task) {
  if (task.phase == Phase::done) return TaskStatus::done;
  if (task.phase == Phase::interrupted) return TaskStatus::asking;
  return task.answers.empty() ? TaskStatus::waiting : TaskStatus::answered;
}

}  // namespace

TaskRow task_row(const Run& run, const NodeTask& task, std::uint64_t seq) {
  Encoder out;
  out.text += "{\"retries\":";
  out.write(run.row.retry_count);
  out.write_name("seq", false);
  out.write(static_cast<std::int64_t>(seq));
  write_task_parts(task, out);
  // A subgraph task stores the effects of the inner nodes until its own superstep is committed.
  if (task.phase == Phase::done || task.phase == Phase::in_subgraph) write_end(task, out);
  out.text += '}';
  TaskRow row;
  row.run = run.row.run;
  row.checkpoint_ns = run.checkpoint_ns;
  row.superstep = run.superstep;
  row.position = static_cast<std::int64_t>(task.position);
  row.task = task.id;
  row.status = status_of(task);
  row.envelope = json_envelope(out.text);
  return row;
}

Result<Done> apply_task_row(const TaskRow& row, Run& run) {
  auto position = static_cast<std::size_t>(row.position);
  if (position >= run.tasks.size() || run.tasks[position].id != row.task) return damaged(run);
  NodeTask& task = run.tasks[position];
  BELAY_TRY(std::string_view text, json_in_envelope(row.envelope));
  auto parsed = parse_json(text, limits::document_depth_max);
  if (!parsed.ok()) return damaged(run);
  BELAY_CHECK(read_task_parts(*parsed, task));
  auto retries = (*parsed)["retries"].as_int();
  run.row.retry_count = std::max(run.row.retry_count, retries.value_or(0));
  read_end(*parsed, task);
  if (const Value* decided = parsed->find("decided")) {
    BELAY_TRY(task.decided, decision_from(*decided));
  }
  if (row.status == TaskStatus::done) {
    task.phase = Phase::done;
    task.saved = true;
    task.saved_at = static_cast<std::uint64_t>((*parsed)["seq"].as_int().value_or(0));
  }
  return Done{};
}

}  // namespace belay::engine
