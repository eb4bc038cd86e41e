#pragma once
// cli/progress.h - Progress: prints the progress events of runs as lines on stderr.
//
// On a terminal, a node has one line, which is overwritten when the node ends; otherwise each event
// is a separate line.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "belay/runtime.h"
#include "cli/localized_text.h"
#include "cli/output.h"

namespace belay::cli {

// The mark of a status before a run, and its style.
struct StatusMark {
  Style style = Style::plain;
  std::string_view glyph;
};
StatusMark mark_of(const Output& output, RunStatus status);

class Progress {
 public:
  Progress(Output& output, const LocalizedText& phrases) : output_(output), phrases_(phrases) {}

  void on_progress(const ProgressEvent& event);
  // Several runs execute concurrently: each line names its thread, and no line is overwritten.
  void name_threads() { names_threads_ = true; }

  // This process is about to start or continue the thread's run.
  void begins(const ThreadId& thread);
  // The run has stopped here: it has ended, or is paused.
  void rests(const ThreadId& thread);
  // Threads whose runs have started here and have not stopped.
  const std::vector<ThreadId>& under_way() const { return under_way_; }

 private:
  // The tasks of a node in the superstep in progress.
  struct Count {
    std::size_t started = 0;
    std::size_t finished = 0;
  };
  void show_count(const std::string& node);
  // "12 / 12 " for a node with several tasks in the superstep that has ended; empty for any other.
  std::string count_of(const std::string& node) const;
  void write(Style style, std::string_view glyph, const ProgressEvent& event,
             std::string_view rest);

  Output& output_;
  const LocalizedText& phrases_;
  std::vector<ThreadId> under_way_;
  bool names_threads_ = false;
  std::map<std::string, Count> tasks_;
};

}  // namespace belay::cli
