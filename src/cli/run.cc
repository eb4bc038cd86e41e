// belay run: begins a run of an agent, or goes on with the one of that thread. It never decides.

#include "agents/wellbeing/daily_auditor.h"
#include "agents/wellbeing/routine_generator.h"
#include "cli/documents.h"
#include "cli/find_run.h"
#include "cli/show.h"
#include "cli/verbs.h"

namespace belay::cli {
namespace {

constexpr std::int64_t kAttemptsMax = 20;
constexpr std::int64_t kTimeoutMax = 86'400'000;  // a day

Result<StartOptions> start_options(World& world, const RunAgent& wanted) {
  const Settings& settings = world.settings;
  StartOptions options;
  options.tenant = tenant_of(world);
  options.user = settings.user;
  options.thread = ThreadId(wanted.thread.value_or(random_uuid(world.random).text()));
  BELAY_CHECK(check_name("thread id", options.thread.text));
  if (auto text = wanted.max_retries ? wanted.max_retries : settings.max_retries) {
    std::string_view what = wanted.max_retries ? "--max-retries" : "AGENT_MAX_RETRIES";
    BELAY_TRY(std::int64_t attempts, whole_number(what, *text, 1, kAttemptsMax));
    options.run.max_retries = static_cast<int>(attempts);
  }
  if (auto text = wanted.timeout_ms ? wanted.timeout_ms : settings.timeout_ms) {
    std::string_view what = wanted.timeout_ms ? "--timeout" : "AGENT_TIMEOUT_MS";
    BELAY_TRY(std::int64_t timeout, whole_number(what, *text, 1, kTimeoutMax));
    options.run.timeout = std::chrono::milliseconds(timeout);
  }
  if (wanted.no_approval) {
    options.run.require_approval = false;
  } else if (settings.require_approval) {
    BELAY_TRY(options.run.require_approval,
              truth_from("AGENT_REQUIRE_APPROVAL", *settings.require_approval));
  }
  if (wanted.expires) {
    BELAY_TRY(std::chrono::milliseconds expires, duration_from("--expires", *wanted.expires));
    options.run.approval_expires = expires;
  }
  return options;
}

// What the run's texts are to be written in; empty: as the notes are.
Result<std::string> language_for(const World& world, const RunAgent& wanted) {
  if (!wanted.language) {
    return world.settings.language_named ? std::string(name_of(world.settings.language))
                                         : std::string();
  }
  if (language_from(*wanted.language)) return *wanted.language;
  return error(ErrorCode::invalid,
               "--language is \"" + shortened(*wanted.language, 20, "...") + "\"; give en or es.");
}

Task<Result<RunView>> start(World& world, const RunAgent& wanted, std::string language,
                            StartOptions options) {
  if (wanted.agent == "daily-audit") {
    wellbeing::Audit audit;
    audit.date = wanted.date;
    audit.language = std::move(language);
    co_return co_await world.runtime.start(world.agents.daily_auditor, std::move(audit),
                                           std::move(options));
  }
  wellbeing::RoutineState routine;
  routine.date = wanted.date;
  routine.language = std::move(language);
  co_return co_await world.runtime.start(world.agents.routine_generator, std::move(routine),
                                         std::move(options));
}

}  // namespace

Task<Answered> run_agent(World& world, RunAgent wanted) {
  if (!is_date(wanted.date)) {
    co_return error(ErrorCode::invalid, "\"" + shortened(wanted.date, 40, "...") +
                                            "\" is no day of the calendar; write YYYY-MM-DD.");
  }
  BELAY_CO_TRY(std::string language, language_for(world, wanted));
  BELAY_CO_TRY(StartOptions options, start_options(world, wanted));
  ThreadId thread = options.thread;
  world.progress.begins(thread);
  auto view = co_await start(world, wanted, std::move(language), std::move(options));
  world.progress.rests(thread);
  if (!view.ok()) {
    co_return co_await with_owner(world, std::move(thread), std::move(view).error());
  }
  show_run(world, *view);
  world.output.document(run_document(*view));
  co_return exit_code_of(view->row.status);
}

}  // namespace belay::cli
