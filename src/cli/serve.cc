// `belay serve`: serves HTTP and executes runs.

#include <sys/resource.h>

#include "cli/commands.h"
#include "cli/worker.h"
#include "http/server.h"
#include "server/problem.h"
#include "server/routes.h"

namespace belay::cli {
namespace {

// Time for the responses to requests whose runs were released.
constexpr std::chrono::seconds kAnswerAfterDrain{2};
constexpr std::chrono::milliseconds kAnswerAfterStop{200};
constexpr std::size_t kStartsPerMinuteWithKeys = 10;

// If the store cannot be read now, it cannot be written either.
Task<Result<Done>> readiness_of(Store& store, const bool& is_draining) {
  if (is_draining) co_return error(ErrorCode::unavailable, "It is shutting down.");
  if (!store.accepts_commits()) {
    co_return error(ErrorCode::unavailable,
                    "Its store accepts no more commits from this process. Restart it.");
  }
  Store::Reader reader = [](Snapshot& view) -> Result<Done> {
    BELAY_CHECK(view.queues(default_tenant()));
    return Done{};
  };
  auto found = co_await store.read(std::move(reader));
  if (found.ok()) co_return found;
  co_return error(ErrorCode::unavailable,
                  "Its store cannot be read now. See the log of the server, and run belay doctor.");
}

server::StartLimitOptions start_limits(const CommandContext& world, const Serve& wanted) {
  const StartSettings& set = world.settings.starts;
  std::optional<std::uint64_t> per_minute =
      wanted.starts_per_minute ? wanted.starts_per_minute : set.per_minute;
  server::StartLimitOptions limits;
  limits.per_minute = per_minute.value_or(wanted.keys.empty() ? 0 : kStartsPerMinuteWithKeys);
  limits.at_work_per_address = world.local->concurrency.per_user;
  limits.at_work = wanted.starts_at_work.value_or(set.at_work);
  return limits;
}

server::ApiOptions api_options(CommandContext& world, const Serve& wanted,
                               const bool& is_draining) {
  server::ApiOptions options;
  options.version = BELAY_VERSION;
  options.user = world.settings.user;
  options.keys = wanted.keys;
  options.no_approval_takes = wanted.skips_approval;
  options.starts = start_limits(world, wanted);
  options.trusted_proxies = wanted.trusted_proxies.empty() ? world.settings.starts.trusted_proxies
                                                           : wanted.trusted_proxies;
  options.time_zone = world.settings.time_zone;
  options.extras = world.program.presentation.approval_document;
  options.readiness = [&store = world.local->store, &is_draining] {
    return readiness_of(store, is_draining);
  };
  return options;
}

http::ServerOptions server_options(const Serve& wanted, server::Api& api) {
  http::ServerOptions options;
  options.admit = [&api](http::Request& head) { return api.admit(head); };
  options.address = wanted.address;
  options.port = wanted.port;
  if (wanted.certificate) options.tls = {*wanted.certificate, *wanted.certificate_key};
  // A request that waits for its run can use the whole drain; its response is sent afterwards.
  options.timeouts.drain = wanted.work.drain_timeout + kAnswerAfterDrain;
  options.error_response = [](int status, std::string detail) {
    return server::problem(status, "http", std::move(detail));
  };
  return options;
}

// Raises the limit of open files, and thus of connections, to the maximum that the system allows.
void allow_connections() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &files);
}

std::string url_of(const Serve& wanted, int port) {
  bool is_v6 = wanted.address.find(':') != std::string::npos;
  std::string host = is_v6 ? "[" + wanted.address + "]" : wanted.address;
  return (wanted.certificate ? "https://" : "http://") + host + ":" + std::to_string(port);
}

// Returns when the runtime is drained. While the store cannot be read, tries again every second;
// requests fail with an error meanwhile.
Task<Result<std::size_t>> work_on(CommandContext& world, const Work& wanted,
                                  const bool& is_draining) {
  constexpr std::chrono::seconds between{1};
  while (true) {
    auto count = co_await work_until_drained(world, wanted);
    if (count.ok() || is_draining || !world.local->store.accepts_commits())
      co_return std::move(count);
    world.output.progress(count.error().message);
    co_await sleep_for(between);
    if (is_draining) co_return std::size_t{0};
  }
}

}  // namespace

Task<CommandResult> serve(CommandContext& world, Serve wanted) {
  bool is_draining = false;
  Shutdown shutdown(world, wanted.work.drain_timeout);
  allow_connections();
  server::ApiParts parts{world.service, world.executor,      world.clock,
                         world.random,  world.local->starts, world.local->telemetry};
  server::Api::OwnRoutes own;
  if (world.program.routes) {
    own = [&world](server::ApiContext& served) {
      return world.program.routes(served, world.settings);
    };
  }
  server::Api api(parts, api_options(world, wanted, is_draining), own);
  http::Handler handler = [&api](http::Request request) { return api.answer(std::move(request)); };
  BELAY_CO_TRY(std::unique_ptr<http::Server> server,
               http::Server::listen(*world.local->loop, world.clock, server_options(wanted, api),
                                    std::move(handler)));
  Completion<Done> closed;
  shutdown.when_stopped = [&world, closed] {
    // runtime.stop() has ended the runs that requests waited for: send these responses, but do not
    // wait for the whole drain.
    world.executor.call_after(kAnswerAfterStop, [closed] { closed.complete(Done{}); });
  };
  world.local->when_stopped = [&] {
    // The order matters: the server stops first, so that no request reaches a draining runtime.
    if (!std::exchange(is_draining, true)) server->drain([closed] { closed.complete(Done{}); });
    shutdown.take_signal();
  };
  world.progress.name_threads();
  std::string url = url_of(wanted, server->port());
  world.output.progress(format_message(world.phrases.listening, {{"url", url}}));
  auto count = co_await work_on(world, wanted.work, is_draining);
  if (!count.ok()) co_return std::move(count).error();
  co_await closed;
  world.output.document(Value::object({{"url", url}, {"processed", *count}, {"takenUp", *count}}));
  co_return ExitCode::done;
}

}  // namespace belay::cli
