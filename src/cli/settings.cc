// Long on purpose: the only file that reads the environment, for every setting.

#include "cli/settings.h"
#include "cli/egress_settings.h"

#include <pwd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "cli/model_settings.h"
#include "net/egress.h"
#include "server/client_address.h"

namespace belay::cli {
namespace {

constexpr std::int64_t kPauseMax = 1'000'000'000;
constexpr std::int64_t kFailuresMax = 1'000;
constexpr int kWidthMin = 40;
constexpr int kWidthMax = 100;                            // longer lines are hard to read
constexpr std::int64_t kMetricsIntervalMax = 86'400'000;  // a day

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (!value || !*value) return std::nullopt;
  return std::string(value);
}

std::optional<std::string> first_of(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (auto value = variable(name)) return value;
  }
  return std::nullopt;
}

std::optional<std::string> login_name() {
  const passwd* entry = ::getpwuid(::getuid());
  if (entry && entry->pw_name && *entry->pw_name) return std::string(entry->pw_name);
  return first_of({"LOGNAME", "USER"});
}

Result<std::string> default_store(const Program& program, const Environment& environment) {
  std::string file = "/" + program.name + "/" + program.name + ".db";
  // By its specification, a relative XDG_DATA_HOME is invalid and must be ignored.
  if (environment.data_home && environment.data_home->starts_with('/')) {
    return "sqlite:" + *environment.data_home + file;
  }
  if (environment.home) return "sqlite:" + *environment.home + "/.local/share" + file;
  return error(ErrorCode::invalid,
               "Cannot choose a store because HOME is not set. Use --store sqlite:PATH, or set "
               "BELAY_STORE.");
}

// Platforms set DATABASE_URL, also for other kinds of databases, which are ignored here.
bool is_postgres(std::string_view url) {
  return url.starts_with("postgresql://") || url.starts_with("postgres://");
}

// A locale in Spanish is a choice of the person; any other one selects English for lack of another
// language, which that of the notes replaces.
Result<Done> read_language(const Environment& environment, const GlobalFlags& flags,
                           Settings& settings) {
  bool is_spanish = environment.locale && environment.locale->starts_with("es");
  const auto& named = flags.language ? flags.language : environment.language;
  settings.language_by_flag = flags.language.has_value();
  settings.language_named = named || is_spanish;
  settings.language = is_spanish ? Language::es : Language::en;
  if (!named) return Done{};
  if (auto language = language_from(*named)) {
    settings.language = *language;
    return Done{};
  }
  std::string origin = flags.language ? "--language" : environment.origin("BELAY_LANGUAGE");
  return error(ErrorCode::invalid, origin + " is " + shown_value(*named) + ". Set it to en or es.");
}

Result<PauseAtCommit> pause_of(const Environment& environment) {
  PauseAtCommit pause;
  if (!environment.pause_at_commit) return pause;
  BELAY_TRY(std::int64_t commit,
            whole_number("BELAY_TEST_PAUSE_AT_COMMIT", *environment.pause_at_commit, 1, kPauseMax));
  pause.commit = static_cast<std::uint64_t>(commit);
  if (environment.pause_after) {
    BELAY_TRY(pause.after, truth_from("BELAY_TEST_PAUSE_AFTER", *environment.pause_after));
  }
  return pause;
}

Result<EncryptionOptions::Compress> compression_of(const Environment& environment) {
  using Compress = EncryptionOptions::Compress;
  if (!environment.compression || *environment.compression == "with-key") return Compress::with_key;
  if (*environment.compression == "always") return Compress::always;
  if (*environment.compression == "never") return Compress::never;
  return error(ErrorCode::invalid, environment.origin("BELAY_COMPRESSION") + " is " +
                                       shown_value(*environment.compression) +
                                       ". Set it to always, never or with-key.");
}

Result<Done> read_encryption(const Environment& environment, const GlobalFlags& flags,
                             Settings& settings) {
  settings.key_file = flags.key_file ? flags.key_file : environment.key_file;
  settings.key_file_by_flag = flags.key_file.has_value();
  if (!settings.key_file) settings.keys = environment.keys;
  if (!settings.key_file && !settings.keys && environment.checkpoint_key) {
    settings.keys = "checkpoint:" + *environment.checkpoint_key;
    settings.keys_name = "CHECKPOINT_ENCRYPTION_KEY";
  }
  BELAY_TRY(settings.compression, compression_of(environment));
  if (environment.accept_plaintext) {
    BELAY_TRY(settings.accept_plaintext,
              truth_from("BELAY_ACCEPT_PLAIN", *environment.accept_plaintext));
  }
  return Done{};
}

