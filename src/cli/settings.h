#pragma once
// cli/settings.h - Settings: the configuration of a command.
//
// An option overrides an environment variable, which overrides the settings file, which overrides
// the default. Only settings.cc reads the environment.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "belay/http.h"
#include "belay/ids.h"
#include "belay/limits.h"
#include "belay/models.h"
#include "belay/module.h"
#include "belay/queue.h"
#include "belay/storage.h"
#include "belay/telemetry.h"
#include "cli/arguments.h"
#include "cli/localized_text.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/redis_settings.h"

namespace belay::cli {

std::optional<Language> language_from(std::string_view name);

// The variables that Belay reads. An empty variable counts as unset.
struct Environment {
  std::optional<std::string> store, user, model, model_url, language;
  std::optional<std::string> openai_key, anthropic_key, ollama_key, ollama_host;
  std::map<std::string, std::string> own;  // of the program, by key
  std::optional<std::string> max_retries, timeout_ms, require_approval;
  std::optional<std::string> time_zone, metrics_batch_interval, failure_webhook_url;
  std::optional<std::string> data_home, home, locale, no_color, terminal, columns, login;
  std::optional<std::string> key_file, keys, compression, accept_plaintext;
  std::optional<std::string> server, api_key_file, api_key;
  std::optional<std::string> checkpoint_key;  // CHECKPOINT_ENCRYPTION_KEY
  std::optional<std::string> redis, redis_url, redis_prefix, redis_for, redis_ca_file;
  std::optional<std::string> config, config_home;
  std::optional<std::string> runs_per_user, runs_per_key, runs_per_queue;
  std::optional<std::string> starts_per_minute, starts_at_work, trusted_proxies;
  std::optional<std::string> blocking_threads, egress_hosts, egress_networks, egress_ports;
  std::optional<std::string> notify_url, database_url, worker_name;
  std::optional<std::string> log_level, log_format;
  std::optional<std::string> roles, no_approval_takes;
  std::optional<std::string> pause_at_commit, pause_after, model_fails, tell_fenced;
  // The first variable set in the environment from which libpq would read a secret.
  std::optional<std::string> postgres_secret;
  // Origins of the members above, by variable: "file PATH, line 3". If absent, it is the variable.
  std::map<std::string, std::string> origins;
  // The settings file, if it is in the current folder and is not recorded as trusted.
  std::string strange_file;

  // Returns the origin for an error message: the variable, or the file and its line.
  std::string origin(const std::string& name) const {
    auto found = origins.find(name);
    return found == origins.end() ? name : found->second;
  }
};
// Returns DATABASE_URL if it is a PostgreSQL URL: the default if no setting names a store.
std::optional<std::string> database_of(const Environment& environment);
Environment read_environment(const Program& program);

// For tests that kill Belay at a commit: see app.cc.
struct PauseAtCommit {
  std::uint64_t commit = 0;  // 0: never
  bool after = false;        // when it is durable; false: before
};

// Limits on runs that requests start; unset if no setting has a value: see places_of() in app.cc.
struct StartSettings {
  std::optional<std::uint64_t> per_user;    // running runs of a user
  std::optional<std::uint64_t> per_minute;  // starts of a user, and of an address
  std::uint64_t at_work = 1'000;            // running runs started by requests, of all users
  std::vector<std::string> trusted_proxies;
};

struct Settings : ModuleSettings {
  std::string call;            // how the program was called, for the commands that it prints
  std::string store;           // "sqlite:PATH", "memory:" or "postgresql://..."
  bool default_store = false;  // no setting names it: its folder may be created
  bool store_by_flag = false;  // printed commands must repeat the option
  std::string notify_url;      // for LISTEN and NOTIFY; empty: the URL of the store
  std::string worker_name;     // of this process in the store's list; empty: HOST:PID
  std::optional<LogLevel> log_level = LogLevel::info;  // of serve and worker; unset: no log
  LogFormat log_format = LogFormat::text;
  std::string login;                 // the decider if no other name is given
  std::vector<std::string> roles;    // of the decider
  std::string model;                 // empty: the program's own model, or none
  std::set<std::string> own_models;  // further names of models that the program has
  std::vector<std::string> modules;  // loaded on request: see Module::on_request
  ModelSettings models;              // built from the settings of models
  bool keeps_prompts = true;         // the journal contains prompts verbatim
  // Between the flushes of the usage of agents: docs/analytics.md.
  std::int64_t metrics_batch_interval_ms = 10'000;
  std::string failure_webhook_url;  // receives the alert on failures; empty: none; can be secret
  RunSettings run;                  // options of runs that are started: AGENT_...
  std::optional<std::string> no_approval_takes;  // as in the environment; serve checks it
  // The same with its default: "decide", or "run" if the server does not require approvals.
  std::string permission_without_approval() const {
    return no_approval_takes.value_or(run.require_approval.value_or(true) ? "decide" : "run");
  }
  std::optional<std::string> key_file;
  bool key_file_by_flag = false;         // printed commands must repeat the option
  std::optional<std::string> keys;       // used if no file is named
  std::string keys_name = "BELAY_KEYS";  // the variable that contains them
  EncryptionOptions::Compress compression = EncryptionOptions::Compress::with_key;
  bool accept_plaintext = false;
  // The server that has the runs; unset: the store has them.
  std::optional<std::string> server;
  bool server_by_flag = false;  // printed commands must repeat the option
  std::optional<std::string> api_key_file;
  bool api_key_file_by_flag = false;
  std::optional<std::string> api_key;  // BELAY_API_KEY, used if no file is named; never shown
  std::optional<RedisSettings> redis;  // used only with a local store
  PauseAtCommit pause;
  ConcurrencyLimits concurrency{.per_key = 1};
  StartSettings starts;
  std::uint64_t blocking_threads = limits::blocking_threads_default;  // of the blocking pool
  EgressPolicy egress;                                                // of nodes and tools
  std::int64_t model_fails = 0;                                       // for tests: see app.cc
  bool tells_fenced = false;                                          // likewise
};

// Fails with `invalid` if a variable or an option cannot be parsed.
Result<Settings> settings_from(const Program& program, const Environment& environment,
                               const GlobalFlags& flags);

OutputOptions output_options(const Program& program, const Environment& environment, bool json,
                             bool quiet);

// Formats a value for an error message: in quotes, and shortened.
std::string shown_value(std::string_view text);

// Parses comma-separated roles of approvals; `invalid`, naming `what`, for an invalid role.
Result<std::vector<std::string>> roles_from(std::string_view what, std::string_view text);

// Examples: "90s", "30m", "2h", "1d", "500ms"; at most 30 days.
Result<std::chrono::milliseconds> duration_from(std::string_view what, std::string_view text);
// Parse settings of a run: the number of attempts, and the working time in milliseconds.
Result<int> attempts_from(std::string_view what, std::string_view text);
Result<std::chrono::milliseconds> timeout_from(std::string_view what, std::string_view text);
// true, false, 1, 0, yes, no, on, off.
Result<bool> truth_from(std::string_view what, std::string_view text);

}  // namespace belay::cli
