#pragma once
// belay/open.h - Belay embedded in a program, in one line: a store, a runtime and their thread.
//
//     auto belay = belay::open("sqlite:app.db").value();
//     auto graph = mail_graph().value();
//     belay->add(graph);
//     RunView run = belay->run(graph, Mail{.topic = "the outage"}).value();
//     Decision yes{.approved = true, .decided_by = "ana"};
//     if (run.approval) belay->decide(run.approval->interrupt, yes);
//
// A run that another process of the store, or an earlier execution of this program, has left is
// continued by resume() or work().
//
// Threading: one thread, that of the caller: a call runs the loop until it has its result. A
// program that has an event loop or several threads uses Runtime (runtime.h) instead.
//
// Ownership: the object owns everything that it returns references to.
//
// Errors: those of the call of Runtime behind each function.

#include <memory>
#include <string>

#include "belay/runtime.h"
#include "belay/storage.h"
#include "belay/telemetry.h"

namespace belay {

struct OpenOptions {
  // The model of context.model(). Null: a node that uses it fails with `invalid`.
  std::shared_ptr<Model> model = nullptr;
  // With keys, or with `compress`, the store is encrypted or compressed: see storage.h.
  std::optional<EncryptionOptions> encryption = std::nullopt;
  // The log and the metrics, which must outlive the object.
  Telemetry telemetry = {};
  ProgressObserver observer = nullptr;
  RunSettings run_defaults = {};
  std::shared_ptr<HttpAccess> http = nullptr;  // of nodes; null: open_http() with its defaults
};

class Embedded {
  class Parts;

 public:
  // See open().
  static Result<std::unique_ptr<Embedded>> open(const std::string& store, OpenOptions options);
  explicit Embedded(std::unique_ptr<Parts> parts);  // for open()
  ~Embedded();
  Embedded(const Embedded&) = delete;
  Embedded& operator=(const Embedded&) = delete;

  template <typename State>
  void add(const Graph<State>& graph) {
    runtime().add(graph);
  }

  // Starts a run, and returns when it has ended or is paused.
  template <typename State>
  Result<RunView> run(const Graph<State>& graph, State input, StartOptions options = {}) {
    return wait(runtime().start(graph, std::move(input), std::move(options)));
  }
  // Continues the current run of a thread: see Runtime::resume().
  Result<RunView> resume(ThreadId thread);
  Result<RunView> status(ThreadId thread);
  // Decides an approval, and continues its run until it has ended or is paused again.
  Result<DecisionResult> decide(InterruptId interrupt, Decision decision);
  // Executes all runs that can be continued now: queued and orphaned runs, due timers, expired
  // approvals, messages. Returns the number of runs.
  Result<std::size_t> work();

  // Runs the loop until any other task has ended.
  template <typename T>
  T wait(Task<T> task) {
    return block_on(loop(), std::move(task));
  }

  Runtime& runtime();
  Store& store();
  EventLoop& loop();

 private:
  std::unique_ptr<Parts> parts_;
};

// Opens the store `sqlite:PATH`, `memory:` or `postgresql://...`; a new one is created. Fails with
// `invalid` for another name, and as the store does.
Result<std::unique_ptr<Embedded>> open(const std::string& store, OpenOptions options = {});

}  // namespace belay
