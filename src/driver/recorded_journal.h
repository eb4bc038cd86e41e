#pragma once
// driver/recorded_journal.h - the effects of one attempt as a replay answers them: from the record
// alone. Nothing is ever called: what is not on record fails the attempt here.

#include <map>
#include <optional>
#include <string>

#include "belay/context.h"
#include "driver/recorded_run.h"

namespace belay {

class RecordedJournal final : public Journal {
 public:
  // How often effects of a task were begun anew since they were uncertain: by name, over all
  // attempts of the task.
  using Begun = std::map<std::string, std::int64_t, std::less<>>;
  // What the attempt asked for and the record lacks.
  struct Missing {
    std::string what;
    std::string recorded;
    std::string replayed;
  };

  // `failed_with`: how the attempt is recorded to have failed. What came later than `now` is then
  // no answer to it.
  RecordedJournal(const RecordedRun& run, TaskId task, Instant now,
                  std::optional<Error> failed_with, Begun& begun)
      : run_(run), task_(task), now_(now), failed_with_(std::move(failed_with)), begun_(begun) {}

  const EffectRow* find(std::string_view name) const override;
  // Only an intent comes this way: the node is to be run again, with what came of it.
  Task<Result<Done>> write(EffectRow row) override;
  void keep(EffectRow) override {}
  bool may_begin(std::string_view) override { return false; }

  void begin_again(const EffectRow& row) { begun_[row.name] = row.attempt - 1; }
  bool starts_again() const { return starts_again_; }
  const std::optional<Missing>& missing() const { return missing_; }

 private:
  const EffectRow* lacks(Missing missing) const;
  // Whether a person was asked what became of the effect, and it has not been begun anew since.
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
