#pragma once
// driver/runtime_body.h - what a Runtime does, apart from its public face.

#include <map>

#include "driver/run_driver.h"
#include "driver/stored_run.h"

namespace belay {

class Runtime::Body {
 public:
  using Definition = std::shared_ptr<const GraphDefinition>;

  Body(RuntimeParts parts, SessionId session) : parts_(std::move(parts)), session_(session) {}
  ~Body() { parts_.store.close_session(session_); }
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;

  void add(Definition graph) { graphs_[graph->name] = std::move(graph); }
  const SessionId& session() const { return session_; }

  Task<Result<RunView>> start(std::string graph, std::shared_ptr<void> input, StartOptions options);
  Task<Result<RunView>> resume(TenantId tenant, ThreadId thread);
  Task<Result<std::vector<ThreadId>>> left_behind(TenantId tenant);
  Task<Result<DecisionAnswer>> decide(TenantId tenant, InterruptId interrupt, Decision decision);
  Task<Result<RunView>> cancel(TenantId tenant, ThreadId thread, std::string by);
  Task<Result<RunView>> status(TenantId tenant, ThreadId thread, std::optional<std::uint64_t> seq);
  Task<Result<std::size_t>> apply_due(TenantId tenant);
  Task<Result<Done>> save(TenantId tenant, std::vector<RecordWrite> records);
  std::unique_ptr<Records> records(TenantId tenant, UserId user) {
    return store_records(parts_.store, std::move(tenant), std::move(user));
  }

 private:
  // A run with the approval that it waits for, as one view of the store shows them.
  struct Found {
    engine::StoredRun stored;
    std::optional<ApprovalRow> approval;
  };

  engine::Moment moment();
  Result<Definition> graph_named(const std::string& name) const;
  Task<Result<Found>> find_thread(TenantId tenant, ThreadId thread,
                                  std::optional<std::uint64_t> seq = std::nullopt);
  Task<Result<Found>> find_run(TenantId tenant, RunId run);
  Task<Result<ApprovalRow>> find_approval(TenantId tenant, InterruptId interrupt);
  Result<RunView> view_of(Found found);
  Task<Result<RunView>> view_of_run(TenantId tenant, RunId run);
  // Goes on with `run` until it rests, and says how it stands then.
  Task<Result<RunView>> drive(Definition graph, engine::Run run, engine::Event first);
  Task<Result<RunView>> go_on(Found found);
  // `conflict` while another session, or a call of this one, works on the run.
  Result<Done> check_free(const RunRow& row);
  Result<Done> check_idle(const Found& found);

  Result<Done> check_decision(const ApprovalRow& approval, const Decision& decision);
  // The edited payload as the state says it; nothing where it is what was shown.
  Result<std::optional<Value>> canonical_edit(const GraphDefinition& graph,
                                              const ApprovalRow& approval, const Value& edited);
  Task<Result<std::optional<DecisionAnswer>>> try_to_decide(ApprovalRow approval,
                                                            Decision decision);
  Task<Result<DecisionAnswer>> answer_decided(ApprovalRow approval, Decision decision);
  Task<Result<std::vector<ApprovalRow>>> find_due(TenantId tenant);
  Task<Result<bool>> expire(ApprovalRow approval);

  RuntimeParts parts_;
  SessionId session_;
  std::map<std::string, Definition> graphs_;
  std::map<RunId, RunDriver*> driven_;  // by the calls that are under way
};

}  // namespace belay
