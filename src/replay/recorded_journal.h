#pragma once
// replay/recorded_journal.h - the journal of one attempt in a replay.
//
// Returns recorded results only. Effects are never called: one that is not recorded fails the
// attempt.

#include <map>
#include <optional>
#include <string>

#include "belay/context.h"
#include "replay/recorded_run.h"

namespace belay {

class RecordedJournal final : public Journal {
 public:
  // How often uncertain effects of a task were started again: by name, over all attempts of the
  // task.
  using Begun = std::map<std::string, std::int64_t, std::less<>>;
  // A call of the attempt that is not recorded.
  struct Missing {
    std::string what;
    std::string recorded;
    std::string replayed;
  };

  // `failed_with`: the recorded error of the attempt. Results that were recorded after `now` are
  // then not returned to it: they belong to a later attempt.
  RecordedJournal(const RecordedRun& run, TaskId task, Instant now,
                  std::optional<Error> failed_with, Begun& begun)
      : run_(run), task_(task), now_(now), failed_with_(std::move(failed_with)), begun_(begun) {}

  const EffectRow* find(std::string_view name) const override;
  // Called only for an intent: the node must be executed again, with the recorded outcome.
  Task<Result<Done>> write(EffectRow row) override;
  void keep(EffectRow) override {}
  bool may_begin(std::string_view) override { return false; }

  void begin_again(const EffectRow& row) { begun_[row.name] = row.attempt - 1; }
  bool starts_again() const { return starts_again_; }
  const std::optional<Missing>& missing() const { return missing_; }

 private:
  const EffectRow* lacks(Missing missing) const;
  // True if a decision about the uncertain effect was requested, and the effect was not started
  // again since.
  bool was_uncertain(const EffectRow& row) const;

  const RecordedRun& run_;
  TaskId task_;
  Instant now_;
  std::optional<Error> failed_with_;
  Begun& begun_;
  bool starts_again_ = false;
  mutable EffectRow uncertain_;
  mutable std::optional<Missing> missing_;
};

}  // namespace belay
