#include "langgraph/v2_events.h"

#include <algorithm>

#include "base/text_in.h"

namespace belay::langgraph {
namespace {

constexpr int kRunBits = 36;  // of a seq: the place of an event in its run
constexpr std::uint64_t kLaterRuns = std::uint64_t{1} << 52;  // above the numbers of a first run
constexpr std::uint64_t kPlacesPerMicrosecond = 2;            // of a first run
constexpr Instant kFirstStart = std::chrono::sys_days{std::chrono::year{2020} / 1 / 1};
constexpr std::uint64_t kPlaces = 256;  // for the events that belong to one classic event

ClassicOptions all_modes(ClassicOptions options) {
  options.modes = {StreamMode::values,     StreamMode::updates, StreamMode::messages_tuple,
                   StreamMode::custom,     StreamMode::tasks,   StreamMode::tools,
                   StreamMode::checkpoints};
  options.subgraphs = true;
  return options;
}

V2Space space_of(std::string_view text) {
  V2Space space;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('|'), text.size());
    space.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return space;
}

// Clients expect the id of an interrupt as 32 hexadecimal digits.
std::string plain_id(std::string id) {
  std::erase(id, '-');
  return id;
}

bool waits_at_breakpoint(const Value& commit) {
  const Value::Array* tasks = commit["tasks"].as_array();
  return tasks && std::any_of(tasks->begin(), tasks->end(),
                              [](const Value& task) { return task["held"] == Value(true); });
}

Value checkpoint_data(const Value& payload) {
  const Value& metadata = payload["metadata"];
  Value::Object data{{"id", payload["config"]["configurable"]["checkpoint_id"]},
                     {"step", metadata["step"]},
                     {"source", metadata["source"]}};
  const Value& parent = payload["parent_config"]["configurable"]["checkpoint_id"];
  if (!parent.is_null()) data.emplace("parent_id", parent);
  return Value(std::move(data));
}

}  // namespace

Value v2_document(const V2Event& event) {
  Value::Array space(event.space.begin(), event.space.end());
  auto since_epoch = std::chrono::floor<std::chrono::milliseconds>(event.at).time_since_epoch();
  Value::Object params{{"namespace", std::move(space)},
                       {"timestamp", static_cast<std::int64_t>(since_epoch.count())},
                       {"data", event.data}};
  if (!event.node.empty()) params.emplace("node", event.node);
  return Value::object({{"type", "event"},
                        {"event_id", event.id},
                        {"seq", static_cast<std::int64_t>(event.seq)},
                        {"method", event.method},
                        {"params", Value(std::move(params))}});
}

std::string v2_sse_text(const V2Event& event) {
  // JSON text contains no line break, which would end the "data:" field.
  std::string text = "event: " + event.method + "\ndata: ";
  write_json(v2_document(event), text);
  return text + "\nid: " + event.id + "\n\n";
}

std::uint64_t v2_seq_before(const RunRow& run) {
  if (run.ordinal > 0) {
    return kLaterRuns + (static_cast<std::uint64_t>(run.ordinal - 1) << kRunBits);
  }
  auto started = std::chrono::floor<std::chrono::microseconds>(run.created_at - kFirstStart);
  std::uint64_t before = started.count() > 0 ? static_cast<std::uint64_t>(started.count()) : 0;
  return 1 + before * kPlacesPerMicrosecond;
}

std::int64_t v2_ordinal_of(std::uint64_t seq) {
  return seq <= kLaterRuns ? 0 : static_cast<std::int64_t>((seq - kLaterRuns - 1) >> kRunBits) + 1;
}

V2Events::V2Events(ClassicOptions options, const RunRow& run)
    : run_(options.run_id),
      graph_(options.graph_id),
      classic_(all_modes(std::move(options))),
      first_seq_(v2_seq_before(run) + 1) {
  ClassicEvents metadata;  // has no counterpart
  classic_.begin(metadata);
}

std::vector<EventKind> V2Events::kinds() {
  std::vector<EventKind> kinds = ClassicStream(all_modes({})).kinds();
  kinds.insert(kinds.end(), {EventKind::status, EventKind::approvals, EventKind::debug});
  return kinds;
}

V2Event& V2Events::send(std::string method, std::string_view space, Value data, std::string id,
                        V2EventList& out) {
  std::uint64_t place = std::min(place_++, kPlaces - 1);
  V2Event event;
  event.method = std::move(method);
  event.space = space_of(space);
  event.data = std::move(data);
  event.at = now_;
  event.seq = first_seq_ + number_ * kPlaces + place;
  event.id = run_ + "-" + std::move(id);
  out.push_back(std::move(event));
  return out.back();
}

void V2Events::send_lifecycle(std::string_view name, std::string_view space, Value::Object more,
                              V2EventList& out) {
  more.emplace("event", name);
  std::string id = "lifecycle-" + std::to_string(lifecycles_++);
  send("lifecycle", space, Value(std::move(more)), std::move(id), out);
}

// A run is running with its first event, and with the first one after an interrupt.
void V2Events::begin(const StreamEvent& event, V2EventList& out) {
  if (event.at != Instant{}) now_ = event.at;
  if (phase_ == RunPhase::running || phase_ == RunPhase::ended) return;
  phase_ = RunPhase::running;
  send_lifecycle("running", {}, {{"graph_name", graph_}}, out);
}

void V2Events::continue_after(std::string checkpoint) {
  classic_.continue_after(std::move(checkpoint), std::nullopt);
}

