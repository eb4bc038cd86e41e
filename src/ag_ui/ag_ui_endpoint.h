#pragma once
// ag_ui/ag_ui_endpoint.h - AgUiEndpoint: the agents of a service as agents of AG-UI 1.0.
//
// A request depends on nothing but itself and the store: any server on the store continues the
// stream of another one.
//
// Threading: the loop's thread.

#include "ag_ui/ag_ui_options.h"
#include "ag_ui/ag_ui_run.h"
#include "ag_ui/decision_checks.h"
#include "ag_ui/run_input.h"
#include "ag_ui/stream_position.h"

namespace belay::ag_ui {

// True if the run of a request exists: server::Route::finds_run.
Task<bool> finds_named_run(const server::Call& call);

class AgUiEndpoint {
 public:
  AgUiEndpoint(server::ApiContext& world, AgUiOptions options)
      : world_(world), options_(std::move(options)) {}

  // Starts or resumes the run of the input in the body, or finds it. Returns its events.
  Task<Result<server::Reply>> run(server::Call call);
  // Returns the events of a run that a client has named.
  Task<Result<server::Reply>> rejoin(server::Call call);

 private:
  using Answers = ResumeAnswers;

  // The record of a run of a client. `run` is unset without a record, and if the run of the service
  // was deleted; `version`: of the record, also then; 0: no record exists.
  struct KnownRun {
    std::optional<AgUiRun> run;
    std::uint64_t version = 0;
  };
  // The approvals that are open after decisions on them.
  struct Votes {
    bool is_possible = false;       // an approval needs several decisions
    std::vector<std::string> open;  // the interrupts that wait for more of them
    std::uint64_t seq = 0;          // of the run, after the last decision
    bool is_paused = false;         // the run, likewise
    Instant at{};                   // of the last vote
  };

  Task<Result<AgUiRun>> start(server::Call& call, AgUiRun wanted, Value agent, RunInput input);
  Task<Result<AgUiRun>> resume(server::Call& call, AgUiRun wanted, Value agent, RunInput input);
  Task<Result<Answers>> answers_to(server::Call& call, const RunInput& input);
  Task<Result<AgUiRun>> bind(server::Call& call, AgUiRun wanted, std::uint64_t version,
                             const Answers& answers);
  Task<Result<Done>> check_closed(server::Call& call, const Answers& answers);
  Task<Result<AgUiRun>> decide(server::Call& call, AgUiRun named, const Answers& answers);
  static void take_votes(const DecisionResult& made, Votes& votes);
  Task<Result<AgUiRun>> noted(server::Call& call, AgUiRun named, Votes votes);
  Task<Done> withdraw(server::Call& call, const AgUiRun& named, Error failed);
  Task<Result<KnownRun>> known_run(server::Call& call, std::string key);
  Task<Result<AgUiRun>> save(server::Call& call, AgUiRun wanted, std::uint64_t version);
  Task<Result<server::Reply>> stream_of(server::Call& call, AgUiRun named,
                                        std::optional<StreamPosition> received);

  server::ApiContext& world_;
  const AgUiOptions options_;
};

}  // namespace belay::ag_ui
