#pragma once
// ag_ui/ag_ui_endpoint.h - AgUiEndpoint: the agents of a service as agents of AG-UI 1.0.
//
// A request depends on nothing but itself and the store: any server on the store continues the
// stream of another one.
//
// Threading: the loop's thread.

#include "ag_ui/ag_ui_options.h"
#include "ag_ui/ag_ui_run.h"
#include "ag_ui/run_input.h"
#include "ag_ui/stream_position.h"

namespace belay::ag_ui {

class AgUiEndpoint {
 public:
  AgUiEndpoint(server::ApiContext& world, AgUiOptions options)
      : world_(world), options_(std::move(options)) {}

  // Starts or resumes the run of the input in the body, or finds it. Returns its events.
  Task<Result<server::Reply>> run(server::Call call);
  // Returns the events of a run that a client has named.
  Task<Result<server::Reply>> rejoin(server::Call call);

 private:
  struct Answer {
    ResumeEntry entry;
    ApprovalRow approval;
    Decision decision;
  };
  using Answers = std::vector<Answer>;

  Task<Result<AgUiRun>> start(server::Call& call, AgUiRun wanted, Value agent, RunInput input);
  Task<Result<AgUiRun>> resume(server::Call& call, AgUiRun wanted, RunInput input);
  Task<Result<Answers>> answers_to(server::Call& call, const RunInput& input);
  Task<Result<AgUiRun>> bind(server::Call& call, AgUiRun wanted, const Answers& answers);
  Task<Result<Done>> check_closed(server::Call& call, const Answers& answers);
  Task<Result<Done>> decide(server::Call& call, const Answers& answers);
  Task<Result<std::optional<AgUiRun>>> known_run(server::Call& call, std::string key);
  Task<Result<AgUiRun>> save(server::Call& call, AgUiRun wanted);
  Task<Result<server::Reply>> stream_of(server::Call& call, AgUiRun named,
                                        std::optional<StreamPosition> received);

  server::ApiContext& world_;
  const AgUiOptions options_;
};

}  // namespace belay::ag_ui