void V2Events::enter_space(const std::string& space, V2EventList& out) {
  if (space.empty() || !spaces_.insert(space).second) return;
  std::size_t parent = space.rfind('|');
  if (parent != space.npos) enter_space(space.substr(0, parent), out);
  std::string last = parent == space.npos ? space : space.substr(parent + 1);
  send_lifecycle("started", space, {{"graph_name", last.substr(0, last.find(':'))}}, out);
}

void V2Events::add(StreamEvent&& event, V2EventList& out) {
  if (event.kind == EventKind::approvals && event.body["event"] == Value("asked")) return;
  if (event.kind == EventKind::status) return add_status(event, out);
  begin(event, out);
  if (event.kind == EventKind::approvals) return add_answer(event, out);
  if (event.kind == EventKind::debug) return pause(event, out);
  bool is_root = event.checkpoint_ns.empty();
  if (is_root && event.kind == EventKind::checkpoints) status_ = text_in(event.body, "status");
  enter_space(event.checkpoint_ns, out);
  bool ends_message = event.kind == EventKind::messages && event.id;
  bool ends_task = event.kind == EventKind::tasks && event.body["event"] == Value("ended");
  ClassicEvents made;
  StreamEvent ended;
  if (ends_message || ends_task) ended = event;
  bool ends_commit = event.kind == EventKind::checkpoints;
  std::string space = event.checkpoint_ns;
  classic_.add(std::move(event), made);
  for (const ClassicEvent& each : made) add_classic(each, out);
  if (ends_message) end_message(ended, out);
  if (ends_task) end_task(ended, out);
  if (ends_commit) finish_messages(space, out);
}

void V2Events::request(const StreamEvent& asked, const Value& interrupt, V2EventList& out) {
  begin(asked, out);
  std::string id = text_in(interrupt, "id");
  open_.insert(id);
  Value data = Value::object({{"interrupt_id", id}, {"payload", interrupt["value"]}});
  send("input.requested", asked.checkpoint_ns, std::move(data), "asked-" + id, out);
}

void V2Events::add_answer(const StreamEvent& event, V2EventList& out) {
  std::string id = plain_id(text_in(event.body, "interrupt"));
  if (open_.erase(id) == 0) return;
  Value data = Value::object({{"interrupt_ids", Value(Value::Array{Value(id)})}});
  send("input.answered", {}, std::move(data), "answered-" + id, out);
}

// Ends the work on the run until a person decides, or passes the breakpoint; after a timer it
// continues automatically, and only seems to run. A commit can be the second one that is paused: it
// then has no event about the status.
void V2Events::pause(const StreamEvent& event, V2EventList& out) {
  bool is_paused = event.checkpoint_ns.empty() && status_ == name_of(RunStatus::paused);
  if (!is_paused) return;
  if (open_.empty() && !waits_at_breakpoint(event.body)) return;
  phase_ = RunPhase::interrupted;
  send_lifecycle("interrupted", {}, {{"graph_name", graph_}}, out);
}

void V2Events::add_status(const StreamEvent& event, V2EventList& out) {
  std::string status = text_in(event.body, "status");
  bool is_other = status == name_of(RunStatus::queued) || status == name_of(RunStatus::paused);
  if (!event.checkpoint_ns.empty() || is_other) return;
  begin(event, out);
  if (status == name_of(RunStatus::running)) return;
  Value::Object more{{"graph_name", graph_}};
  phase_ = RunPhase::ended;
  if (status == name_of(RunStatus::completed)) {
    return send_lifecycle("completed", {}, std::move(more), out);
  }
  if (status == name_of(RunStatus::cancelled)) {
    return send_lifecycle("interrupted", {}, std::move(more), out);
  }
  std::string message = text_in(event.body["error"], "message");
  more.emplace("error", message.empty() ? "The run is " + status + "." : std::move(message));
  send_lifecycle("failed", {}, std::move(more), out);
}

void V2Events::add_classic(const ClassicEvent& event, V2EventList& out) {
  if (event.id != number_) place_ = 0;
  number_ = event.id;
  std::string_view name = event.name;
  std::size_t mark = std::min(name.find('|'), name.size());
  std::string_view space = name.substr(std::min(mark + 1, name.size()));
  std::string method(name.substr(0, mark));
  std::string id = std::to_string(event.id) + "-" + method;
  if (method == "messages") {
    add_part(event, space, out);
  } else if (method == "tools") {
    add_call(event, space, out);
  } else if (method == "checkpoints") {
    send(std::move(method), space, checkpoint_data(event.data), std::move(id), out);
  } else if (method == "custom") {
    Value data = Value::object({{"name", event.data["type"]}, {"payload", event.data}});
    send(std::move(method), space, std::move(data), std::move(id), out);
  } else if (method == "updates" && event.data.as_object() && !event.data.as_object()->empty()) {
    const auto& [node, writes] = *event.data.as_object()->begin();
    send(std::move(method), space, writes, std::move(id), out).node = node;
  } else {
    send(std::move(method), space, event.data, std::move(id), out);
  }
}

void V2Events::end_task(const StreamEvent& event, V2EventList& out) {
  std::string space = event.checkpoint_ns.empty() ? "" : event.checkpoint_ns + "|";
  space += event.node + ":" + event.task.text();
  auto found = spaces_.find(space);
  if (found == spaces_.end()) return;
  send_lifecycle("completed", space, {{"graph_name", event.node}}, out);
}

}  // namespace belay::langgraph
