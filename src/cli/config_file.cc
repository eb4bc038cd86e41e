#include "cli/config_file.h"

#include <yaml-cpp/yaml.h>

#include <filesystem>

#include "belay/command.h"
#include "cli/egress_settings.h"
#include "cli/store_name.h"
#include "cli/suggestions.h"
#include "cli/trust.h"

namespace belay::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kConfigBytesMax = std::size_t{64} * 1024;

using Slot = std::optional<std::string> Environment::*;
using FlagSlot = std::optional<std::string> GlobalFlags::*;

// The settings of every program; the program's own settings follow them.
struct Known {
  const char* key;
  const char* variable;
  Slot slot;
  const char* flag;        // null: no option
  FlagSlot flag_slot;      // of that flag
  bool is_access = false;  // see ModuleSetting
};
const Known kKnown[] = {
    {"store", "BELAY_STORE", &Environment::store, "--store", &GlobalFlags::store},
    {"server", "BELAY_SERVER", &Environment::server, "--server", &GlobalFlags::server},
    {"api_key_file", "BELAY_API_KEY_FILE", &Environment::api_key_file, "--api-key-file",
     &GlobalFlags::api_key_file},
    {"user", "BELAY_USER", &Environment::user, "--user", &GlobalFlags::user},
    {"model", "BELAY_MODEL", &Environment::model, "--model", &GlobalFlags::model},
    {"model_url", "BELAY_MODEL_URL", &Environment::model_url, "--model-url",
     &GlobalFlags::model_url},
    {"language", "BELAY_LANGUAGE", &Environment::language, "--language", &GlobalFlags::language},
    {"time_zone", "BELAY_TIME_ZONE", &Environment::time_zone, nullptr, nullptr},
    {"agent_max_retries", "AGENT_MAX_RETRIES", &Environment::max_retries, nullptr, nullptr},
    {"agent_timeout_ms", "AGENT_TIMEOUT_MS", &Environment::timeout_ms, nullptr, nullptr},
    {"agent_require_approval", "AGENT_REQUIRE_APPROVAL", &Environment::require_approval, nullptr,
     nullptr},
    {"metrics_batch_interval_ms", "METRICS_BATCH_INTERVAL_MS", &Environment::metrics_batch_interval,
     nullptr, nullptr},
    {"failure_webhook_url", "BELAY_FAILURE_WEBHOOK_URL", &Environment::failure_webhook_url, nullptr,
     nullptr},
    {"key_file", "BELAY_KEY_FILE", &Environment::key_file, "--key-file", &GlobalFlags::key_file},
    {"runs_per_user", "BELAY_RUNS_PER_USER", &Environment::runs_per_user, nullptr, nullptr},
    {"runs_per_key", "BELAY_RUNS_PER_KEY", &Environment::runs_per_key, nullptr, nullptr},
    {"runs_per_queue", "BELAY_RUNS_PER_QUEUE", &Environment::runs_per_queue, nullptr, nullptr},
    {"starts_per_minute", "BELAY_STARTS_PER_MINUTE", &Environment::starts_per_minute, nullptr,
     nullptr},
    {"starts_at_work", "BELAY_STARTS_AT_WORK", &Environment::starts_at_work, nullptr, nullptr},
    {"blocking_threads", "BELAY_BLOCKING_THREADS", &Environment::blocking_threads, nullptr,
     nullptr},
    {"egress_hosts", "BELAY_EGRESS_HOSTS", &Environment::egress_hosts, nullptr, nullptr, true},
    {"egress_networks", "BELAY_EGRESS_NETWORKS", &Environment::egress_networks, nullptr, nullptr,
     true},
    {"egress_ports", "BELAY_EGRESS_PORTS", &Environment::egress_ports, nullptr, nullptr, true},
    {"trusted_proxies", "BELAY_TRUSTED_PROXIES", &Environment::trusted_proxies, nullptr, nullptr},
    {"notify_url", "BELAY_NOTIFY_URL", &Environment::notify_url, nullptr, nullptr},
    {"worker_name", "BELAY_WORKER_NAME", &Environment::worker_name, nullptr, nullptr},
    {"log_level", "BELAY_LOG_LEVEL", &Environment::log_level, nullptr, nullptr},
    {"log_format", "BELAY_LOG_FORMAT", &Environment::log_format, nullptr, nullptr},
    {"roles", "BELAY_ROLES", &Environment::roles, nullptr, nullptr},
    {"no_approval_takes", "BELAY_NO_APPROVAL_TAKES", &Environment::no_approval_takes, nullptr,
     nullptr},
    {"compression", "BELAY_COMPRESSION", &Environment::compression, nullptr, nullptr},
    {"redis", "BELAY_REDIS", &Environment::redis, "--redis", &GlobalFlags::redis},
    {"redis_for", "BELAY_REDIS_FOR", &Environment::redis_for, nullptr, nullptr},
    {"redis_prefix", "BELAY_REDIS_PREFIX", &Environment::redis_prefix, nullptr, nullptr},
    {"redis_ca_file", "BELAY_REDIS_CA_FILE", &Environment::redis_ca_file, nullptr, nullptr},
};

}  // namespace

