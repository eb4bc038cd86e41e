#include "langgraph/run_segment.h"

#include <algorithm>

#include "base/text_in.h"

namespace belay::langgraph {
namespace {

// Thousands of clients might wait for paused runs: poll less often.
constexpr std::chrono::milliseconds kIdlePoll{5'000};

// True if a task of the commit waits at a breakpoint.
bool has_held_task(const Value& commit) {
  const Value::Array* tasks = commit["tasks"].as_array();
  for (std::size_t i = 0; tasks && i < tasks->size(); ++i) {
    if ((*tasks)[i]["held"] == Value(true)) return true;
  }
  return false;
}

// Returns the length of the name with which the message begins; 0: it has none.
std::size_t name_end(std::string_view message) {
  std::size_t end = message.find(": ");
  if (end == message.npos || end + 2 == message.size()) return 0;
  std::string_view name = message.substr(0, end);
  auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  bool is_class = name.ends_with("Error") || name.ends_with("Exception");
  bool is_name = is_class && name.front() >= 'A' && name.front() <= 'Z' &&
                 std::all_of(name.begin(), name.end(), is_letter);
  return is_name ? end : 0;
}

}  // namespace

std::string take_error_name(std::string_view code, std::string& message) {
  std::size_t end = name_end(message);
  if (end != 0) {
    std::string name = message.substr(0, end);
    message.erase(0, end + 2);
    return name;
  }
  bool is_limit = code == name_of(ErrorCode::exhausted);
  if (is_limit && message.find("supersteps") != std::string::npos) {
    return "GraphRecursionError";
  }
  return code.empty() ? "Error" : std::string(code);
}

RunSegment::RunSegment(Service& service, Principal who, const ProtocolRun& run)
    : service_(service),
      who_(std::move(who)),
      thread_(run.row.thread),
      run_(run.row.run),
      after_(static_cast<std::uint64_t>(run.record.after)),
      answered_(run.record.answered.begin(), run.record.answered.end()) {
  for (const std::string& each : run.record.left_open) answered_.erase(each);
}

Task<Result<Done>> RunSegment::open(std::vector<EventKind> kinds) {
  kinds_.insert(kinds.begin(), kinds.end());
  std::set<EventKind> read = kinds_;
  for (EventKind kind :
       {EventKind::status, EventKind::checkpoints, EventKind::approvals, EventKind::debug}) {
    read.insert(kind);
  }
  EventOptions options;
  options.thread = thread_;
  options.run = run_;
  options.kinds.assign(read.begin(), read.end());
  options.poll_max = kIdlePoll;
  BELAY_CO_TRY(reader_, co_await service_.events(who_, std::move(options)));
  co_return Done{};
}

Task<Result<std::vector<StreamEvent>>> RunSegment::next() {
  std::vector<StreamEvent> wanted;
  while (wanted.empty() && end_ == SegmentEnd::none) BELAY_CO_CHECK(co_await read_some(wanted));
  co_return std::move(wanted);
}

Task<Result<Done>> RunSegment::read_some(std::vector<StreamEvent>& wanted) {
  BELAY_CO_TRY(std::vector<StreamEvent> events, co_await reader_->next());
  if (events.empty()) end_ = SegmentEnd::completed;
  for (std::size_t i = 0; i < events.size() && end_ == SegmentEnd::none; ++i) {
    BELAY_CO_CHECK(co_await notice(events[i]));
    if (events[i].id) end_seq_ = events[i].id->seq;
    ended_at_ = events[i].at;
    bool is_before = events[i].id && events[i].id->seq <= after_;
    bool is_state = events[i].kind == EventKind::values && events[i].checkpoint_ns.empty();
    if (is_before && is_state) state_before_ = std::move(events[i].body);
    if (!is_before && kinds_.contains(events[i].kind)) wanted.push_back(std::move(events[i]));
  }
  co_return Done{};
}

Task<Result<Done>> RunSegment::notice(const StreamEvent& event) {
  if (event.kind == EventKind::approvals && event.body["event"] == Value("asked")) {
    auto id = uuid_from(text_in(event.body, "interrupt"));
    if (id) asked_.push_back(InterruptId(*id));
  }
  notice_before(event);
  bool is_of_segment = event.id && event.id->seq > after_ && event.checkpoint_ns.empty();
  if (!is_of_segment) co_return Done{};
  if (event.kind == EventKind::checkpoints) status_ = text_in(event.body, "status");
  bool is_paused = status_ == name_of(RunStatus::paused);
  if (event.kind == EventKind::debug && is_paused) co_return co_await pause(event);
  if (event.kind == EventKind::status) finish(event);
  co_return Done{};
}

void RunSegment::notice_before(const StreamEvent& event) {
  bool is_before = event.id && event.id->seq <= after_ && event.checkpoint_ns.empty();
  if (!is_before || event.kind != EventKind::checkpoints) return;
  auto superstep = event.body["superstep"].as_int();
  if (superstep == superstep_before_) return;
  superstep_before_ = superstep;
  checkpoint_before_ = text_in(event.body, "checkpoint");
}

// Ends the segment if the run waits for a person; a timer continues it. The rows of its approvals
// show for each later reader which ones were open at this commit.
Task<Result<Done>> RunSegment::pause(const StreamEvent& event) {
  for (const InterruptId& interrupt : asked_) {
    std::string id = interrupt.text();
    if (answered_.contains(id)) continue;
    Whose any;
    BELAY_CO_TRY(ApprovalRow row, co_await service_.approval(who_, std::move(id), std::move(any)));
    bool is_open = row.status == ApprovalStatus::open || row.decided_at >= event.at;
    // The end of a run closes those that were open until then.
    bool is_closed = counts_closed_ && row.status == ApprovalStatus::closed;
    if (is_open || is_closed) interrupts_.push_back(interrupt_document(row));
  }
  if (!interrupts_.empty()) {
    end_ = SegmentEnd::interrupted;
  } else if (has_held_task(event.body)) {
    end_ = SegmentEnd::held;
  }
  co_return Done{};
}

void RunSegment::finish(const StreamEvent& event) {
  std::string status = text_in(event.body, "status");
  if (status == name_of(RunStatus::completed)) end_ = SegmentEnd::completed;
  if (status == name_of(RunStatus::cancelled)) end_ = SegmentEnd::cancelled;
  bool has_failed =
      status == name_of(RunStatus::failed) || status == name_of(RunStatus::quarantined);
  if (!has_failed) return;
  end_ = SegmentEnd::failed;
  const Value& failure = event.body["error"];
  message_ = text_in(failure, "message");
  error_name_ = take_error_name(text_in(failure, "code"), message_);
  if (message_.empty()) message_ = "The run is " + status + ".";
}

}  // namespace belay::langgraph