// Precedence of a setting: 3 for an option, 2 for the environment, 1 for the settings file, 0 if
// unset.
int weight_of(bool by_flag, const std::optional<std::string>& value, const char* name,
              const Environment& environment) {
  if (by_flag) return 3;
  if (!value) return 0;
  return environment.origins.contains(name) ? 1 : 2;
}

// Runs are in a store or on a server: the one with the higher precedence is used.
Result<Done> read_server(const Environment& environment, const GlobalFlags& flags,
                         Settings& settings) {
  int server = weight_of(flags.server.has_value(), environment.server, "BELAY_SERVER", environment);
  int store = weight_of(flags.store.has_value(), environment.store, "BELAY_STORE", environment);
  if (server == 0 || server < store) return Done{};
  if (server == store) {
    return error(ErrorCode::invalid, server == 3 ? "--server and --store exclude each other: a "
                                                   "server has its own store. Omit one of them."
                                                 : "BELAY_SERVER and BELAY_STORE exclude each "
                                                   "other. Unset one, or use --server or --store.");
  }
  for (auto [flag, given] : {std::pair("--model", flags.model.has_value()),
                             {"--model-url", flags.model_url.has_value()},
                             {"--redis", flags.redis.has_value()},
                             {"--key-file", flags.key_file.has_value()}}) {
    if (!given) continue;
    return error(
        ErrorCode::invalid,
        std::string(flag) + " cannot be used with a server. Omit it, or pass it to belay serve.");
  }
  settings.server = flags.server ? flags.server : environment.server;
  settings.server_by_flag = flags.server.has_value();
  settings.api_key_file = flags.api_key_file ? flags.api_key_file : environment.api_key_file;
  settings.api_key_file_by_flag = flags.api_key_file.has_value();
  if (!flags.api_key_file && environment.api_key) {
    settings.api_key = environment.api_key;
    settings.api_key_file.reset();
  }
  return Done{};
}

int width_of(const Environment& environment) {
  int width = 80;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) width = size.ws_col;
  if (environment.columns) {
    auto columns = whole_number("COLUMNS", *environment.columns, 1, 10'000);
    if (columns.ok()) width = static_cast<int>(*columns);
  }
  return std::clamp(width, kWidthMin, kWidthMax);
}

bool shows_utf8(const Environment& environment) {
  if (!environment.locale) return true;
  const std::string& locale = *environment.locale;
  for (std::string_view name : {"UTF-8", "utf-8", "UTF8", "utf8"}) {
    if (locale.find(name) != locale.npos) return true;
  }
  return false;
}

