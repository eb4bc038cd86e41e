// The composition root: creates the objects of the process, from top to bottom; the differences
// between programs come from Program.
//
// Long on purpose: all connections between the parts are in this file.
//
// For tests only: BELAY_TEST_PAUSE_AT_COMMIT=N makes the store (SQLite or PostgreSQL) stop
// permanently before its N-th transaction of commits, and write a line about it to stderr; with
// BELAY_TEST_PAUSE_AFTER=1 it stops when that transaction is durable but no caller has been
// notified. A test then kills the process at exactly that point. BELAY_TEST_MODEL_FAILS=N makes the
// first N model calls of the process fail as if the model were unavailable.
// BELAY_TEST_TELL_FENCED=true writes the run of each fenced commit to stderr.

#include "cli/app.h"

#include <unistd.h>

#include <filesystem>

#include "cli/arguments.h"
#include "cli/command_context.h"
#include "cli/command_table.h"
#include "cli/completions.h"
#include "cli/error_hints.h"
#include "cli/fenced_commit_log.h"
#include "cli/key_file.h"
#include "cli/process_context.h"
#include "cli/program_graphs.h"
#include "cli/redis_tier.h"
#include "cli/remote_runs.h"
#include "cli/server_agents.h"
#include "cli/service_telemetry.h"
#include "cli/show.h"
#include "cli/signals.h"
#include "cli/store_diagnostics.h"
#include "cli/trust.h"
#include "cli/work_notifier.h"
#include "cli/worker.h"
#include "http/asio_loop.h"
#include "service/local_service.h"
#include "store/postgres/address.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"
#include "store/sqlite/store_path.h"
#include "usage/recording_store.h"

namespace belay::cli {
namespace {

constexpr std::uint64_t kRunsPerUserWithKeys = 5;
// Maximum delay between a signal and its effect.
constexpr std::chrono::milliseconds kSignalInterval{50};

// For tests only: a model whose first calls fail as if it were unavailable.
class FailingModel final : public Model {
 public:
  FailingModel(std::shared_ptr<Model> model, std::int64_t failures)
      : model_(std::move(model)), failures_(failures) {}

  Task<Result<ModelReply>> generate(ModelRequest request) override {
    if (failures_ > 0) {
      --failures_;
      co_return error(ErrorCode::unavailable, "The model is unavailable, as a test asked for.");
    }
    co_return co_await model_->generate(std::move(request));
  }
  std::string name() const override { return model_->name(); }
  std::optional<ModelPrice> price(const ModelRequest& request) const override {
    return model_->price(request);
  }
  std::int64_t input_tokens_max(const ModelRequest& request) const override {
    return model_->input_tokens_max(request);
  }

