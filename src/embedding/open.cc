#include "belay/open.h"

#include "telemetry/held_loop_report.h"

namespace belay {
namespace {

class AbsentModel final : public Model {
 public:
  Task<Result<ModelReply>> generate(ModelRequest) override {
    co_return error(ErrorCode::invalid,
                    "This program has no model. Pass one as OpenOptions::model.");
  }
};

}  // namespace

// In the order of their dependencies: each member uses those above it.
class Embedded::Parts {
 public:
  std::unique_ptr<Clock> clock = system_clock();
  std::unique_ptr<Random> random = system_random();
  std::unique_ptr<EventLoop> loop = make_event_loop();
  std::shared_ptr<Model> model;
  std::unique_ptr<Store> stored;
  std::unique_ptr<Store> encrypted;
  std::unique_ptr<Store> observed;
  std::unique_ptr<telemetry::HeldLoopReport> held_loops;
  std::unique_ptr<Runtime> runtime;

  Result<Done> open_store(const std::string& name, OpenOptions& options) {
    BELAY_TRY(stored, belay::open_store(name, *clock, *random));
    if (options.encryption) {
      encrypted = make_encrypted_store(*stored, *random, *std::move(options.encryption));
    }
    if (options.telemetry.is_on()) {
      observed = make_observed_store(below_telemetry(), *clock, options.telemetry);
    }
    return Done{};
  }
  Store& store() { return observed ? *observed : below_telemetry(); }

 private:
  Store& below_telemetry() { return encrypted ? *encrypted : *stored; }
};

Embedded::Embedded(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Embedded::~Embedded() = default;

Result<std::unique_ptr<Embedded>> Embedded::open(const std::string& store, OpenOptions options) {
  auto made = std::make_unique<Parts>();
  made->model = options.model ? std::move(options.model) : std::make_shared<AbsentModel>();
  if (options.telemetry.is_on()) {
    made->model = make_observed_model(std::move(made->model), *made->clock, options.telemetry);
  }
  BELAY_CHECK(made->open_store(store, options));
  RuntimeParts parts{made->store(), *made->loop,  *made->clock,
                     *made->random, *made->model, std::move(options.observer)};
  parts.run_defaults = options.run_defaults;
  parts.http = std::move(options.http);
  if (options.telemetry.is_on()) {
    made->held_loops = std::make_unique<telemetry::HeldLoopReport>(options.telemetry, made->store(),
                                                                   *made->loop, *made->clock);
    parts.on_held_loop = [held = made->held_loops.get()](const HeldLoop& each) {
      held->note(each);
    };
  }
  BELAY_TRY(made->runtime, Runtime::open(std::move(parts)));
  return std::make_unique<Embedded>(std::move(made));
}

Result<RunView> Embedded::resume(ThreadId thread) {
  return wait(runtime().resume(default_tenant(), std::move(thread)));
}

Result<RunView> Embedded::status(ThreadId thread) {
  return wait(runtime().status(default_tenant(), std::move(thread)));
}

Result<DecisionResult> Embedded::decide(InterruptId interrupt, Decision decision) {
  return wait(runtime().decide(default_tenant(), interrupt, std::move(decision)));
}

Result<std::size_t> Embedded::work() {
  WorkerOptions options;
  options.until_idle = true;
  return wait(runtime().run_worker(std::move(options)));
}

Runtime& Embedded::runtime() { return *parts_->runtime; }

Store& Embedded::store() { return parts_->store(); }

EventLoop& Embedded::loop() { return *parts_->loop; }

Result<std::unique_ptr<Embedded>> open(const std::string& store, OpenOptions options) {
  return Embedded::open(store, std::move(options));
}

}  // namespace belay
