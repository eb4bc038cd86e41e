// The next tasks of a checkpoint, a task's row, a run's options, and the record of a call: an
// accepted text is written such that it reads back as the same value.

#include "engine/next_task.h"

#include <deque>

#include "engine/restore.h"
#include "engine/run_options.h"
#include "engine/task_text.h"
#include "graph/call_record.h"
#include "tests/fuzz/target.h"

namespace belay::fuzz {
namespace {

using engine::NextTasks;
using engine::NodeTask;

bool same(const InterruptResponse& a, const InterruptResponse& b) {
  return a.approved == b.approved && a.payload == b.payload && a.decided_by == b.decided_by &&
         a.comment == b.comment;
}

bool same(const NodeTask& a, const NodeTask& b) {
  if (a.answers.size() != b.answers.size()) return false;
  for (std::size_t i = 0; i < a.answers.size(); ++i) {
    if (a.answers[i].first != b.answers[i].first) return false;
    if (!same(a.answers[i].second, b.answers[i].second)) return false;
  }
  bool has_input = a.input && b.input && *a.input == *b.input;
  return a.position == b.position && a.phase == b.phase && a.attempt == b.attempt &&
         a.due == b.due && a.previous_error == b.previous_error && a.interrupt == b.interrupt &&
         a.question == b.question && (has_input || a.input == b.input);
}

// A run that continues with these tasks.
struct Waiting {
  engine::Run run;
  std::deque<GraphDefinition::Node> nodes;

  explicit Waiting(NextTasks next) {
    run.tasks = std::move(next.tasks);
    for (std::size_t i = 0; i < run.tasks.size(); ++i) {
      nodes.emplace_back().name = next.nodes[i];
      run.tasks[i].node = &nodes.back();
    }
    run.superstep = next.superstep;
    run.at_breakpoint = next.at_breakpoint;
    run.joins = std::move(next.joins);
    run.row.run = RunId(derived_uuid("run"));
    run.row.thread = ThreadId("t");
    for (std::size_t i = 0; i < run.tasks.size(); ++i) {
      run.tasks[i].id = engine::task_id(run.row.run, "", run.superstep, nodes[i].name, i);
    }
  }
};

void next_tasks(std::string_view input) {
  auto next = engine::next_tasks_from(input);
  if (!next.ok()) {
    require_sound(next.error());
    require(next.error().code == ErrorCode::corrupt, "stored tasks that make no sense are corrupt");
    return;
  }
  require(next->tasks.size() == next->nodes.size(), "each task has a node");
  if (next->tasks.empty()) return;
  NextTasks read = *next;
  Waiting waiting(*std::move(next));
  std::string text = engine::next_tasks_text(waiting.run, true);
  auto again = engine::next_tasks_from(text);
  require(again.ok(), "what was written is taken");
  require(again->nodes == read.nodes && again->superstep == read.superstep &&
              again->at_breakpoint == read.at_breakpoint,
          "tasks come back with their nodes");
  for (std::size_t i = 0; i < read.tasks.size(); ++i) {
    require(same(again->tasks[i], read.tasks[i]), "a task comes back as it was");
  }
  Waiting once_more(*std::move(again));
  require(engine::next_tasks_text(once_more.run, true) == text, "tasks have one text");
}

void task_row(std::string_view input) {
  auto two = engine::next_tasks_from(R"([{"node":"a","superstep":3},{"node":"b"}])").value();
  Waiting first(two), second(two), third(two);
  TaskRow row = engine::task_row(first.run, first.run.tasks[1], 7);
  row.envelope = json_envelope(input);
  row.status = TaskStatus::done;
  auto applied = engine::apply_task_row(row, first.run);
  if (!applied.ok()) {
    require_sound(applied.error());
    require(applied.error().code == ErrorCode::corrupt, "a task that makes no sense is corrupt");
    return;
  }
  TaskRow written = engine::task_row(first.run, first.run.tasks[1], 7);
  require(engine::apply_task_row(written, second.run).ok(), "what was written is taken");
  TaskRow again = engine::task_row(second.run, second.run.tasks[1], 7);
  require(again == written, "a task has one text");
}

void options(std::string_view input) {
  auto read = engine::options_from(input);
  if (!read.ok()) return require_sound(read.error());
  std::string text = engine::options_text(*read);
  auto again = engine::options_from(text);
  require(again.ok() && *again == *read, "options come back as they were");
}

void call_record(std::string_view input) {
  EffectRow row;
  row.name = "model/1/1";
  row.envelope = json_envelope(input);
  auto record = call_record_in(row);
  spending_of(row);
  if (!record.ok()) return require_sound(record.error());
  auto written = envelope_of(*record);
  require(written.ok(), "a call that was read can be written");
  row.envelope = *written;
  auto again = call_record_in(row);
  require(again.ok(), "and read again");
  require(envelope_of(*again).value() == *written, "a call has one text");
  if (record->error) error_in(*record->error);
}

}  // namespace
}  // namespace belay::fuzz

BELAY_FUZZ_TARGET(NextTasks, "next_tasks") {
  using namespace belay;
  unsigned way = fuzz::take_byte(input);
  if (way % 4 == 0) fuzz::next_tasks(input);
  if (way % 4 == 1) fuzz::task_row(input);
  if (way % 4 == 2) fuzz::options(input);
  if (way % 4 == 3) fuzz::call_record(input);
}