// Parses addresses such as "10.0.0.1, 10.0.0.2".
Result<Done> read_proxies(const Environment& environment, Settings& settings) {
  if (!environment.trusted_proxies) return Done{};
  std::string_view rest = *environment.trusted_proxies;
  while (!rest.empty()) {
    std::size_t end = std::min(rest.find(','), rest.size());
    std::string address = server::address_from(rest.substr(0, end));
    if (address.empty()) {
      return error(ErrorCode::invalid, environment.origin("BELAY_TRUSTED_PROXIES") +
                                           " is invalid: expected a list of IP addresses.");
    }
    settings.starts.trusted_proxies.push_back(std::move(address));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return Done{};
}

Result<Done> read_run_settings(const Environment& environment, Settings& settings) {
  if (environment.max_retries) {
    std::string name = environment.origin("AGENT_MAX_RETRIES");
    BELAY_TRY(settings.run.max_retries, attempts_from(name, *environment.max_retries));
  }
  if (environment.timeout_ms) {
    std::string name = environment.origin("AGENT_TIMEOUT_MS");
    BELAY_TRY(settings.run.timeout, timeout_from(name, *environment.timeout_ms));
  }
  if (environment.require_approval) {
    std::string name = environment.origin("AGENT_REQUIRE_APPROVAL");
    BELAY_TRY(settings.run.require_approval, truth_from(name, *environment.require_approval));
  }
  return Done{};
}

Result<Done> read_log(const Environment& environment, Settings& settings) {
  auto refused = [&](const char* variable, const std::string& value, const char* choices) {
    return error(ErrorCode::invalid, environment.origin(variable) + " is " + shown_value(value) +
                                         ": expected " + choices + ".");
  };
  if (environment.log_level) {
    settings.log_level = log_level_named(*environment.log_level);
    bool is_known = settings.log_level || *environment.log_level == "off";
    if (!is_known) {
      return refused("BELAY_LOG_LEVEL", *environment.log_level,
                     "debug, info, warning, error or off");
    }
  }
  if (!environment.log_format) return Done{};
  auto format = log_format_named(*environment.log_format);
  if (!format) return refused("BELAY_LOG_FORMAT", *environment.log_format, "text or json");
  settings.log_format = *format;
  return Done{};
}

Result<Done> read_time_zone(const Environment& environment, Settings& settings) {
  if (!environment.time_zone) {
    settings.time_zone = TimeZone::of_machine();
    return Done{};
  }
  auto zone = TimeZone::named(*environment.time_zone);
  if (!zone) {
    return error(ErrorCode::invalid,
                 environment.origin("BELAY_TIME_ZONE") + " is " +
                     shown_value(*environment.time_zone) +
                     ". Set it to a zone of the IANA database, such as Europe/Madrid or UTC.");
  }
  settings.time_zone = *std::move(zone);
  settings.time_zone_named = true;
  return Done{};
}

Result<Done> read_metrics_interval(const Environment& environment, Settings& settings) {
  if (!environment.metrics_batch_interval) return Done{};
  std::string name = environment.origin("METRICS_BATCH_INTERVAL_MS");
  BELAY_TRY(settings.metrics_batch_interval_ms,
            whole_number(name, *environment.metrics_batch_interval, 1, kMetricsIntervalMax));
  return Done{};
}

Result<Done> read_failure_webhook(const Environment& environment, Settings& settings) {
  if (!environment.failure_webhook_url) return Done{};
  auto target = net::parse_target(*environment.failure_webhook_url);
  if (!target.ok()) {
    return error(ErrorCode::invalid, environment.origin("BELAY_FAILURE_WEBHOOK_URL") +
                                         " is invalid: expected a URL of http or https without "
                                         "user and password.");
  }
  settings.failure_webhook_url = *environment.failure_webhook_url;
  return Done{};
}

Result<Done> read_blocking_threads(const Environment& environment, Settings& settings) {
  if (!environment.blocking_threads) return Done{};
  BELAY_TRY(std::int64_t threads,
            whole_number(environment.origin("BELAY_BLOCKING_THREADS"),
                         *environment.blocking_threads, 1, limits::blocking_threads_max));
  settings.blocking_threads = static_cast<std::uint64_t>(threads);
  return Done{};
}

Result<Done> read_places(const Environment& environment, Settings& settings) {
  auto read = [&](const char* name, const std::optional<std::string>& text, std::uint64_t& limit) {
    constexpr std::int64_t most = 1'000'000;
    if (!text) return Result<Done>(Done{});
    auto number = whole_number(environment.origin(name), *text, 0, most);
    if (!number.ok()) return Result<Done>(std::move(number).error());
    limit = static_cast<std::uint64_t>(*number);
    return Result<Done>(Done{});
  };
  ConcurrencyLimits& places = settings.concurrency;
  BELAY_CHECK(read("BELAY_RUNS_PER_USER", environment.runs_per_user, places.per_user));
  if (environment.runs_per_user) settings.starts.per_user = places.per_user;
  BELAY_CHECK(read("BELAY_RUNS_PER_KEY", environment.runs_per_key, places.per_key));
  std::uint64_t per_minute = 0;
  BELAY_CHECK(read("BELAY_STARTS_PER_MINUTE", environment.starts_per_minute, per_minute));
  if (environment.starts_per_minute) settings.starts.per_minute = per_minute;
  BELAY_CHECK(read("BELAY_STARTS_AT_WORK", environment.starts_at_work, settings.starts.at_work));
  BELAY_CHECK(read_proxies(environment, settings));
  return read("BELAY_RUNS_PER_QUEUE", environment.runs_per_queue, places.per_queue);
}

}  // namespace

