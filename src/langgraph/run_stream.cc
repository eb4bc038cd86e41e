#include "langgraph/run_stream.h"

#include <algorithm>

#include "langgraph/state.h"
#include "server/heartbeat.h"

namespace belay::langgraph {
namespace {

using server::Call;
using server::Reply;

Task<Result<Done>> delete_ended_thread(Service& service, Principal who, RunRow row) {
  ThreadId thread = row.thread;
  BELAY_CO_TRY(RunView view, co_await service.wait_for(who, std::move(thread), row.run));
  // A run that waits for a person is kept, because its decision can still be made.
  if (!is_final(view.row.status)) co_return Done{};
  co_return co_await delete_thread_of_run(service, std::move(who), std::move(row));
}

using Readiness = std::function<Task<Result<Done>>()>;

// The work after a response, which the request does not wait for. `readiness`: of the server. A
// server that shuts down closes its connections: that cancels nothing.
Task<Result<Done>> leave_run(Service& service, Principal who, RunRow row, AfterResponse after,
                             Readiness readiness) {
  if (after.cancels && readiness) {
    auto ready = co_await readiness();
    after.cancels = ready.ok();
  }
  if (after.cancels) {
    ThreadId thread = row.thread;
    std::string by = who.user.text;
    std::string nobody;
    // The run can have ended meanwhile.
    (void)co_await service.cancel(who, std::move(thread), std::move(by), std::move(nobody),
                                  row.run);
  }
  if (!after.deletes_thread) co_return Done{};
  co_return co_await delete_ended_thread(service, std::move(who), std::move(row));
}

// A response that follows a run.
class RunFollower : public http::BodyStream {
 public:
  RunFollower(const AgentServer& served, const Call& call, FollowedRun followed)
      : served_(served),
        service_(call.service),
        who_(call.who),
        followed_(std::move(followed)),
        segment_(service_, who_, followed_.run) {}
  ~RunFollower() override {
    AfterResponse after = followed_.after;
    after.cancels = after.cancels && segment_.end() == SegmentEnd::none;
    if (!after.cancels && !after.deletes_thread) return;
    auto task =
        leave_run(service_, who_, followed_.run.row, after, served_.world.options.readiness);
    (void)served_.world.waiting.begin<Result<Done>>(std::move(task));
  }

  virtual Task<Result<Done>> open() = 0;

 protected:
  AgentServer served_;
  Service& service_;
  const Principal who_;
  const FollowedRun followed_;
  RunSegment segment_;
};

ClassicOptions classic_options(const AgentServer& served, const FollowedRun& followed) {
  const RunRecord& record = followed.run.record;
  ClassicOptions options;
  options.modes = followed.modes;
  options.subgraphs = followed.subgraphs;
  options.run_id = record.id;
  options.thread_id = record.thread;
  options.graph_id = followed.run.row.graph;
  options.assistant_id = record.assistant_id;
  options.is_resumed = record.after > 0;
  options.whole_messages = true;
  options.shown = shown_values(served, followed.run.row);
  return options;
}

// Superstep 0 is that of a run that has not started.
bool begins_superstep(const StreamEvent& event) {
  return event.kind == EventKind::checkpoints && event.checkpoint_ns.empty() &&
         event.body["superstep"].as_int().value_or(0) > 0;
}

class RunEvents final : public RunFollower {
 public:
  RunEvents(const AgentServer& served, const Call& call, FollowedRun followed)
      : RunFollower(served, call, std::move(followed)),
        classic_(classic_options(served, followed_)) {}

  Task<Result<Done>> open() override { return segment_.open(classic_.kinds()); }

  Task<Result<std::string>> next() override {
    std::string text;
    if (!has_begun_) {
      has_begun_ = true;
      ClassicEvents out;
      classic_.begin(out);
      add_text(out, text);
    }
    while (text.empty() && segment_.end() == SegmentEnd::none) {
      auto events = co_await segment_.next();
      bool is_deleted = !events.ok() && events.error().code == ErrorCode::not_found;
      if (is_deleted) co_return std::string();
      if (!events.ok()) co_return std::move(events).error();
      BELAY_CO_CHECK(co_await find_parent(*events));
      text = text_of(*events);
    }
    co_return std::move(text);
  }