std::vector<ModuleSetting> common_settings() {
  std::vector<ModuleSetting> all;
  for (const Known& known : kKnown) all.push_back({known.key, known.variable, "", known.is_access});
  return all;
}

namespace {

bool is_offered(const Program& program, const Known& known) {
  return !std::string_view(known.key).starts_with("model") || !program.brings_model;
}

std::vector<std::string> keys_of(const Program& program) {
  std::vector<std::string> keys;
  for (const Known& known : kKnown) {
    if (is_offered(program, known)) keys.emplace_back(known.key);
  }
  for (const ModuleSetting& own : program.settings) keys.push_back(own.key);
  return keys;
}

// Returns the path of --config or BELAY_CONFIG, if one of them is set.
std::optional<std::string> named_place(const Environment& environment, const GlobalFlags& flags) {
  return flags.config ? flags.config : environment.config;
}

Error fault(const std::string& path, int line, const std::string& what) {
  return error(ErrorCode::invalid,
               "\"" + one_line(path) + "\", line " + std::to_string(line) + ": " + what);
}

// Converts the exceptions of yaml-cpp; only this function of the file can throw any.
Result<YAML::Node> parse_yaml(const std::string& path, const std::string& text) {
  try {
    return YAML::Load(text);
  } catch (const YAML::Exception& failed) {
    return fault(path, failed.mark.line + 1, "invalid YAML: " + one_line(failed.msg) + ".");
  }
}

Result<ConfigFile> entries_of(const Program& program, const std::string& path,
                              const YAML::Node& whole) {
  ConfigFile file;
  file.path = path;
  if (whole.IsNull()) return file;
  if (!whole.IsMap()) return fault(path, 1, "expected one setting per line: \"key: value\".");
  std::vector<std::string> known = keys_of(program);
  for (const auto& entry : whole) {
    int line = entry.first.Mark().line + 1;
    if (!entry.first.IsScalar()) return fault(path, line, "invalid key: expected a word.");
    const std::string& key = entry.first.Scalar();
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return fault(
          path, line,
          "unknown setting \"" + shortened(key, 60, "...") + "\"." + did_you_mean(key, known));
    }
    if (!entry.second.IsScalar()) return fault(path, line, key + " is invalid: expected one text.");
    bool is_new = file.entries.emplace(key, ConfigFile::Entry{entry.second.Scalar(), line}).second;
    if (!is_new) return fault(path, line, key + " is set twice. Remove one of them.");
  }
  return file;
}

// Relative paths are relative to the folder of the settings file, not to the working directory.
std::string from_folder_of(const ConfigFile& file, const std::string& path) {
  if (path.empty() || path.front() == '/') return path;
  return (fs::absolute(fs::path(file.path)).parent_path() / path).lexically_normal().string();
}

std::string value_in(const ConfigFile& file, const std::string& key) {
  const std::string& value = file.entries.at(key).value;
  constexpr std::string_view kSqlite = "sqlite:";
  if (key == "key_file" || key == "api_key_file" || key == "model_prices" ||
      key == "model_certificates" || key == "redis_ca_file")
    return from_folder_of(file, value);
  if (key == "store" && value.starts_with(kSqlite)) {
    return std::string(kSqlite) + from_folder_of(file, value.substr(kSqlite.size()));
  }
  return value;
}

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code absent;
  return one != other && fs::equivalent(one, other, absent);
}