std::optional<Language> language_from(std::string_view name) {
  if (name == "en") return Language::en;
  if (name == "es") return Language::es;
  return std::nullopt;
}

std::optional<std::string> database_of(const Environment& environment) {
  if (!environment.database_url || !is_postgres(*environment.database_url)) return std::nullopt;
  return environment.database_url;
}

Environment read_environment(const Program& program) {
  Environment read;
  read.store = variable("BELAY_STORE");
  read.user = variable("BELAY_USER");
  read.model = variable("BELAY_MODEL");
  read.model_url = variable("BELAY_MODEL_URL");
  read.openai_key = variable("OPENAI_API_KEY");
  read.anthropic_key = variable("ANTHROPIC_API_KEY");
  read.ollama_key = variable("OLLAMA_API_KEY");
  read.ollama_host = variable("OLLAMA_HOST");
  read.language = variable("BELAY_LANGUAGE");
  for (const ModuleSetting& setting : program.settings) {
    if (auto value = variable(setting.variable.c_str())) read.own.emplace(setting.key, *value);
  }
  read.max_retries = variable("AGENT_MAX_RETRIES");
  read.timeout_ms = variable("AGENT_TIMEOUT_MS");
  read.require_approval = variable("AGENT_REQUIRE_APPROVAL");
  for (const char* name : {"PGPASSWORD", "PGPASSFILE", "PGSERVICE", "PGSERVICEFILE", "PGSSLKEY"}) {
    if (!read.postgres_secret && variable(name)) read.postgres_secret = name;
  }
  read.time_zone = variable("BELAY_TIME_ZONE");
  read.metrics_batch_interval = variable("METRICS_BATCH_INTERVAL_MS");
  read.failure_webhook_url = variable("BELAY_FAILURE_WEBHOOK_URL");
  read.data_home = variable("XDG_DATA_HOME");
  read.home = variable("HOME");
  read.locale = first_of({"LC_ALL", "LC_MESSAGES", "LC_CTYPE", "LANG"});
  read.no_color = variable("NO_COLOR");
  read.terminal = variable("TERM");
  read.columns = variable("COLUMNS");
  read.login = login_name();
  read.key_file = variable("BELAY_KEY_FILE");
  read.keys = variable("BELAY_KEYS");
  read.checkpoint_key = variable("CHECKPOINT_ENCRYPTION_KEY");
  read.compression = variable("BELAY_COMPRESSION");
  read.accept_plaintext = variable("BELAY_ACCEPT_PLAIN");
  read.server = variable("BELAY_SERVER");
  read.api_key_file = variable("BELAY_API_KEY_FILE");
  read.api_key = variable("BELAY_API_KEY");
  read.redis = variable("BELAY_REDIS");
  read.redis_url = variable("REDIS_URL");
  read.redis_prefix = variable("BELAY_REDIS_PREFIX");
  read.redis_for = variable("BELAY_REDIS_FOR");
  read.redis_ca_file = variable("BELAY_REDIS_CA_FILE");
  read.notify_url = variable("BELAY_NOTIFY_URL");
  read.database_url = variable("DATABASE_URL");
  read.worker_name = variable("BELAY_WORKER_NAME");
  read.log_level = variable("BELAY_LOG_LEVEL");
  read.log_format = variable("BELAY_LOG_FORMAT");
  read.roles = variable("BELAY_ROLES");
  read.no_approval_takes = variable("BELAY_NO_APPROVAL_TAKES");
  read.config = variable("BELAY_CONFIG");
  read.config_home = variable("XDG_CONFIG_HOME");
  read.runs_per_user = variable("BELAY_RUNS_PER_USER");
  read.runs_per_key = variable("BELAY_RUNS_PER_KEY");
  read.runs_per_queue = variable("BELAY_RUNS_PER_QUEUE");
  read.starts_per_minute = variable("BELAY_STARTS_PER_MINUTE");
  read.starts_at_work = variable("BELAY_STARTS_AT_WORK");
  read.blocking_threads = variable("BELAY_BLOCKING_THREADS");
  read.egress_hosts = variable("BELAY_EGRESS_HOSTS");
  read.egress_networks = variable("BELAY_EGRESS_NETWORKS");
  read.egress_ports = variable("BELAY_EGRESS_PORTS");
  read.trusted_proxies = variable("BELAY_TRUSTED_PROXIES");
  read.pause_at_commit = variable("BELAY_TEST_PAUSE_AT_COMMIT");
  read.pause_after = variable("BELAY_TEST_PAUSE_AFTER");
  read.model_fails = variable("BELAY_TEST_MODEL_FAILS");
  read.tell_fenced = variable("BELAY_TEST_TELL_FENCED");
  return read;
}

