// `belay run`: starts a run of an agent, on a new thread or a known one; never decides.
//
// `belay enqueue`: stores the run for a worker.

#include "belay/command.h"
#include "belay/limits.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/documents.h"
#include "cli/live_words.h"
#include "cli/run_input.h"
#include "cli/shared_options.h"
#include "cli/show.h"
#include "cli/suggestions.h"
#include "service/run_request.h"

namespace belay::cli {
namespace {

constexpr const char* kRunHelp =
    R"(A run that needs a decision pauses (exit code 3) and prints the command that approves it; run
never decides. A known --thread gets a further run, which starts from the state that the run before
it left; an agent with one run per thread resumes that run, or names the command that shows it. If a
run of the thread has not ended, --if-busy selects the effect: reject (exit code 4), enqueue: the
run waits for it; interrupt: it is cancelled; rollback: it is cancelled and deleted. The same --key
again starts nothing: it shows the run of the key.

Examples:
  {p} run --input topic="the outage"
  {p} run --input @input.json --thread first
  {p} run --input topic="and now?" --thread first --if-busy enqueue
  {p} run --input - --json < input.json
)";
constexpr const char* kEnqueueHelp =
    R"(Adds a run to a queue of the store and returns; a worker on this store starts it. --thread,
--key and --if-busy have the same effects as in {p} run.

Examples:
  {p} enqueue --input topic="the outage" --thread first
  {p} enqueue --input @input.json --after 2h
  {p} worker
)";

constexpr std::chrono::milliseconds kLookAgain{200};

// Waits for the process that executes the run; if its session dies, resume() claims the run here.
Task<Result<RunView>> wait_for_owner(CommandContext& world, RunView view) {
  ThreadId thread = view.row.thread;
  RunId run = view.row.run;
  std::string process;
  if (auto id = world.local->process_of(view.row.session)) process = std::to_string(*id);
  world.output.progress(format_message(world.phrases.waits_for_process,
                                       {{"thread", thread.text}, {"process", process}}));
  while (view.row.status == RunStatus::running) {
    BELAY_CO_TRY(bool is_alive, world.local->store.is_alive(view.row.session));
    if (is_alive) {
      co_await sleep_for(kLookAgain);
      BELAY_CO_TRY(view, co_await world.service.status(world.who, thread, std::nullopt, run));
    } else {
      auto resumed = co_await world.service.resume(world.who, thread);
      bool is_claimed = !resumed.ok() && resumed.error().code == ErrorCode::conflict;
      if (!resumed.ok() && !is_claimed) co_return std::move(resumed).error();
      // Another process has claimed it first.
      if (is_claimed) resumed = co_await world.service.status(world.who, thread, std::nullopt, run);
      if (!resumed.ok()) co_return std::move(resumed).error();
      view = *std::move(resumed);
    }
  }
  co_return std::move(view);
}

Result<std::shared_ptr<const GraphDefinition>> find_graph(const Definitions& graphs,
                                                          const std::string& name) {
  if (name.empty() && graphs.size() == 1) return graphs.front();
  std::vector<std::string> names;
  for (const auto& graph : graphs) {
    if (graph->name == name) return graph;
    names.push_back(graph->name);
  }
  std::string what = "Unknown agent \"" + shortened(name, 60, "...") + "\".";
  if (name.empty()) what = "Missing agent name.";
  return error(name.empty() ? ErrorCode::invalid : ErrorCode::not_found,
               what + did_you_mean(name, names));
}

// `run`; with `queued`, `enqueue`.
class RunCommand final : public Command {
 public:
  RunCommand(bool queued, std::vector<RunForm> forms)
      : queued_(queued), known_forms_(std::move(forms)) {}

  void declare(CommandWords& words) override;
  Result<Done> validate(const CommandValidation& inputs) override;
  Task<CommandResult> run(CommandContext& world) override {
    return queued_ ? enqueue(world) : execute(world);
  }

 private:
  void declare_options(CommandWords& words);
  Result<Done> complete_input(const CommandValidation& inputs);
  Result<Budget> budget() const;
  StartRun take_start(CommandContext& world);
  Task<CommandResult> execute(CommandContext& world);
  Task<CommandResult> enqueue(CommandContext& world);