 private:
  // Finds the parent of the run's first checkpoint when that exists: the runs before it have ended.
  Task<Result<Done>> find_parent(const std::vector<StreamEvent>& events) {
    bool wants_parent = followed_.modes.contains(StreamMode::checkpoints) ||
                        followed_.modes.contains(StreamMode::debug);
    bool has_begun = std::any_of(events.begin(), events.end(), begins_superstep);
    bool is_resumed = followed_.run.record.after > 0;
    if (has_parent_ || is_resumed || !wants_parent || !has_begun) co_return Done{};
    has_parent_ = true;
    RunRow row = followed_.run.row;
    BELAY_CO_TRY(CheckpointId parent, co_await parent_of_run(service_, who_, std::move(row)));
    if (!parent.is_null()) classic_.continue_after(parent.text(), std::nullopt);
    co_return Done{};
  }
  std::string text_of(std::vector<StreamEvent>& events) {
    ClassicEvents out;
    bool is_first = !events.empty() && !std::exchange(has_events_, true);
    bool is_resumed = followed_.run.record.after > 0;
    if (is_first && is_resumed) {
      classic_.continue_after(segment_.checkpoint_before(), segment_.superstep_before());
      if (!segment_.state_before().is_null()) classic_.know(segment_.state_before());
    }
    for (StreamEvent& event : events) classic_.add(std::move(event), out);
    add_end(out);
    std::string text;
    add_text(out, text);
    return text;
  }
  void add_end(ClassicEvents& out) {
    if (segment_.end() == SegmentEnd::interrupted) classic_.interrupt(segment_.interrupts(), out);
    if (segment_.end() != SegmentEnd::failed) return;
    classic_.fail(segment_.error_name(), segment_.message(), out);
  }
  void add_text(const ClassicEvents& events, std::string& text) const {
    for (const ClassicEvent& event : events) {
      bool is_received = followed_.received && event.id <= *followed_.received;
      if (!is_received) text += sse_text(event);
    }
  }

  ClassicStream classic_;
  bool has_begun_ = false;
  bool has_events_ = false;
  bool has_parent_ = false;
};

class RunResult final : public RunFollower {
 public:
  using RunFollower::RunFollower;

  Task<Result<Done>> open() override {
    std::vector<EventKind> none;
    return segment_.open(std::move(none));
  }

  Task<Result<std::string>> next() override {
    if (is_sent_) co_return std::string();
    while (segment_.end() == SegmentEnd::none) BELAY_CO_CHECK(co_await segment_.next());
    BELAY_CO_TRY(Value result, co_await result());
    is_sent_ = true;
    co_return to_json(result);
  }

 private:
  Task<Result<Value>> result() {
    if (segment_.end() == SegmentEnd::interrupted) {
      co_return Value::object({{"__interrupt__", segment_.interrupts()}});
    }
    if (segment_.end() == SegmentEnd::failed) {
      Value failure =
          Value::object({{"error", segment_.error_name()}, {"message", segment_.message()}});
      co_return Value::object({{"__error__", std::move(failure)}});
    }
    const RunRow& row = followed_.run.row;
    ThreadId thread = row.thread;
    BELAY_CO_TRY(RunView view,
                 co_await service_.status(who_, std::move(thread), std::nullopt, row.run));
    co_return values_of(served_, view);
  }

  bool is_sent_ = false;
};

// The heartbeats of a JSON text: line breaks instead of comments.
class JsonHeartbeat final : public http::BodyStream {
 public:
  explicit JsonHeartbeat(std::unique_ptr<http::BodyStream> pieces) : pieces_(std::move(pieces)) {}

  Task<Result<std::string>> next() override {
    BELAY_CO_TRY(std::string piece, co_await pieces_->next());
    if (piece.starts_with(':')) piece = "\n";
    co_return std::move(piece);
  }

 private:
  const std::unique_ptr<http::BodyStream> pieces_;
};

std::unique_ptr<http::BodyStream> with_heartbeat(const AgentServer& served,
                                                 std::unique_ptr<http::BodyStream> pieces) {
  return std::make_unique<server::HeartbeatStream>(served.world.parts.executor, std::move(pieces),
                                                   served.world.options.heartbeat);
}

}  // namespace

Task<Result<Reply>> stream_reply(AgentServer& served, const Call& call, FollowedRun followed) {
  auto events = std::make_unique<RunEvents>(served, call, std::move(followed));
  BELAY_CO_CHECK(co_await events->open());
  Reply reply;
  reply.headers = server::event_stream_headers();
  reply.stream = with_heartbeat(served, std::move(events));
  co_return std::move(reply);
}

Task<Result<Reply>> result_reply(AgentServer& served, const Call& call, FollowedRun followed) {
  auto result = std::make_unique<RunResult>(served, call, std::move(followed));
  BELAY_CO_CHECK(co_await result->open());
  Reply reply;
  reply.headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}};
  auto pieces = with_heartbeat(served, std::move(result));
  reply.stream = std::make_unique<JsonHeartbeat>(std::move(pieces));
  co_return std::move(reply);
}

void delete_after_end(AgentServer& served, const Call& call, RunRow row) {
  auto task = delete_ended_thread(call.service, call.who, std::move(row));
  (void)served.world.waiting.begin<Result<Done>>(std::move(task));
}

}  // namespace belay::langgraph
