// `belay serve`: serves HTTP and executes runs.

#include <sys/resource.h>

#include "base/start_memory.h"
#include "belay/command.h"
#include "cli/api_keys.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/served_routes.h"
#include "cli/worker.h"
#include "http/server.h"
#include "server/api.h"
#include "server/client_address.h"
#include "server/cors.h"
#include "server/module_routes.h"
#include "server/problem.h"
#include "server/routes.h"

namespace belay::cli {
namespace {

constexpr const char* kServeHelp =
    R"(Serves the HTTP API (docs/api.md; GET /openapi.json describes it), and executes queued and
orphaned runs, as {p} worker does. Without keys it listens on this machine only. A file of keys has
one "NAME PERMISSION TOKEN" per line, or "NAME PERMISSION TOKEN ROLE,ROLE"; PERMISSION is read, run,
decide or administer, and each one includes those before it. A key can read its own user's runs and
records; with decide also the approvals of other users, with administer everything. SIGTERM and
Ctrl-C: the server claims nothing more, completes requests and releases its runs.
With keys, a user or an address can start 10 runs per minute and have 5 in progress; without keys
there is no limit unless one is set.

Examples:
  {p} serve
  {p} serve --listen 0.0.0.0:8123 --api-keys keys.txt --tls-certificate c.pem --tls-key k.pem
  curl -d '{"input":{"topic":"the outage"}}' -H content-type:application/json \
    http://127.0.0.1:8123/api/agents/NAME/runs
)";

// Time for the responses to requests whose runs were released.
constexpr std::chrono::seconds kAnswerAfterDrain{2};
constexpr std::chrono::milliseconds kAnswerAfterStop{200};
constexpr std::size_t kStartsPerMinuteWithKeys = 10;
// Time until all that the server does while it is idle has happened once.
constexpr std::chrono::seconds kStartTakes{5};

struct ServeOptions {
  std::string listen_text = "127.0.0.1:8123";
  Work work = {};                       // the runs it executes while it serves
  std::optional<std::string> api_keys;  // name of a file
  std::optional<std::string> certificate, certificate_key;
  // Override the limits of the settings; 0: unlimited.
  std::optional<std::uint64_t> starts_per_minute, starts_at_work;
  std::vector<std::string> trusted_proxies;
  std::optional<std::string> no_approval_takes;
  std::vector<std::string> cors_origins;
  // Parsed from the texts above.
  std::string address;
  int port = 0;
  std::vector<server::ApiKey> keys;
  std::optional<Permission> skips_approval;  // unset: no key may
};

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

server::StartLimitOptions start_limits(const CommandContext& world, const ServeOptions& wanted) {
  const StartSettings& set = world.settings.starts;
  std::optional<std::uint64_t> per_minute =
      wanted.starts_per_minute ? wanted.starts_per_minute : set.per_minute;
  server::StartLimitOptions limits;
  limits.per_minute = per_minute.value_or(wanted.keys.empty() ? 0 : kStartsPerMinuteWithKeys);
  limits.at_work_per_address = world.local->concurrency.per_user;
  limits.at_work = wanted.starts_at_work.value_or(set.at_work);
  return limits;
}

server::ApiOptions api_options(CommandContext& world, const ServeOptions& wanted,
                               const bool& is_draining) {
  server::ApiOptions options;
  options.version = BELAY_VERSION;
  options.user = world.settings.user;
  options.keys = wanted.keys;
  options.no_approval_takes = wanted.skips_approval;
  options.starts = start_limits(world, wanted);
  options.trusted_proxies = wanted.trusted_proxies.empty() ? world.settings.starts.trusted_proxies
                                                           : wanted.trusted_proxies;
  options.cors_origins = wanted.cors_origins;
  options.time_zone = world.settings.time_zone;
  options.extras = world.program.presentation.approval_document;
  options.schemas = world.program.presentation.schemas;
  options.types = types_of(world.program, world.graphs);
  options.readiness = [&store = world.local->store, &is_draining] {
    return readiness_of(store, is_draining);
  };
  return options;
}

http::ServerOptions server_options(const ServeOptions& wanted, server::Api& api) {
  http::ServerOptions options;
  options.admit = [&api](http::Request& head) { return api.admit(head); };
  options.address = wanted.address;
  options.port = wanted.port;
  options.liveness_path = "/healthz";
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

std::string url_of(const ServeOptions& wanted, int port) {
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

// Returns the permission that may start runs without approval; nullopt for "never".
Result<std::optional<Permission>> skipping_permission(const Settings& settings,
                                                      const std::optional<std::string>& flag) {
  std::string named = flag.value_or(settings.permission_without_approval());
  if (named == "never") return std::optional<Permission>();
  for (Permission each : {Permission::run, Permission::decide, Permission::administer}) {
    if (name_of(each) == named) return std::optional(each);
  }
  return error(ErrorCode::invalid, "Invalid --no-approval-takes \"" + shortened(named, 40, "...") +
                                       "\": expected run, decide, administer or never.");
}

// Sets the address and the port. Examples: "127.0.0.1:8123", "[::1]:8123", or ":8123" for this
// machine only.
Result<Done> read_listen(ServeOptions& options) {
  constexpr std::int64_t port_max = 65'535;
  const std::string& text = options.listen_text;
  std::size_t colon = text.rfind(':');
  if (colon == text.npos) {
    return error(ErrorCode::invalid,
                 "--listen is invalid: expected ADDRESS:PORT, such as 127.0.0.1:8123.");
  }
  options.address = text.substr(0, colon);
  if (options.address.starts_with('[') && options.address.ends_with(']')) {
    options.address = options.address.substr(1, options.address.size() - 2);
  }
  if (options.address.empty() || options.address == "localhost") options.address = "127.0.0.1";
  BELAY_TRY(std::int64_t port,
            whole_number("the port of --listen", text.substr(colon + 1), 0, port_max));
  options.port = static_cast<int>(port);
  return Done{};
}

class ServeCommand final : public Command {
 public:
  // `on_request`: the modules that --graphs can name.
  explicit ServeCommand(std::vector<std::string> on_request) : on_request_(std::move(on_request)) {}

  void declare(CommandWords& words) override;
  Result<Done> validate(const CommandValidation& inputs) override;
  const Work* work() const override { return &options_.work; }

  Task<CommandResult> run(CommandContext& world) override {
    BELAY_CO_CHECK(register_receivers(world));
    bool is_draining = false;
    Shutdown shutdown(world, options_.work.drain_timeout);
    allow_connections();
    server::ApiParts parts{world.service, world.executor,      world.clock,
                           world.random,  world.local->starts, world.local->telemetry};
    ServedOptions served{.has_tls = options_.certificate.has_value()};
    server::Api api(parts, api_options(world, options_, is_draining),
                    served_routes(world.program, world.settings, served));
    BELAY_CO_CHECK(server::check_routes(api.routes()));
    http::Handler handler = [&api](http::Request request) {
      return api.answer(std::move(request));
    };
    BELAY_CO_TRY(std::unique_ptr<http::Server> server,
                 http::Server::listen(*world.local->loop, world.clock,
                                      server_options(options_, api), std::move(handler)));
    Completion<Done> closed;
    shutdown.when_stopped = [&world, closed] {
      // runtime.stop() has ended the runs that requests waited for: send these responses, but do
      // not wait for the whole drain.
      world.executor.call_after(kAnswerAfterStop, [closed] { closed.complete(Done{}); });
    };
    world.local->when_stopped = [&] {
      // The order matters: the server stops first, so that no request reaches a draining runtime.
      if (!std::exchange(is_draining, true)) server->drain([closed] { closed.complete(Done{}); });
      shutdown.take_signal();
    };
    world.progress.name_threads();
    std::string url = url_of(options_, server->port());
    world.output.progress(format_message(world.phrases.listening, {{"url", url}}));
    auto start_end = world.executor.call_after(kStartTakes, &release_start_memory);
    auto count = co_await work_on(world, options_.work, is_draining);
    world.executor.cancel(start_end);
    if (!count.ok()) co_return std::move(count).error();
    api.end_waits();
    co_await closed;
    world.output.document(
        Value::object({{"url", url}, {"processed", *count}, {"takenUp", *count}}));
    co_return ExitCode::done;
  }

 private:
  ServeOptions options_;
  std::vector<std::string> on_request_;
};

void ServeCommand::declare(CommandWords& words) {
  Work& work = options_.work;
  words.option("--listen", options_.listen_text, "ADDRESS:PORT; port 0 selects a free one")
      .shows_default();
  words.option("--max-runs", work.runs_max, "Maximum concurrent runs of the queues")
      .range(1, 10'000)
      .shows_default()
      .former_name("--runs");
  declare_name_of_worker(words, work);
  declare_drain_timeout(words, work);
  declare_retention(words, work);
  words.option("--api-keys", options_.api_keys, "File of API keys and their permissions");
  words.option("--tls-certificate", options_.certificate,
               "PEM file of the TLS certificate, with its chain");
  words.option("--tls-key", options_.certificate_key, "PEM file of the private key");
  words.option("--per-user", work.per_user,
               "Maximum concurrent runs of a user; 0: unlimited [5 with --api-keys, else 0]");
  words.option("--starts-per-minute", options_.starts_per_minute,
               "Maximum starts per minute of a user or address; 0: unlimited [10 with --api-keys, "
               "else 0]");
  words.option("--starts-at-work", options_.starts_at_work,
               "Maximum concurrent runs started by requests, of all users; 0: unlimited [1000]");
  words.option("--trusted-proxy", options_.trusted_proxies,
               "Address whose X-Forwarded-For is trusted; repeatable");
  words.option("--no-approval-takes", options_.no_approval_takes,
               "Permission to start runs without approval: run, decide, administer or never "
               "(default: decide)");
  words.option("--cors-origin", options_.cors_origins,
               "Origin whose pages can call the API, such as https://chat.example.com; repeatable; "
               "'*': any");
  if (on_request_.empty()) return;
  words.option("--graphs", work.modules, "Module whose graphs are served as well; repeatable")
      .choices(on_request_);
}

Result<Done> ServeCommand::validate(const CommandValidation& inputs) {
  BELAY_CHECK(read_listen(options_));
  BELAY_TRY(options_.keys, api_keys_for(options_.api_keys, options_.address));
  options_.work.has_several_users = !options_.keys.empty();
  for (std::string& proxy : options_.trusted_proxies) {
    std::string read = server::address_from(proxy);
    if (read.empty())
      return error(ErrorCode::invalid, "--trusted-proxy is invalid: expected an IP address.");
    proxy = std::move(read);
  }
  if (options_.certificate.has_value() != options_.certificate_key.has_value()) {
    return error(ErrorCode::invalid, "--tls-certificate and --tls-key require each other.");
  }
  BELAY_CHECK(server::check_origins(options_.cors_origins));
  BELAY_TRY(options_.skips_approval,
            skipping_permission(inputs.settings, options_.no_approval_takes));
  return complete_work(options_.work);
}

}  // namespace

CommandSpec builtin::serve_command(const Program& program) {
  return {.path = {"serve"},
          .line = "Serve the HTTP API and execute runs",
          .end = kServeHelp,
          .traits = {.needs_own_store = "serve opens",
                     .creates_store = true,
                     .is_service = true,
                     .serves_http = true},
          .make = [on_request = program.on_request] {
            return std::make_unique<ServeCommand>(on_request);
          }};
}

}  // namespace belay::cli