Result<Settings> settings_from(const Program& program, const Environment& environment,
                               const GlobalFlags& flags) {
  Settings settings;
  settings.call = program.call;
  BELAY_CHECK(read_server(environment, flags, settings));
  if (settings.server) {
    settings.store = "";
  } else if (flags.store || environment.store) {
    settings.store = flags.store ? *flags.store : *environment.store;
  } else if (database_of(environment)) {
    settings.store = *database_of(environment);
  } else {
    BELAY_TRY(settings.store, default_store(program, environment));
    settings.default_store = true;
  }
  settings.store_by_flag = flags.store.has_value();
  settings.notify_url = environment.notify_url.value_or("");
  settings.worker_name = environment.worker_name.value_or("");
  if (environment.worker_name) BELAY_CHECK(check_name("worker name", settings.worker_name));
  BELAY_CHECK(read_log(environment, settings));
  settings.user = UserId(flags.user.value_or(environment.user.value_or("local")));
  BELAY_CHECK(check_name("user", settings.user.text));
  settings.login = environment.login.value_or("local");
  if (environment.roles) {
    BELAY_TRY(settings.roles, roles_from(environment.origin("BELAY_ROLES"), *environment.roles));
  }
  settings.no_approval_takes = environment.no_approval_takes;
  settings.own_models = program.own_models;
  if (!program.brings_model) {
    settings.model = flags.model.value_or(environment.model.value_or(program.default_model));
  }
  BELAY_CHECK(read_language(environment, flags, settings));
  BELAY_CHECK(read_time_zone(environment, settings));
  settings.values = environment.own;
  settings.is_remote = settings.server.has_value();
  BELAY_CHECK(read_metrics_interval(environment, settings));
  BELAY_CHECK(read_failure_webhook(environment, settings));
  BELAY_CHECK(read_blocking_threads(environment, settings));
  BELAY_TRY(settings.egress, egress_from(environment));
  BELAY_CHECK(read_run_settings(environment, settings));
  BELAY_CHECK(read_model_settings(environment, flags, settings));
  BELAY_CHECK(read_encryption(environment, flags, settings));
  BELAY_CHECK(read_places(environment, settings));
  if (!settings.server) {
    BELAY_TRY(settings.redis, redis_settings_from(environment, flags));
  }
  BELAY_TRY(settings.pause, pause_of(environment));
  if (environment.model_fails) {
    BELAY_TRY(settings.model_fails,
              whole_number("BELAY_TEST_MODEL_FAILS", *environment.model_fails, 0, kFailuresMax));
  }
  if (environment.tell_fenced) {
    BELAY_TRY(settings.tells_fenced,
              truth_from("BELAY_TEST_TELL_FENCED", *environment.tell_fenced));
  }
  return settings;
}

OutputOptions output_options(const Program& program, const Environment& environment, bool json,
                             bool quiet) {
  OutputOptions options;
  options.program = program.name;
  options.call = program.call;
  options.json = json;
  options.quiet = quiet;
  bool dumb = environment.terminal && *environment.terminal == "dumb";
  bool colours = !environment.no_color && !dumb;
  options.coloured_result = colours && ::isatty(STDOUT_FILENO);
  options.coloured_progress = colours && ::isatty(STDERR_FILENO);
  options.live = ::isatty(STDERR_FILENO) && !dumb;
  options.live_result = ::isatty(STDOUT_FILENO) && !dumb;
  options.utf8 = shows_utf8(environment);
  options.width = width_of(environment);
  return options;
}

Result<std::vector<std::string>> roles_from(std::string_view what, std::string_view text) {
  std::vector<std::string> roles;
  while (true) {
    std::size_t end = std::min(text.find(','), text.size());
    std::string role(text.substr(0, end));
    BELAY_CHECK(check_name("role of " + std::string(what), role));
    roles.push_back(std::move(role));
    if (end == text.size()) return roles;
    text.remove_prefix(end + 1);
  }
}

}  // namespace belay::cli
