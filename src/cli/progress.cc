#include "cli/progress.h"

#include <algorithm>

namespace belay::cli {

StatusMark mark_of(const Output& output, RunStatus status) {
  switch (status) {
    case RunStatus::completed:
      return {Style::good, output.glyph("✓", "ok")};
    case RunStatus::paused:
      return {Style::warning, output.glyph("⏸", "||")};
    case RunStatus::failed:
    case RunStatus::quarantined:
      return {Style::bad, output.glyph("✗", "x")};
    case RunStatus::cancelled:
      return {Style::warning, output.glyph("■", "-")};
    case RunStatus::queued:
    case RunStatus::running:
      return {Style::plain, output.glyph("●", "*")};
  }
  return {};
}

void Progress::begins(const ThreadId& thread) {
  if (std::find(under_way_.begin(), under_way_.end(), thread) == under_way_.end()) {
    under_way_.push_back(thread);
  }
}

void Progress::rests(const ThreadId& thread) {
  under_way_.erase(std::remove(under_way_.begin(), under_way_.end(), thread), under_way_.end());
}

void Progress::write(Style style, std::string_view glyph, const ProgressEvent& event,
                     std::string_view rest) {
  std::string line = "  " + output_.styled_progress(style, glyph) + " ";
  if (names_threads_) line += one_line(event.thread.text) + " ";
  line += event.node;
  if (!rest.empty()) line += (event.node.empty() ? "" : " ") + std::string(rest);
  output_.progress(line);
}

void Progress::show_count(const std::string& node) {
  const Count& count = tasks_[node];
  output_.passing("  " + std::string(output_.glyph("●", "*")) + " " + node + " " +
                  std::to_string(count.finished) + " / " + std::to_string(count.started));
}

std::string Progress::count_of(const std::string& node) const {
  auto count = tasks_.find(node);
  if (count == tasks_.end() || count->second.started < 2) return "";
  return std::to_string(count->second.finished) + " / " + std::to_string(count->second.started) +
         " ";
}

void Progress::on_progress(const ProgressEvent& event) {
  bool is_of_task = event.kind == ProgressEvent::Kind::node_started ||
                    event.kind == ProgressEvent::Kind::task_finished ||
                    event.kind == ProgressEvent::Kind::attempt_failed;
  std::string count = count_of(event.node);
  if (!is_of_task) tasks_.clear();  // the superstep has ended
  std::string message = one_line(event.message);
  switch (event.kind) {
    case ProgressEvent::Kind::node_started: {
      begins(event.thread);
      if (names_threads_) return;
      if (event.attempt == 1) ++tasks_[event.node].started;
      if (tasks_[event.node].started > 1) return show_count(event.node);
      std::string attempt = event.attempt > 1 ? " (" + std::to_string(event.attempt) + ")" : "";
      output_.passing("  " + std::string(output_.glyph("●", "*")) + " " + event.node + attempt);
      return;
    }
    case ProgressEvent::Kind::task_finished:
      if (names_threads_) return;
      ++tasks_[event.node].finished;
      return show_count(event.node);
    case ProgressEvent::Kind::node_finished:
      return write(Style::good, output_.glyph("✓", "ok"), event,
                   count + output_.styled_progress(Style::faint, span_text(event.duration)));
    case ProgressEvent::Kind::attempt_failed: {
      std::string failed =
          format_message(phrases_.attempt_failed, {{"n", std::to_string(event.attempt)}});
      std::string again = std::string(phrases_.again_in) + " " + span_text(event.duration);
      return write(Style::warning, output_.glyph("↻", "~"), event,
                   failed + ", " + again + ": " + message);
    }
    case ProgressEvent::Kind::paused:
      rests(event.thread);
      return write(Style::warning, output_.glyph("⏸", "||"), event, message);
    case ProgressEvent::Kind::decided:
      return write(Style::plain, output_.glyph("▸", ">"), event, message);
    case ProgressEvent::Kind::released:
      rests(event.thread);
      if (!message.empty()) message = format_message(phrases_.given_up, {{"nodes", message}});
      return write(Style::plain, output_.glyph("◂", "<"), event,
                   std::string(phrases_.released) + (message.empty() ? "" : "; ") + message);
    case ProgressEvent::Kind::finished: {
      rests(event.thread);
      // The command of a single run prints the result or the error itself.
      if (!names_threads_) return;
      std::string rest(status_label(phrases_, event.status));
      ProgressEvent of_run = event;
      of_run.node.clear();
      bool is_outcome = event.status == RunStatus::completed;
      if (is_outcome) message = outcome_label(phrases_, message);
      if (!message.empty()) rest += ": " + message;
      StatusMark mark = mark_of(output_, event.status);
      return write(mark.style, mark.glyph, of_run, rest);
    }
  }
}

}  // namespace belay::cli