bool is_of_this_folder(std::string_view path) { return path.starts_with("./"); }

bool has(const std::optional<ConfigFile>& file, const std::string& key) {
  return file && file->entries.contains(key) && !file->entries.at(key).value.empty();
}

// Returns the final value of each setting, by key.
std::map<std::string, std::string> values_of(const Settings& settings) {
  std::map<std::string, std::string> values = settings.values;
  values["store"] = shown_store(settings.store);
  values["notify_url"] = shown_store(settings.notify_url);
  values["failure_webhook_url"] = shown_webhook(settings.failure_webhook_url);
  values["worker_name"] = settings.worker_name;
  values["log_level"] = settings.log_level ? name_of(*settings.log_level) : "off";
  values["log_format"] = name_of(settings.log_format);
  for (const std::string& role : settings.roles) {
    values["roles"] += (values["roles"].empty() ? "" : ",") + role;
  }
  values["no_approval_takes"] = settings.permission_without_approval();
  values["runs_per_user"] = std::to_string(settings.concurrency.per_user);
  values["runs_per_key"] = std::to_string(settings.concurrency.per_key);
  values["starts_per_minute"] = std::to_string(settings.starts.per_minute.value_or(0));
  values["starts_at_work"] = std::to_string(settings.starts.at_work);
  values["blocking_threads"] = std::to_string(settings.blocking_threads);
  values["egress_hosts"] = egress_hosts_text(settings.egress);
  values["egress_networks"] = egress_networks_text(settings.egress);
  values["egress_ports"] = egress_ports_text(settings.egress);
  for (const std::string& each : settings.starts.trusted_proxies) {
    values["trusted_proxies"] += (values["trusted_proxies"].empty() ? "" : ", ") + each;
  }
  values["runs_per_queue"] = std::to_string(settings.concurrency.per_queue);
  values["server"] = settings.server.value_or("");
  values["api_key_file"] = settings.api_key_file.value_or("");
  values["user"] = settings.user.text;
  values["model"] = settings.model;
  values["model_url"] = settings.models.url;
  values["language"] = name_of(settings.language);
  values["time_zone"] = settings.time_zone.name();
  RunOptions run = settings.run.options().value();
  values["agent_max_retries"] = run.max_retries ? std::to_string(*run.max_retries) : "";
  values["agent_timeout_ms"] = std::to_string(run.timeout.count());
  values["agent_require_approval"] = run.require_approval ? "true" : "false";
  values["metrics_batch_interval_ms"] = std::to_string(settings.metrics_batch_interval_ms);
  values["key_file"] = settings.key_file.value_or("");
  using Compress = EncryptionOptions::Compress;
  values["compression"] = settings.compression == Compress::always  ? "always"
                          : settings.compression == Compress::never ? "never"
                                                                    : "with-key";
  values["redis"] = settings.redis ? settings.redis->address.shown() : "";
  values["redis_for"] = settings.redis.value_or(RedisSettings()).uses();
  values["redis_prefix"] = settings.redis.value_or(RedisSettings()).prefix;
  values["redis_ca_file"] = settings.redis.value_or(RedisSettings()).ca_file;
  return values;
}

}  // namespace

std::string ConfigFile::origin(const std::string& key) const {
  auto found = entries.find(key);
  if (found == entries.end()) return "";
  return "file " + path + ", line " + std::to_string(found->second.line);
}

std::vector<std::string> config_places(const Program& program, const Environment& environment,
                                       const GlobalFlags& flags) {
  if (auto named = named_place(environment, flags)) return {*named};
  std::string name = program.name + ".yaml";
  std::vector<std::string> places = {"./" + name};
  std::string inside = "/" + program.name + "/" + name;
  if (environment.config_home && environment.config_home->starts_with('/')) {
    places.push_back(*environment.config_home + inside);
  } else if (environment.home) {
    places.push_back(*environment.home + "/.config" + inside);
  }
  return places;
}

