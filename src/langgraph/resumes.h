#pragma once
// langgraph/resumes.h - runs of the protocol that continue a run of the service: with decisions, or
// past a breakpoint.
//
// The record of such a run is saved before the run of the service is continued: a crash cannot lose
// a run whose id a client has received. Until the run of the service has a commit behind the one at
// which it waited, the record counts as absent; the same request, sent again with its key, finds it
// and continues. A breakpoint is passed only at the commit of the record: a repeated request passes
// no second one.
//
// Threading: on the executor that awaits.

#include "langgraph/wanted_run.h"

namespace belay::langgraph {

// Makes the decisions of a resume. All are checked before the first is made.
Task<Result<RunRecord>> resume_run(AgentServer& served, server::Call& call,
                                   const WantedRun& wanted);
// Starts a run from the checkpoint, and makes the decisions about its interrupts, which must be the
// same as those of the checkpoint: node, question, payload and terms. Nothing is started if the
// checkpoint has no such interrupts, if one of them asks about an effect, or if a decision is
// refused. `conflict` if the run asks something else: it remains, with open interrupts. Sets
// WantedRun::has_started.
Task<Result<RunRecord>> resume_at_checkpoint(AgentServer& served, server::Call& call,
                                             WantedRun& wanted);
// Continues the thread's run past its breakpoint.
Task<Result<RunRecord>> pass_breakpoint(AgentServer& served, server::Call& call,
                                        const WantedRun& wanted);

}  // namespace belay::langgraph