 private:
  std::shared_ptr<Model> model_;
  std::int64_t failures_;
};

Result<std::shared_ptr<Model>> make_model(const Program& program, const Settings& settings,
                                          Clock& clock) {
  BELAY_TRY(std::shared_ptr<Model> model, program.model(settings, clock));
  if (settings.model_fails > 0) {
    model = std::make_shared<FailingModel>(std::move(model), settings.model_fails);
  }
  return model;
}

// For tests only: blocks the store's thread permanently, and does not end the process.
std::function<void(std::uint64_t, bool)> pause_at(PauseAtCommit pause) {
  return [pause](std::uint64_t commit, bool after) {
    if (commit != pause.commit || after != pause.after) return;
    write_test_marker("belay-test: paused " + std::string(after ? "after" : "before") + " commit " +
                      std::to_string(commit) + "\n");
    while (true) ::pause();
  };
}

void make_default_folder(const std::string& path) {
  std::error_code failed;  // ignored: opening the store reports it better
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::filesystem::create_directories(folder.parent_path(), failed);
  // The store contains personal texts: only the user may read its folder.
  if (std::filesystem::create_directory(folder, failed)) {
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, failed);
  }
}

// True if the file does not exist, but could be created.
bool is_absent(const std::string& path, bool default_store) {
  std::error_code failed;
  if (path.empty() || path.front() == ':' || std::filesystem::exists(path, failed)) return false;
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return default_store || folder.empty() || std::filesystem::is_directory(folder, failed);
}

// Returns the name of this process in the list of workers. Empty for commands that end on their
// own: the default HOST:PID identifies them better.
std::string name_of_process(const Settings& settings, const Work* work) {
  return work ? work->name.value_or(settings.worker_name) : std::string();
}

// A command that may not create its store gets an empty one in memory if the file does not exist.
Result<std::unique_ptr<Store>> make_store(const Settings& settings, const ChosenCommand& chosen,
                                          Output& output, Clock& clock, Random& random) {
  if (!chosen.traits.uses_store) return open_memory_store(clock, random);
  std::optional<std::string> path = path_of_store(settings.store);
  if (postgres::is_postgres_url(settings.store)) {
    postgres::PostgresStoreOptions options;
    options.session_name = name_of_process(settings, chosen.command->work());
    if (settings.pause.commit > 0) options.at_commit = pause_at(settings.pause);
    return postgres::open_postgres_store(settings.store, clock, random, std::move(options));
  }
  if (!path) return open_store(settings.store, clock, random);
  BELAY_CHECK(sqlite::check_store_name(*path));
  bool absent = is_absent(*path, settings.default_store);
  if (absent && !chosen.traits.creates_store) return open_memory_store(clock, random);
  if (absent && settings.default_store) make_default_folder(*path);
  sqlite::SqliteStoreOptions options;
  if (settings.pause.commit > 0) options.at_commit = pause_at(settings.pause);
  auto store = sqlite::open_sqlite_store(*path, clock, random, std::move(options));
  if (store.ok() && absent) {
    const LocalizedText& phrases = phrases_of(settings.language);
    output.progress(format_message(phrases.created_store, {{"path", *path}}));
  }
  return store;
}

// The principal of all commands. With --server, the server determines it by the API key instead.
Principal local_principal(const Settings& settings) {
  Principal who;
  who.user = settings.user;
  return who;
}

// If there is no server, no process waits for the expiry of approvals: each command processes those
// that are due first.
Task<Result<Done>> apply_due(CommandContext& world) {
  if (!world.local) co_return Done{};
  auto applied = co_await world.local->runtime.process_due(world.who.tenant);
  if (!applied.ok()) co_return std::move(applied).error();
  auto report = [&](std::size_t count, std::string_view text) {
    std::string digits = std::to_string(count);
    if (count > 0) world.output.progress(format_message(text, {{"n", digits}}));
  };
  report(applied->expired_approvals, world.phrases.approvals_expired);
  report(applied->continued_runs, world.phrases.timers_fired);
  co_return Done{};
}

Task<CommandResult> whole_command(CommandContext& world, ChosenCommand& chosen) {
  if (chosen.traits.processes_due) BELAY_CO_CHECK(co_await apply_due(world));
  CommandResult result = co_await chosen.command->run(world);
  if (!result.ok()) co_return with_hint(world, std::move(result).error());
  co_return std::move(result);
}

// Prints the runs that a signal has left unfinished, and the commands to continue them.
void show_stopped(const CommandContext& world) {
  const std::vector<ThreadId>& threads = world.progress.under_way();
  if (threads.empty()) world.output.progress(world.phrases.stopped_idle);
  for (const ThreadId& thread : threads) {
    // A run of a server continues there, even if no client waits for it.
    std::string how = command(world, {world.local ? "resume" : "state", thread.text});
    std::string_view said = world.local ? world.phrases.stopped : world.phrases.continues_on_server;
    world.output.progress(format_message(said, {{"thread", thread.text}, {"command", how}}));
  }
}

// Runs the loop until the coroutine ends or a signal arrives.
class Interruptible {
 public:
  // If set, `drain` is called for each signal, and makes the coroutine end.
  Interruptible(EventLoop& loop, std::function<void()> drain)
      : loop_(loop), drain_(std::move(drain)) {}

