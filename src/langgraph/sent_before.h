#pragma once
// langgraph/sent_before.h - requests with an Idempotency-Key that were sent before.
//
// A key belongs to one of two runs: to the run of the service that its request has started, or to
// the run of the protocol that continues another one. Which of them a request begins depends on the
// state of the thread, which the request itself changes: the newest checkpoint is no longer the
// newest one after it. Therefore a repeated request follows the run that exists.
//
// Threading: on the executor that awaits.

#include "langgraph/wanted_run.h"

namespace belay::langgraph {

// The bits of the ids that a request makes: with an Idempotency-Key, those of the key, because a
// repeated request has the same input; otherwise random ones. `random` must outlive it.
class RequestRandom final : public Random {
 public:
  RequestRandom(const server::Call& call, Random& random);
  std::uint64_t bits() override;

 private:
  std::string seed_;  // empty: no key
  Random& random_;
  std::uint64_t count_ = 0;
};

// The runs of the key of a request on a thread; none without a key.
struct SentBefore {
  bool has_continued = false;     // the record of a run that continues another one
  std::optional<RunRow> started;  // a run of the service, on this thread
};
Task<Result<SentBefore>> sent_before(const server::Call& call, const ThreadView& thread);

// Sets the checkpoint that the run begins from. The newest one is where any run begins; but the
// nodes of a run that has ended start again there without an input, and the interrupts that its end
// has closed can be answered there. A repeated request has the checkpoint of the first.
Task<Result<Done>> set_checkpoint(const server::Call& call, WantedRun& wanted);

// The id of a run that continues another: random, or that of its Idempotency-Key.
std::string continuing_id(AgentServer& served, const server::Call& call, const WantedRun& wanted);

// Returns the run of the same request, sent before; nullopt: it is the first, or its run was not
// continued, or not with all decisions (WantedRun::unbegun).
Task<Result<std::optional<ProtocolRun>>> known_run(const server::Call& call, WantedRun& wanted);

}  // namespace belay::langgraph