  bool queued_;  // a worker executes the run
  std::vector<RunForm> known_forms_;
  std::string graph_;               // empty: the only graph
  std::vector<std::string> input_;  // name=value, @file, -
  std::vector<std::unique_ptr<FormOptions>> forms_;
  const RunForm* form_ = nullptr;  // set: start with this form, and `form_options_`
  const FormOptions* form_options_ = nullptr;
  std::optional<std::string> thread_;
  std::string key_;                 // empty: none
  std::string if_busy_ = "reject";  // name of a BusyThread
  std::optional<std::string> max_retries_, timeout_ms_, expires_, max_tokens_, max_cost_;
  bool no_approval_ = false;
  std::string queue_ = std::string(default_queue);
  std::int64_t priority_ = 0;
  std::string concurrency_key_;
  std::optional<std::string> after_;
  // Parsed from the texts above.
  std::shared_ptr<const GraphDefinition> definition_;
  Value state_;
  RunSettings settings_;
  std::chrono::milliseconds delay_{};
};

void RunCommand::declare(CommandWords& words) {
  words.argument("AGENT", graph_, "Agent name, as in `agents list`")
      .completes(NamesToComplete::agents);
  words.option("--input", input_, "Input: name=value, @file.json, or -; repeatable");
  declare_options(words);
  for (const RunForm& form : known_forms_) {
    forms_.push_back(form.make());
    FormOptions& options = *forms_.back();
    CommandWords own = words.form(form.name, form.line, [this, &form, &options] {
      form_ = &form;
      form_options_ = &options;
    });
    options.declare(own);
    declare_options(own);
  }
}

void RunCommand::declare_options(CommandWords& words) {
  words.option("--thread", thread_, "Thread of the run (default: a new random one)")
      .completes(NamesToComplete::threads);
  words.option("--key", key_, "Idempotency key: a repeated start with the same key finds its run");
  words
      .option("--if-busy", if_busy_,
              "If a run of the thread has not ended: reject, enqueue, interrupt or rollback")
      .choices({"reject", "enqueue", "interrupt", "rollback"})
      .shows_default();
  words.option("--max-retries", max_retries_, "Maximum attempts of a node that can be retried");
  words.option("--timeout", timeout_ms_, "Maximum working time of the run, in milliseconds");
  words.option("--expires", expires_, "Time until an approval expires: 90s, 30m, 2h, 1d (24h)");
  words.option("--max-tokens", max_tokens_, "Budget: maximum tokens of model calls");
  words.option("--max-cost", max_cost_,
               "Budget: maximum cost, in the unit of the model's prices: 1.50");
  words.flag("--no-approval", no_approval_, "Do not request approvals");
  words.option("--queue", queue_, "Queue of the run").shows_default();
  words.option("--priority", priority_, "Priority: larger numbers run first").shows_default();
  words.option("--concurrency-key", concurrency_key_,
               "Concurrency key: runs with the same key share a limit");
  if (queued_) words.option("--after", after_, "Delay before the start: 90s, 30m, 2h, 1d");
}

Result<Done> RunCommand::validate(const CommandValidation& inputs) {
  if (thread_) BELAY_CHECK(check_thread(*thread_));
  if (!key_.empty()) BELAY_CHECK(check_name("key after --key", key_));
  BELAY_CHECK(complete_input(inputs));
  if (max_retries_) {
    BELAY_TRY(settings_.max_retries, attempts_from("--max-retries", *max_retries_));
  }
  if (timeout_ms_) {
    BELAY_TRY(settings_.timeout, timeout_from("--timeout", *timeout_ms_));
  }
  if (no_approval_) settings_.require_approval = false;
  if (expires_) {
    BELAY_TRY(std::chrono::milliseconds expires, duration_from("--expires", *expires_));
    settings_.approval_expires = expires;
  }
  BELAY_TRY(settings_.budget, budget());
  // The options are complete before a start: a server does not have the caller's settings.
  settings_ = settings_.over(inputs.settings.run);
  if (after_) {
    BELAY_TRY(delay_, duration_from("--after", *after_));
  }
  return Done{};
}

Result<Done> RunCommand::complete_input(const CommandValidation& inputs) {
  if (!form_) {
    BELAY_TRY(definition_, find_graph(inputs.graphs, graph_));
    BELAY_TRY(state_, read_run_input(*definition_, input_));
    return Done{};
  }
  if (!input_.empty() || !graph_.empty()) {
    return error(ErrorCode::invalid, "run " + form_->name +
                                         " has its own options instead of --input. See " +
                                         inputs.settings.call + " run " + form_->name + " --help.");
  }
  BELAY_TRY(definition_, find_graph(inputs.graphs, form_->graph));
  BELAY_TRY(state_, form_options_->input(inputs.settings));
  settings_.configuration = form_options_->configuration(inputs.settings);
  return Done{};
}