  // Returns the result; nullopt if `signal()` arrived first and there is no `drain`.
  std::optional<CommandResult> run(Task<CommandResult> task) {
    std::optional<CommandResult> answer;
    Spawned running;
    loop_.post([&] {
      watch();
      running = spawn<CommandResult>(loop_, std::move(task), [&](CommandResult value) {
        answer.emplace(std::move(value));
        loop_.stop();
      });
    });
    loop_.run();
    // Cancels the coroutine if it has not ended. Must happen on the loop's thread, before the
    // objects that the coroutine uses are destroyed.
    running.reset();
    loop_.cancel(timer_);
    return answer;
  }
  int signal() const { return signal_; }

 private:
  void watch() {
    if (auto signal = take_signal()) {
      signal_ = *signal;
      if (!drain_) {
        end_at_next_signal();
        return loop_.stop();
      }
      drain_();
    }
    timer_ = loop_.call_after(kSignalInterval, [this] { watch(); });
  }

  EventLoop& loop_;
  std::function<void()> drain_;
  Executor::TimerId timer_ = 0;
  int signal_ = 0;
};

ConcurrencyLimits places_of(const Settings& settings, const Work* work) {
  ConcurrencyLimits places = settings.concurrency;
  if (!work) return places;
  bool is_shared = work->has_several_users && !settings.starts.per_user;
  if (is_shared) places.per_user = kRunsPerUserWithKeys;
  places.per_user = work->per_user.value_or(places.per_user);
  places.per_key = work->per_key.value_or(places.per_key);
  places.per_queue = work->per_queue.value_or(places.per_queue);
  return places;
}

// Sets `http_loop` to the created loop if the command serves HTTP.
std::unique_ptr<EventLoop> loop_for(const CommandTraits& traits, const Settings& settings,
                                    http::AsioLoop*& http_loop) {
  if (!traits.serves_http) return make_event_loop(settings.blocking_threads);
  auto made = http::make_asio_loop(settings.blocking_threads);
  http_loop = made.get();
  return made;
}

void take_settings(const Settings& settings, const ChosenCommand& chosen, RuntimeParts& parts) {
  parts.http = settings.http;
  if (!settings.keeps_prompts) {
    parts.redact_prompt = [](const ModelRequest&, Value) { return Value(); };
  }
  parts.concurrency = places_of(settings, chosen.command->work());
  parts.concurrency_limits_starts = chosen.traits.serves_http;
  parts.run_defaults = settings.run;
}

// The settings with the objects of the process that models and modules use. `tier` must outlive
// them.
Result<Settings> with_shared_objects(Settings settings, const ChosenCommand& chosen,
                                     RedisTier& tier) {
  settings.is_service = chosen.traits.is_service;
  if (const Work* work = chosen.command->work()) settings.modules = work->modules;
  settings.models.shared_rate_limit = tier.limit();
  settings.models.shared_reply_cache = tier.replies();
  settings.texts = tier.texts();
  BELAY_TRY(settings.http, open_http(settings.egress));
  return settings;
}

// A command without a store uses no Redis.
Result<std::unique_ptr<RedisTier>> open_tier(Settings settings, const CommandTraits& traits,
                                             const KeyRing& keys, Executor& executor,
                                             Random& random) {
  if (!traits.uses_store) settings.redis.reset();
  // With a store in memory, a cache of run values in Redis would be slower than the store, and no
  // other process has the store.
  if (settings.redis && settings.store == "memory:") settings.redis->checkpoints = false;
  return RedisTier::open(settings, keys, executor, random);
}

std::vector<std::string> collection_names(const std::vector<RecordCollection>& collections) {
  std::vector<std::string> names;
  for (const RecordCollection& each : collections) names.push_back(each.name);
  return names;
}

Result<ExitCode> run_in_world(const Program& program, const Settings& wanted, Output& output,
                              Clock& own_clock, ChosenCommand& chosen) {
  const CommandTraits& traits = chosen.traits;
  const LocalizedText& phrases = phrases_of(wanted.language);
  Progress progress(output, phrases);
  std::unique_ptr<Random> random = system_random();
  BELAY_TRY(EncryptionOptions encryption, encryption_of(wanted));
  http::AsioLoop* http_loop = nullptr;
  std::unique_ptr<EventLoop> loop = loop_for(traits, wanted, http_loop);
  // Before the graphs and everything else that modules make: these can use its cache of texts.
  BELAY_TRY(std::unique_ptr<RedisTier> tier,
            open_tier(wanted, traits, encryption.keys, *loop, *random));
  BELAY_TRY(const Settings settings, with_shared_objects(wanted, chosen, *tier));
  BELAY_TRY(const Definitions declared, program.graphs(settings));
  BELAY_CHECK(chosen.command->validate({settings, declared}));
  ServiceTelemetry telemetry(settings, own_clock, output, traits.is_service);
  BELAY_TRY(std::shared_ptr<Model> model, make_model(program, settings, own_clock));
  const Definitions graphs = with_model(declared, *model);
  model = telemetry.around(std::move(model), own_clock);
  BELAY_TRY(std::unique_ptr<Store> stored,
            make_store(settings, chosen, output, own_clock, *random));
  // All processes, on all machines, use one clock to determine which runs are due.
  Clock& clock = stored->clock() ? *stored->clock() : own_clock;
  // The cache is below the encryption: Redis receives encrypted values only.
  std::unique_ptr<Store> fast = tier->around(*stored);
  std::unique_ptr<Store> store = make_encrypted_store(*fast, *random, encryption);
  FencedCommitLog told(*store);
  Store& committed = settings.tells_fenced ? static_cast<Store&>(told) : *store;
  BELAY_TRY(Store * observed, telemetry.around(committed, clock, *loop, *random));
  std::unique_ptr<Store> recording = usage::make_recording_store(*observed);
  Store& used = *recording;
  ProgressObserver observer =
      telemetry.unless_logged([&progress](const ProgressEvent& e) { progress.on_progress(e); });
  RuntimeParts parts{used, *loop, clock, *random, *model, std::move(observer)};
  auto held = telemetry.watch_loop(parts);
  take_settings(settings, chosen, parts);
  parts.hints = tier->hints();
  std::unique_ptr<WorkNotifier> wake_up;
  if (traits.uses_store) {
    BELAY_TRY(wake_up, make_work_notifier(settings, parts.hints.work_notifier));
  }
  if (wake_up) parts.hints.work_notifier = wake_up.get();
  BELAY_TRY(std::unique_ptr<Runtime> runtime, Runtime::open(std::move(parts)));
  for (const auto& graph : graphs) runtime->add(graph);
  LocalContext local{used, *stored, encryption, *runtime, http_loop};
  local.concurrency = places_of(settings, chosen.command->work());
  local.starts = tier->limit();
  local.telemetry = telemetry.parts();
  local.when_stopped = [&loop] { loop->stop(); };
  LocalServiceParts service_parts{used,   *stored,    *runtime,
                                  *loop,  clock,      *random,
                                  graphs, encryption, collection_names(program.collections)};
  // The clients of a server have other options.
  service_parts.call = settings.call + (traits.is_service ? "" : flags_text(settings));
  service_parts.check_record = program.check_record;
  service_parts.concurrency = local.concurrency;
  service_parts.works = traits.is_service;
  local.process_of = [&settings](const SessionId& session) {
    return process_of(settings.store, session);
  };
  service_parts.process_of = local.process_of;
  std::unique_ptr<Service> service = make_local_service(std::move(service_parts));
  const Principal who = local_principal(settings);
  CommandContext world{program, graphs, settings, phrases,  output, progress,
                       *loop,   clock,  *random,  *service, who,    &local};
  std::function<void()> drain;
  if (traits.is_service) drain = [&local] { local.when_stopped(); };
  Interruptible interruptible(*loop, std::move(drain));
  std::optional<CommandResult> answer = interruptible.run(whole_command(world, chosen));
  if (answer) return *std::move(answer);
  // If the store waits for an unavailable server, it fails within seconds from here on: the
  // destructors below must not delay the end of the process.
  store->set_shutting_down(true);
  show_stopped(world);
  // A signal that arrives before the worker has claimed a run is a normal end of it.
  if (traits.is_service) return ExitCode::done;
  return static_cast<ExitCode>(128 + interruptible.signal());
}

struct RemoteCommand {
  const Program& program;
  const Settings& settings;
  Output& output;
  Progress& progress;
  Clock& clock;
  Random& random;
  EventLoop& loop;
  RemoteRuns& runs;
};

// Returns the graphs that the command uses.
Task<Result<Definitions>> remote_graphs(Service& service, const Principal& who,
                                        const Definitions& own, const CommandTraits& traits) {
  if (!traits.uses_server_agents) co_return own;
  BELAY_CO_TRY(AgentDocuments documents, co_await service.agents(who));
  co_return definitions_of(*documents, own);
}

Task<CommandResult> remote_command(const RemoteCommand& command, const Definitions& own,
                                   ChosenCommand& chosen) {
  Principal who = local_principal(command.settings);
  BELAY_CO_TRY(Definitions graphs,
               co_await remote_graphs(command.runs.service(), who, own, chosen.traits));
  BELAY_CO_CHECK(chosen.command->validate({command.settings, graphs}));
  CommandContext world{command.program,  graphs,
                       command.settings, phrases_of(command.settings.language),
                       command.output,   command.progress,
                       command.loop,     command.clock,
                       command.random,   command.runs.service(),
                       std::move(who),   nullptr,
                       &command.runs};
  co_return co_await whole_command(world, chosen);
}

// For --server: opens no store and no model.
Result<ExitCode> run_with_server(const Program& program, const Settings& settings, Output& output,
                                 Clock& clock, ChosenCommand& chosen) {
  if (std::string_view needs = chosen.traits.needs_own_store; !needs.empty()) {
    return error(ErrorCode::invalid,
                 settings.call + " " + std::string(needs) +
                     " a separate store, but the runs are on a server. Omit --server and unset "
                     "BELAY_SERVER, or run the command on the server.");
  }
  BELAY_TRY(Definitions own, program.graphs(settings));
  Progress progress(output, phrases_of(settings.language));
  std::unique_ptr<Random> random = system_random();
  std::unique_ptr<EventLoop> loop = make_event_loop();
  ProgressObserver observer = [&progress](const ProgressEvent& e) { progress.on_progress(e); };
  BELAY_TRY(std::unique_ptr<RemoteRuns> runs,
            RemoteRuns::open(settings, *loop, *random, std::move(observer)));
  RemoteCommand parts{program, settings, output, progress, clock, *random, *loop, *runs};
  Interruptible interruptible(*loop, nullptr);
  std::optional<CommandResult> answer = interruptible.run(remote_command(parts, own, chosen));
  if (answer) return *std::move(answer);
  const Principal who = local_principal(settings);
  CommandContext world{program,  own,
                       settings, phrases_of(settings.language),
                       output,   progress,
                       *loop,    clock,
                       *random,  runs->service(),
                       who,      nullptr};
  show_stopped(world);
  return static_cast<ExitCode>(128 + interruptible.signal());
}

// Prints the servers that will receive the user's input, before any is sent.
void show_places(const std::vector<StrangePlace>& places, Output& output) {
  for (const StrangePlace& place : places) {
    output.progress("Note: only " + place.origin + " names " + place.address + "; " +
                    place.receives + " go there.");
  }
}

// Executes a command whose settings have been read.
Result<ExitCode> run_command(const ProcessContext& context, ChosenCommand& chosen) {
  const Settings& settings = context.settings;
  ProcessCommand* process = chosen.command->in_process();
  if (process && chosen.traits.is_about_settings) return process->run_in_process(context);
  BELAY_CHECK(check_places(context.places, context.program.call));
  BELAY_CHECK(check_access(context.program, context.environment));
  if (chosen.traits.uses_named_servers) show_places(context.places, context.output);
  bool is_of_the_server = settings.server && (!process || chosen.traits.asks_server);
  if (is_of_the_server) {
    return run_with_server(context.program, settings, context.output, context.clock, chosen);
  }
  if (process) return process->run_in_process(context);
  return run_in_world(context.program, settings, context.output, context.clock, chosen);
}

// Answers the shell when the user presses Tab. Errors are ignored: there is nothing to offer then.
int complete_typed(const Program& program, const Environment& environment, Clock& clock,
                   const std::vector<std::string>& words) {
  limit_completion();
  Completion found = complete_words(command_table(program), words);
  OutputOptions options = output_options(program, environment, false, true);
  Output candidates(options);
  for (const std::string& word : found.candidates) candidates.text(word + "\n");
  candidates.finish(ExitCode::done);
  if (!found.names) return 0;
  Output names(options);
  auto file = read_config(program, environment, found.flags);
  if (!file.ok()) return 0;
  Environment merged = environment;
  if (*file) add_config(program, **file, merged);
  auto settings = settings_from(program, merged, found.flags);
  // Pressing Tab is not consent to contact an untrusted server.
  if (!settings.ok() || !strange_places(merged, found.flags, *settings).empty()) return 0;
  if (!check_access(program, merged).ok()) return 0;
  ChosenCommand chosen = complete_names(*found.names, found.begun);
  auto code = settings->server ? run_with_server(program, *settings, names, clock, chosen)
                               : run_in_world(program, *settings, names, clock, chosen);
  if (code.ok()) names.finish(*code);
  return 0;
}

}  // namespace

