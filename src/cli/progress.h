#pragma once
// cli/progress.h - what runs tell while they go on, as lines on stderr.
//
// On a terminal a node has one line, begun when it starts and written anew when it ends; elsewhere
// each event is a line of its own.

#include <string>
#include <string_view>
#include <vector>

#include "belay/runtime.h"
#include "cli/localized_text.h"
#include "cli/output.h"

namespace belay::cli {

// The mark in front of a run in that status, and its style.
struct StatusMark {
  Style style = Style::plain;
  std::string_view glyph;
};
StatusMark mark_of(const Output& output, RunStatus status);

class Progress {
 public:
  Progress(Output& output, const LocalizedText& phrases) : output_(output), phrases_(phrases) {}

  void on_progress(const ProgressEvent& event);
  // Several runs go on at once: each line names its thread, and none is written anew.
  void name_threads() { names_threads_ = true; }

  // This process is about to begin or go on with that run.
  void begins(const ThreadId& thread);
  // It has come to a stop: it ended, or waits.
  void rests(const ThreadId& thread);
  // The runs that have begun here and not come to a stop.
  const std::vector<ThreadId>& under_way() const { return under_way_; }

 private:
  void write(Style style, std::string_view glyph, const ProgressEvent& event,
             std::string_view rest);

  Output& output_;
  const LocalizedText& phrases_;
  std::vector<ThreadId> under_way_;
  bool names_threads_ = false;
};

}  // namespace belay::cli
