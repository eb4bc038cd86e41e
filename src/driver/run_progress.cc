// The part of RunDriver that reports the progress of its run.

#include "driver/run_driver.h"

namespace belay {

// Returns the names of the nodes that a release has abandoned, comma-separated.
std::string RunDriver::given_up(const CommitRows& rows) {
  std::string nodes;
  for (const EventRow& event : rows.events) {
    auto body = parse_json(event.body);
    const Value::Array* names = body.ok() ? (*body)["givenUp"].as_array() : nullptr;
    for (const Value& name : names ? *names : Value::Array()) {
      nodes += (nodes.empty() ? "" : ",") + *name.as_string();
    }
  }
  return nodes;
}

// The run can have ended, or left the superstep, before the attempt: its task is gone then.
void RunDriver::report_task_finished(const engine::AttemptId& attempt) {
  const engine::Run* frame = parts_.observer ? find_frame(attempt) : nullptr;
  if (!frame || !engine::is_parallel(*frame)) return;
  report_progress(ProgressEvent::Kind::task_finished, frame->tasks[attempt.position].node->name,
                  attempt.attempt);
}

void RunDriver::report_progress(const CommitRows& rows) {
  const CheckpointRow& checkpoint = *rows.checkpoint;
  auto kind = ProgressEvent::Kind::node_finished;
  std::string message;
  switch (checkpoint.kind) {
    case CommitKind::input:
    case CommitKind::claim:
    case CommitKind::fork:
    case CommitKind::quarantine:
    case CommitKind::consent:
      return;
    case CommitKind::release:
      return report_progress(ProgressEvent::Kind::released, checkpoint.node, last_attempt_,
                             given_up(rows));
    case CommitKind::node:
    case CommitKind::timer:
      break;
    case CommitKind::attempt:
      kind = ProgressEvent::Kind::attempt_failed;
      message = run_.tasks.front().previous_error->message;
      break;
    case CommitKind::pause:
      kind = ProgressEvent::Kind::paused;
      if (!rows.opened.empty()) message = rows.opened.front().question;
      break;
    case CommitKind::decision:
    case CommitKind::expiry:
      kind = ProgressEvent::Kind::decided;
      break;
    case CommitKind::failure:
    case CommitKind::cancel:
      kind = ProgressEvent::Kind::finished;
      message = rows.run->error;
  }
  if (kind != ProgressEvent::Kind::finished)
    report_progress(kind, checkpoint.node, last_attempt_, message);
  if (is_final(rows.run->status)) {
    report_progress(ProgressEvent::Kind::finished, checkpoint.node, last_attempt_,
                    rows.run->error.empty() ? rows.run->outcome : rows.run->error);
  }
}

void RunDriver::report_progress(ProgressEvent::Kind kind, std::string node, int attempt,
                                std::string message) {
  ProgressEvent event;
  event.kind = kind;
  event.thread = run_.row.thread;
  event.run = run_.row.run;
  event.graph = graph_->name;
  event.node = std::move(node);
  event.attempt = attempt;
  event.seq = run_.row.seq;
  event.status = run_.row.status;
  event.message = std::move(message);
  Instant now = parts_.clock.now();
  if (kind == ProgressEvent::Kind::attempt_failed && !run_.tasks.empty()) {
    event.duration = std::chrono::duration_cast<milliseconds>(run_.tasks.front().due - now);
  } else {
    event.duration = std::chrono::duration_cast<milliseconds>(now - last_began_);
  }
  parts_.observer(event);
}

}  // namespace belay