int run_program(const Program& program, int count, const char* const* words) {
  catch_signals();
  std::shared_ptr<Clock> clock = program.clock;
  if (!clock) clock = system_clock();
  Environment environment = read_environment(program);
  if (count > 1 && std::string_view(words[1]) == "__complete") {
    return complete_typed(program, environment, *clock, {words + 2, words + count});
  }
  Output early(output_options(program, environment, wants_json(count, words), false));
  auto end = [](Output& output, ExitCode code) { return static_cast<int>(output.finish(code)); };
  auto fail = [&end](Output& output, const Error& failed) {
    output.fail(failed);
    return end(output, exit_code_of(failed.code));
  };

  auto parsed = parse_arguments(program, count, words);
  if (!parsed.ok()) return fail(early, parsed.error());
  if (const auto* text = std::get_if<std::string>(&*parsed)) {
    early.text(*text);
    return end(early, ExitCode::done);
  }
  Arguments arguments = std::get<Arguments>(*std::move(parsed));
  Output output(output_options(program, environment, arguments.flags.json, arguments.flags.quiet));
  auto file = read_config(program, environment, arguments.flags);
  if (!file.ok()) return fail(output, file.error());
  Environment merged = environment;
  if (*file) add_config(program, **file, merged);
  auto settings = settings_from(program, merged, arguments.flags);
  if (!settings.ok()) return fail(output, settings.error());
  std::vector<StrangePlace> places = strange_places(merged, arguments.flags, *settings);
  ProcessContext context{program,     *settings, output, *clock, arguments.flags,
                         environment, merged,    *file,  places};
  auto code = run_command(context, arguments.chosen);
  if (!code.ok()) return fail(output, code.error());
  return end(output, *code);
}

}  // namespace belay::cli
