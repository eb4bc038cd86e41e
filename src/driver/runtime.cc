#include "belay/runtime.h"

#include "driver/runtime_body.h"

namespace belay {
namespace {

Task<Result<RunView>> refused(Error why) { co_return why; }

// Due times must be written and compared with the same clock on every machine: if the store has a
// clock (that of its server), the runtime uses it.
RuntimeParts with_clock_of_store(RuntimeParts parts) {
  Clock* judge = parts.store.clock();
  if (!judge) return parts;
  // A member that is missing here causes a compile error.
  auto& [store, executor, clock, random, model, observer, limits, effect_observer, redact_prompt,
         places, places_hold_starts, run_defaults, hints] = parts;
  return RuntimeParts{store,
                      executor,
                      *judge,
                      random,
                      model,
                      std::move(observer),
                      limits,
                      std::move(effect_observer),
                      std::move(redact_prompt),
                      places,
                      places_hold_starts,
                      run_defaults,
                      hints};
}

}  // namespace

Result<std::unique_ptr<Runtime>> Runtime::open(RuntimeParts parts) {
  BELAY_TRY(SessionId session, parts.store.open_session());
  auto body = std::make_unique<Impl>(with_clock_of_store(std::move(parts)), session);
  return std::make_unique<Runtime>(std::move(body));
}

Runtime::Runtime(std::unique_ptr<Impl> body) : body_(std::move(body)) {}
Runtime::~Runtime() = default;

void Runtime::add(std::shared_ptr<const GraphDefinition> definition) {
  body_->add(std::move(definition));
}

void Runtime::protect(std::string dependency, DependencyOptions options) {
  body_->protect(std::move(dependency), options);
}

const SessionId& Runtime::session() const { return body_->session(); }

Task<Result<RunView>> Runtime::start(std::string graph, std::shared_ptr<void> input,
                                     StartOptions options) {
  return body_->start(std::move(graph), std::move(input), std::move(options));
}

Task<Result<RunView>> Runtime::start(const Graph<Value>& graph, Value input, StartOptions options) {
  auto state = state_from(*graph.definition()->state, input);
  if (!state.ok()) return refused(std::move(state).error());
  return start(graph.name(), *std::move(state), std::move(options));
}

Task<Result<RunView>> Runtime::enqueue(const Graph<Value>& graph, Value input, StartOptions options,
                                       Instant not_before) {
  auto state = state_from(*graph.definition()->state, input);
  if (!state.ok()) return refused(std::move(state).error());
  return enqueue(graph.name(), *std::move(state), std::move(options), not_before);
}

Task<Result<RunView>> Runtime::enqueue(std::string graph, std::shared_ptr<void> input,
                                       StartOptions options, Instant not_before) {
  return body_->enqueue(std::move(graph), std::move(input), std::move(options), not_before);
}

Task<Result<std::size_t>> Runtime::run_worker(WorkerOptions options) {
  return body_->run_worker(std::move(options));
}

void Runtime::drain() { body_->drain(); }
void Runtime::stop() { body_->stop(); }

void Runtime::deliver(std::string topic, Receiver receiver, DeliveryOptions options) {
  body_->deliver(std::move(topic), std::move(receiver), options);
}

Task<Result<Done>> Runtime::retry_message(TenantId tenant, std::string id) {
  return body_->move_message(std::move(tenant), std::move(id), OutboxStatus::waiting);
}

Task<Result<Done>> Runtime::give_up_message(TenantId tenant, std::string id) {
  return body_->move_message(std::move(tenant), std::move(id), OutboxStatus::given_up);
}

Task<Result<RunView>> Runtime::fork(ForkOptions options) { return body_->fork(std::move(options)); }

Task<Result<ForkPreview>> Runtime::preview(ForkOptions options) {
  return body_->preview(std::move(options));
}

Task<Result<ReplayReport>> Runtime::replay(ReplayOptions options) {
  return body_->replay(std::move(options));
}

Task<Result<std::unique_ptr<EventReader>>> Runtime::events(EventOptions options) {
  return body_->events(std::move(options));
}

Task<Result<RunView>> Runtime::resume(TenantId tenant, ThreadId thread) {
  return body_->resume(std::move(tenant), std::move(thread));
}

Task<Result<std::vector<ThreadId>>> Runtime::orphaned_threads(TenantId tenant,
                                                              std::optional<UserId> user) {
  return body_->orphaned_threads(std::move(tenant), std::move(user));
}

Task<Result<DecisionResult>> Runtime::decide(TenantId tenant, InterruptId interrupt,
                                             Decision decision) {
  return body_->decide(std::move(tenant), interrupt, std::move(decision));
}

Task<Result<RunView>> Runtime::cancel(TenantId tenant, ThreadId thread, std::string by,
                                      std::string on_behalf_of) {
  return body_->cancel(std::move(tenant), std::move(thread), std::move(by),
                       std::move(on_behalf_of));
}

Task<Result<RunView>> Runtime::status(TenantId tenant, ThreadId thread) {
  return body_->status(std::move(tenant), std::move(thread), std::nullopt);
}

Task<Result<RunView>> Runtime::status_at(TenantId tenant, ThreadId thread, std::uint64_t seq) {
  return body_->status(std::move(tenant), std::move(thread), seq);
}

Task<Result<DueReport>> Runtime::process_due(TenantId tenant) {
  return body_->process_due(std::move(tenant));
}

Task<Result<Done>> Runtime::save(TenantId tenant, std::vector<RecordWrite> records) {
  return body_->save(std::move(tenant), std::move(records));
}

std::unique_ptr<Records> Runtime::records(TenantId tenant, UserId user) {
  return body_->records(std::move(tenant), std::move(user));
}

}  // namespace belay