Result<std::optional<ConfigFile>> read_config(const Program& program,
                                              const Environment& environment,
                                              const GlobalFlags& flags) {
  bool named = named_place(environment, flags).has_value();
  std::vector<std::string> places = config_places(program, environment, flags);
  for (const std::string& path : places) {
    std::error_code absent;
    if (!named && !fs::exists(path, absent)) continue;
    BELAY_TRY(std::string text, read_input(path, kConfigBytesMax));
    BELAY_TRY(YAML::Node whole, parse_yaml(path, text));
    BELAY_TRY(ConfigFile file, entries_of(program, path, whole));
    // The parsed bytes are checked, not the file: it might have changed since it was read.
    bool is_own = named || !is_of_this_folder(path) || is_same_file(path, places.back()) ||
                  is_trusted(program, environment, path, text);
    file.is_strange = !is_own;
    return std::optional<ConfigFile>(std::move(file));
  }
  return std::optional<ConfigFile>();
}

void add_config(const Program& program, const ConfigFile& file, Environment& environment) {
  if (file.is_strange) environment.strange_file = file.path;
  for (const Known& known : kKnown) {
    std::optional<std::string>& slot = environment.*known.slot;
    if (slot || !has(file, known.key)) continue;
    // Keys in the environment override a key file that the settings file names.
    if (known.slot == &Environment::key_file && environment.keys) continue;
    if (known.slot == &Environment::api_key_file && environment.api_key) continue;
    slot = value_in(file, known.key);
    environment.origins[known.variable] = file.origin(known.key);
  }
  for (const ModuleSetting& own : program.settings) {
    if (!has(file, own.key) || environment.own.contains(own.key)) continue;
    environment.own.emplace(own.key, value_in(file, own.key));
    environment.origins[own.variable] = file.origin(own.key);
  }
}

std::vector<Explained> explain_settings(const Program& program, const Environment& environment,
                                        const GlobalFlags& flags,
                                        const std::optional<ConfigFile>& file,
                                        const Settings& settings) {
  std::map<std::string, std::string> values = values_of(settings);
  std::vector<Explained> explained;
  for (const Known& known : kKnown) {
    if (!is_offered(program, known)) continue;
    std::string origin = "default";
    if (known.flag && flags.*known.flag_slot) {
      origin = "flag " + std::string(known.flag);
    } else if (environment.*known.slot) {
      origin = "environment " + std::string(known.variable);
    } else if (known.slot == &Environment::key_file && environment.keys) {
      origin = "environment BELAY_KEYS";
    } else if (known.slot == &Environment::key_file && settings.keys && !settings.key_file) {
      origin = "environment " + settings.keys_name;
    } else if (known.slot == &Environment::api_key_file && environment.api_key) {
      origin = "environment BELAY_API_KEY";
    } else if (has(file, known.key)) {
      origin = file->origin(known.key);
    } else if (known.slot == &Environment::store && database_of(environment)) {
      origin = "environment DATABASE_URL";
    } else if (known.slot == &Environment::redis && redis_of(environment)) {
      origin = "environment REDIS_URL";
    }
    // Runs are in a store or on a server: only one of the two settings is used.
    bool is_store = known.slot == &Environment::store,
         is_server = known.slot == &Environment::server;
    if (is_store && settings.server) origin = "not used: the runs are on the server";
    if (is_server && !settings.server && origin != "default") {
      origin = "not used: the runs are in the store";
    }
    bool is_of_redis = std::string_view(known.key).starts_with("redis_");
    if (is_of_redis && !settings.redis && origin != "default") {
      const std::optional<std::string>& set = environment.*known.slot;
      values[known.key] = set ? *set : value_in(*file, known.key);
      origin = "not used: no Redis is set";
    }
    explained.push_back({known.key, values[known.key], std::move(origin)});
  }
  for (const ModuleSetting& own : program.settings) {
    std::string origin = "default";
    if (environment.own.contains(own.key)) {
      origin = "environment " + own.variable;
    } else if (has(file, own.key)) {
      origin = file->origin(own.key);
    }
    explained.push_back({own.key, values[own.key], std::move(origin)});
  }
  return explained;
}

}  // namespace belay::cli
