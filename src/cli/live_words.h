#pragma once
// cli/live_words.h - LiveWords: shows the text that the nodes of a run stream, while a command
// waits for the run.
//
// Only on a terminal: a file or a pipe receives the result alone. The text is for display: an
// attempt that failed leaves its words on the screen.
//
// Threading: the executor's thread. The arguments must outlive the object.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cli/command_context.h"

namespace belay::cli {

// Joins the deltas of texts, which are cut at any byte, into whole characters, each once.
class WordJoiner {
 public:
  // Returns what a streamed event adds; "" for any other event, and for text that was shown. A text
  // of another task or attempt than the last one starts on a new line.
  std::string take(const StreamEvent& event);

 private:
  struct Shown {
    int attempt = 0;
    std::uint64_t bytes = 0;
    std::string rest;  // the beginning of a character
  };
  std::map<TaskId, Shown> tasks_;
  std::optional<TaskId> last_;
};

class LiveWords {
 public:
  // Follows the run that the thread gets next, or that continues: the one that is current while it
  // runs. No effect unless standard error is a terminal.
  LiveWords(CommandContext& world, ThreadId thread);
  LiveWords(const LiveWords&) = delete;
  LiveWords& operator=(const LiveWords&) = delete;

 private:
  Task<Done> follow();
  Task<Done> read_words(RunRow run);

  CommandContext& world_;
  const ThreadId thread_;
  WordJoiner joiner_;
  Spawned following_;  // last: it uses all members above
};

}  // namespace belay::cli
