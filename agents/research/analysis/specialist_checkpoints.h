#pragma once
// agents/research/analysis/specialist_checkpoints.h - the checkpoints of a specialist: saved in the
// commit of each of its subtasks, restored when it continues.
//
// A process that continues a run after a crash needs no checkpoint: the engine restores the run.
// A specialist that works again after a failure, a pause or an update of the program restores its
// newest checkpoint, migrated to the version of the program.

#include "agents/research/analysis/analysis_state.h"
#include "agents/research/analysis/records.h"
#include "agents/research/analysis/research_parts.h"
#include "agents/research/specialists/specialists.h"
#include "belay/context.h"
#include "belay/state.h"

namespace belay::research {

// A checkpoint as it was restored; both members are empty without one.
struct CheckpointRead {
  Value checkpoint{};
  std::string refusal{};  // it cannot be migrated
};

// The state of a specialist after a subtask as its checkpoint; without time and version.
AgentCheckpoint specialist_checkpoint(const Specialist& specialist, const SpecialistRun& state,
                                      const std::string& analysis);

// Adds the results of a subtask to the state: completed, working memory, interim results.
void note_completed(const Deliverable& made, const Results& results, SpecialistRun& state);

// Saves the checkpoint of `state` in the commit of the node, and sets its time in it. `failure`:
// the reason of the checkpoint, null for a completed subtask. Does nothing if checkpoints are off.
Task<Result<Done>> save_checkpoint(std::shared_ptr<const ResearchParts> parts,
                                   const Specialist& specialist, SpecialistRun& state,
                                   const Error* failure, Context& context);

// Returns the state with which the specialist continues: that of its newest checkpoint, or `state`
// without one. Fails with `invalid` if the checkpoint cannot be migrated, or if it names
// subtasks that the specialist does not have. The read is a keyed effect: a replay returns the
// checkpoint of then.
Task<Result<SpecialistRun>> restore_specialist(std::shared_ptr<const ResearchParts> parts,
                                               const Specialist& specialist, SpecialistRun state,
                                               Context& context);

// The update that replaces the members that a subtask changes.
Update<SpecialistRun> changed_by_subtask(SpecialistRun state);

}  // namespace belay::research
