#include "belay/runtime.h"

#include "events/event_reader.h"
#include "replay/replay.h"
#include "runtime/decisions.h"
#include "runtime/run_starts.h"
#include "runtime/thread_edit.h"
#include "worker/worker.h"

namespace belay {
namespace {

Task<Result<RunView>> refused(Error why) { co_return why; }

Task<Result<RunView>> status_of(RunLoader& loader, TenantId tenant, ThreadId thread,
                                std::optional<std::uint64_t> seq, std::optional<RunId> run) {
  auto found = co_await loader.load_thread(std::move(tenant), std::move(thread), seq, run);
  if (!found.ok()) co_return std::move(found).error();
  co_return loader.view_of(*std::move(found));
}

// Due times must be written and compared with the same clock on every machine: if the store has a
// clock (that of its server), the runtime uses it.
RuntimeParts with_clock_of_store(RuntimeParts parts) {
  Clock* judge = parts.store.clock();
  if (!judge) return parts;
  // A member that is missing here causes a compile error.
  auto& [store, executor, clock, random, model, observer, limits, effect_observer, redact_prompt,
         places, places_hold_starts, run_defaults, hints, http, on_held_loop] = parts;
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
                      hints,
                      std::move(http),
                      std::move(on_held_loop)};
}

}  // namespace

// The classes that implement the runtime; the destructor destroys the worker's runs first.
class Runtime::Impl {
 public:
  Impl(RuntimeParts parts, SessionId session) : executor(std::move(parts), session) {}

  RunExecutor executor;
  DueRuns due_runs{executor};
  Decisions decisions{executor};
  RunStarts starts{executor};
  Worker worker{executor, due_runs};
};

Result<std::unique_ptr<Runtime>> Runtime::open(RuntimeParts parts) {
  // Opens no connection and starts no thread before a node uses it.
  if (!parts.http) {
    BELAY_TRY(parts.http, open_http());
  }
  BELAY_TRY(SessionId session, parts.store.open_session());
  auto body = std::make_unique<Impl>(with_clock_of_store(std::move(parts)), session);
  return std::make_unique<Runtime>(std::move(body));
}

Runtime::Runtime(std::unique_ptr<Impl> body) : body_(std::move(body)) {}
Runtime::~Runtime() = default;

void Runtime::add(std::shared_ptr<const GraphDefinition> definition) {
  bool is_named = !definition->default_model.empty();
  std::string model = is_named ? std::string() : body_->executor.parts().model.name();
  body_->executor.loader().add(with_default_model(std::move(definition), model));
}

void Runtime::protect(std::string dependency, DependencyOptions options) {
  body_->executor.protect(std::move(dependency), options);
}

const SessionId& Runtime::session() const { return body_->executor.session(); }

Task<Result<RunView>> Runtime::start(std::string graph, std::shared_ptr<void> input,
                                     StartOptions options) {
  return body_->starts.start(std::move(graph), std::move(input), std::move(options));
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
  return body_->starts.enqueue(std::move(graph), std::move(input), std::move(options), not_before);
}

Task<Result<std::size_t>> Runtime::run_worker(WorkerOptions options) {
  return body_->worker.run(std::move(options));
}

void Runtime::drain() { body_->worker.drain(); }
void Runtime::stop() { body_->worker.stop(); }

void Runtime::deliver(std::string topic, Receiver receiver, DeliveryOptions options) {
  body_->executor.outbox().add(std::move(topic), std::move(receiver), options);
}

Task<Result<Done>> Runtime::retry_message(TenantId tenant, std::string id) {
  return body_->executor.outbox().move_message(std::move(tenant), std::move(id),
                                               OutboxStatus::waiting);
}

Task<Result<Done>> Runtime::give_up_message(TenantId tenant, std::string id) {
  return body_->executor.outbox().move_message(std::move(tenant), std::move(id),
                                               OutboxStatus::given_up);
}

Task<Result<RunView>> Runtime::fork(ForkOptions options) {
  return body_->starts.fork(std::move(options));
}

Task<Result<ForkPreview>> Runtime::preview(ForkOptions options) {
  return body_->starts.preview(std::move(options));
}

Task<Result<ReplayReport>> Runtime::replay(ReplayOptions options) {
  RunExecutor& executor = body_->executor;
  return replay_run(executor.parts(), executor.loader().graphs(), std::move(options));
}

Task<Result<std::unique_ptr<EventReader>>> Runtime::events(EventOptions options) {
  RunExecutor& executor = body_->executor;
  return open_event_reader(executor.parts(), executor.loader().graphs(), executor.text_hub(),
                           executor.session(), std::move(options));
}

Task<Result<RunView>> Runtime::resume(TenantId tenant, ThreadId thread,
                                      std::optional<Breakpoints> breakpoints,
                                      std::optional<std::uint64_t> only_at,
                                      std::optional<Consent> consent) {
  return body_->executor.resume(std::move(tenant), std::move(thread), std::move(breakpoints),
                                only_at, std::move(consent));
}

Task<Result<std::vector<ThreadId>>> Runtime::orphaned_threads(TenantId tenant,
                                                              std::optional<UserId> user) {
  return body_->executor.orphaned_threads(std::move(tenant), std::move(user));
}

Task<Result<DecisionResult>> Runtime::decide(TenantId tenant, InterruptId interrupt,
                                             Decision decision) {
  return body_->decisions.decide(std::move(tenant), interrupt, std::move(decision));
}

Task<Result<RunView>> Runtime::cancel(TenantId tenant, ThreadId thread, std::string by,
                                      std::string on_behalf_of, std::optional<RunId> run) {
  return body_->executor.cancel(std::move(tenant), std::move(thread), std::move(by),
                                std::move(on_behalf_of), run);
}

Task<Result<RunView>> Runtime::status(TenantId tenant, ThreadId thread, std::optional<RunId> run) {
  return status_of(body_->executor.loader(), std::move(tenant), std::move(thread), std::nullopt,
                   run);
}

Task<Result<RunView>> Runtime::status_at(TenantId tenant, ThreadId thread, std::uint64_t seq,
                                         std::optional<RunId> run) {
  return status_of(body_->executor.loader(), std::move(tenant), std::move(thread), seq, run);
}

Task<Result<ThreadRow>> Runtime::edit_thread(TenantId tenant, ThreadId thread,
                                             ThreadSettings settings) {
  return belay::edit_thread(body_->executor.parts(), std::move(tenant), std::move(thread),
                            std::move(settings));
}

Task<Result<DueReport>> Runtime::process_due(TenantId tenant) {
  return body_->due_runs.process_due(std::move(tenant));
}

Task<Result<Done>> Runtime::save(TenantId tenant, std::vector<RecordWrite> records) {
  return save_records(body_->executor.parts().store, std::move(tenant), std::move(records));
}

std::unique_ptr<Records> Runtime::records(TenantId tenant, UserId user) {
  return store_records(body_->executor.parts().store, body_->executor.parts().clock,
                       std::move(tenant), std::move(user));
}

std::vector<std::pair<std::string, std::string>> Runtime::slot_waits(const RunId& run) const {
  std::vector<std::pair<std::string, std::string>> waits;
  for (const auto& [id, driver] : body_->executor.driven()) {
    if (id != run) continue;
    auto of_driver = driver->slot_waits();
    waits.insert(waits.end(), of_driver.begin(), of_driver.end());
  }
  return waits;
}

}  // namespace belay