Result<Budget> RunCommand::budget() const {
  Budget budget;
  if (max_tokens_) {
    BELAY_TRY(budget.tokens, whole_number("--max-tokens", *max_tokens_, 0, limits::budget_max));
  }
  if (max_cost_) {
    BELAY_TRY(budget.money, money_from("--max-cost", *max_cost_));
  }
  return budget;
}

StartRun RunCommand::take_start(CommandContext& world) {
  StartRun start;
  start.agent = definition_->name;
  start.input = std::move(state_);
  start.user = world.settings.user;
  start.idempotency_key = std::move(key_);
  start.if_busy = busy_thread_named(if_busy_).value_or(BusyThread::reject);
  if (thread_) {
    start.thread = ThreadId(*std::move(thread_));
  } else if (start.idempotency_key.empty()) {
    start.thread = ThreadId(random_uuid(world.random).text());
    start.thread_is_new = true;
  } else if (world.local) {
    start.thread = thread_of_key(start.user, start.idempotency_key);
  }
  start.run = settings_;
  start.queued = queued_;
  start.delay = delay_;
  start.queue = queue_;
  start.priority = priority_;
  start.concurrency_key = concurrency_key_;
  return start;
}

// Returns the run of a named thread before a start; nullopt without one. start() reports any error.
Task<std::optional<RunRow>> run_before(CommandContext& world, ThreadId thread, bool is_named) {
  if (!is_named) co_return std::nullopt;
  auto row = co_await world.service.run_of(world.who, std::move(thread), std::nullopt);
  if (!row.ok()) co_return std::nullopt;
  co_return *std::move(row);
}

Task<CommandResult> RunCommand::execute(CommandContext& world) {
  bool is_named = thread_.has_value();
  StartRun start = take_start(world);
  ThreadId thread = start.thread;
  std::optional<RunRow> earlier = co_await run_before(world, thread, is_named);
  if (!thread.empty()) world.progress.begins(thread);
  std::optional<LiveWords> words(std::in_place, world, thread);
  auto view = co_await world.service.start(world.who, std::move(start));
  bool is_elsewhere = world.local && view.ok() && view->row.status == RunStatus::running;
  if (is_elsewhere) {
    RunView before = *std::move(view);
    view = co_await wait_for_owner(world, std::move(before));
  }
  words.reset();
  if (view.ok()) thread = view->row.thread;
  world.progress.rests(thread);
  if (!view.ok()) co_return std::move(view).error();
  bool is_known = earlier && earlier->run == view->row.run && earlier->seq == view->row.seq;
  // With --quiet, the result is all that a script receives.
  bool is_again = is_known && !world.output.options().quiet;
  is_again ? show_run_again(world, *view) : show_run(world, *view);
  world.output.document(run_document(world.program, *view));
  // As after `enqueue`: the run waits for earlier runs of its thread.
  bool is_enqueued = view->row.status == RunStatus::queued && !has_started(view->row);
  if (is_enqueued) co_return ExitCode::done;
  co_return end_of(world, *view);
}

Task<CommandResult> RunCommand::enqueue(CommandContext& world) {
  StartRun start = take_start(world);
  BELAY_CO_TRY(RunView view, co_await world.service.start(world.who, std::move(start)));
  show_headline(world, view);
  if (!has_started(view.row)) show_hold(world, view);
  if (std::string due = due_text(world, view.row); !due.empty()) world.output.line("  " + due);
  world.output.document(run_document(world.program, view));
  co_return ExitCode::done;
}

constexpr CommandTraits kRunTraits{.creates_store = true, .uses_server_agents = true};

}  // namespace

CommandSpec builtin::run_command(const Program& program) {
  return {.path = {"run"},
          .line = "Run an agent",
          .end = program.run_end.empty() ? kRunHelp : program.run_end,
          .traits = kRunTraits,
          .make = [forms = program.forms] { return std::make_unique<RunCommand>(false, forms); }};
}

CommandSpec builtin::enqueue_command(const Program& program) {
  return {.path = {"enqueue"},
          .line = "Enqueue a run for a worker",
          .end = kEnqueueHelp,
          .traits = kRunTraits,
          .make = [forms = program.forms] { return std::make_unique<RunCommand>(true, forms); }};
}

}  // namespace belay::cli
