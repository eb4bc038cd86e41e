#include "client/progress_events.h"

#include "base/text_in.h"

namespace belay::client {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

std::optional<ProgressEvent::Kind> kind_of(std::string_view commit) {
  using Kind = ProgressEvent::Kind;
  if (commit == "node" || commit == "timer") return Kind::node_finished;
  if (commit == "attempt") return Kind::attempt_failed;
  if (commit == "pause") return Kind::paused;
  if (commit == "decision" || commit == "expiry") return Kind::decided;
  return std::nullopt;
}

}  // namespace

std::vector<EventKind> ProgressEvents::kinds() {
  return {EventKind::tasks, EventKind::checkpoints, EventKind::approvals, EventKind::status};
}

ProgressEvent ProgressEvents::told(ProgressEvent::Kind kind, const StreamEvent& event) const {
  ProgressEvent said;
  said.kind = kind;
  said.thread = event.thread;
  said.run = event.run;
  said.node = event.node;
  said.attempt = attempt_;
  if (event.id) said.seq = event.id->seq;
  return said;
}

std::optional<ProgressEvent> ProgressEvents::take(const StreamEvent& event) {
  // Events within a subgraph are not reported, only those of its node.
  if (!event.checkpoint_ns.empty()) return std::nullopt;
  switch (event.kind) {
    case EventKind::tasks:
      return take_task(event);
    case EventKind::checkpoints:
      return take_checkpoint(event);
    case EventKind::approvals: {
      bool is_first = event.id && event.id->seq != asked_seq_;
      if (text_in(event.body, "event") != "asked" || !is_first) return std::nullopt;
      asked_seq_ = event.id->seq;
      question_ = text_in(event.body, "question");
      return std::nullopt;
    }
    case EventKind::status: {
      auto status = decode_json<RunStatus>(event.body["status"]);
      if (!status.ok() || !is_final(*status)) return std::nullopt;
      ProgressEvent said = told(ProgressEvent::Kind::finished, event);
      said.status = *status;
      const Value& failed = event.body["error"];
      said.message = failed.is_null() ? text_in(event.body, "outcome") : text_in(failed, "message");
      return said;
    }
    default:
      return std::nullopt;
  }
}

std::optional<ProgressEvent> ProgressEvents::take_task(const StreamEvent& event) {
  std::string what = text_in(event.body, "event");
  if (what == "begun") {
    attempt_ = 1;
    return told(ProgressEvent::Kind::node_started, event);
  }
  if (what == "attemptFailed") {
    attempt_ = static_cast<int>(event.body["attempt"].as_int().value_or(1));
    failure_ = text_in(event.body["error"], "message");
    due_ = instant_from(text_in(event.body, "due")).value_or(event.at);
  }
  return std::nullopt;
}

std::optional<ProgressEvent> ProgressEvents::take_checkpoint(const StreamEvent& event) {
  Instant before = last_at_ == Instant() ? event.at : last_at_;
  last_at_ = event.at;
  auto kind = kind_of(text_in(event.body, "kind"));
  if (!kind) return std::nullopt;
  ProgressEvent said = told(*kind, event);
  said.duration = duration_cast<milliseconds>(event.at - before);
  if (*kind == ProgressEvent::Kind::attempt_failed) {
    said.message = failure_;
    said.duration = duration_cast<milliseconds>(due_ - event.at);
  }
  if (*kind == ProgressEvent::Kind::paused && event.id && event.id->seq == asked_seq_) {
    said.message = question_;
  }
  return said;
}

}  // namespace belay::client
