#pragma once
// check/replay.h - a run as it stood after each of its commits, one after the other.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "check/contents.h"
#include "engine/next_task.h"
#include "engine/run.h"

namespace belay::check {

// Stands before the first commit at the beginning. `run` outlives it.
class Replay {
 public:
  explicit Replay(const RunContents& run);

  // To the next commit; false after the last.
  bool next();

  const CheckpointRow& checkpoint() const { return run_.checkpoints[index_]; }
  // Null at the first.
  const CheckpointRow* parent() const { return index_ == 0 ? nullptr : &checkpoint() - 1; }

  // A channel as it stood after this commit: its newest value, or the input's. Nothing where it has
  // neither, or can't be read.
  std::optional<Value> value(std::string_view channel) const;
  // Whether this commit itself wrote the channel.
  bool writes(std::string_view channel) const;

  // What the stored bytes give for this checkpoint, whatever it says itself.
  Digest chain_hash() const;

  // What is to run next. Nothing when the run has ended, or when the text can't be read.
  std::optional<engine::NodeTask> next_task() const;

  // The run as the engine would go on with it from here; whether the bytes are those that were
  // written is not asked. REQUIRES: run.graph.
  Result<engine::Run> restore() const;

 private:
  const RunContents& run_;
  std::optional<Value> input_;
  Digest input_hash_{};
  std::size_t index_ = static_cast<std::size_t>(-1);
  std::size_t values_seen_ = 0;
  std::map<std::string, const ValueRow*, std::less<>> current_;  // by channel
  std::vector<engine::ChannelVersion> channels_;                 // the same, as the hash takes them
};

}  // namespace belay::check
