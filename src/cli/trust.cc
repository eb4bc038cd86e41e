#include "cli/trust.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "belay/command.h"
#include "cli/store_name.h"
#include "client/server_address.h"
#include "store/postgres/address.h"

namespace belay::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kRecordBytesMax = std::size_t{1} << 20;
constexpr std::size_t kFileBytesMax = std::size_t{64} * 1024;

// True if the value is from the file: no flag overrides it, and the variable is not set.
bool is_of_file(const Environment& environment, const char* variable, bool by_flag = false) {
  return !by_flag && environment.origins.contains(variable);
}

// The folder of the record, which belongs to the user.
std::optional<std::string> own_folder(const Program& program, const Environment& environment) {
  std::string name = "/" + program.name;
  if (environment.config_home && environment.config_home->starts_with('/')) {
    return *environment.config_home + name;
  }
  if (environment.home) return *environment.home + "/.config" + name;
  return std::nullopt;
}

// "SHA-256 PATH": a changed or moved file is a different one.
std::string line_of(const std::string& path, const std::string& text) {
  std::error_code failed;
  std::string real = fs::weakly_canonical(path, failed).string();
  return to_hex(sha256(text)) + " " + (failed ? path : real);
}

std::vector<std::string> recorded(const std::string& folder) {
  std::vector<std::string> lines;
  auto text = read_input(folder + "/trusted", kRecordBytesMax);
  if (!text.ok()) return lines;
  std::string_view rest = *text;
  while (!rest.empty()) {
    std::size_t end = std::min(rest.find('\n'), rest.size());
    lines.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return lines;
}

// Returns the servers of the models, in the order of their list; nothing if the list is invalid,
// which is reported elsewhere.
std::vector<ModelName> names_of(const Settings& settings, const std::string& models,
                                const std::string& url) {
  ModelSettings asked = settings.models;
  asked.models = models;
  asked.url = url;
  for (const std::string& own : settings.own_models) asked.local_models[own] = nullptr;
  auto names = parse_model_names(asked);
  return names.ok() ? *std::move(names) : std::vector<ModelName>();
}

// Returns the list of models without the addresses after their names.
std::string without_addresses(std::string models) {
  for (std::string_view scheme : {"@http://", "@https://"}) {
    for (std::size_t at = models.find(scheme); at != models.npos; at = models.find(scheme)) {
      models.erase(at, std::min(models.find(',', at), models.size()) - at);
    }
  }
  return models;
}

std::string key_of(const Settings& settings, const std::string& provider) {
  if (provider == "openai" && !settings.models.openai_key.empty()) return "OPENAI_API_KEY";
  if (provider == "anthropic" && !settings.models.anthropic_key.empty()) {
    return "ANTHROPIC_API_KEY";
  }
  return provider == "ollama" && !settings.models.ollama_key.empty() ? "OLLAMA_API_KEY" : "";
}

void add_models(const Environment& environment, const GlobalFlags& flags, const Settings& settings,
                std::vector<StrangePlace>& places) {
  bool list = is_of_file(environment, "BELAY_MODEL", flags.model.has_value());
  bool url = is_of_file(environment, "BELAY_MODEL_URL", flags.model_url.has_value());
  bool authorities = is_of_file(environment, "BELAY_MODEL_CERTIFICATES");
  const ModelSettings& models = settings.models;
  std::vector<ModelName> names = names_of(settings, models.models, models.url);
  std::vector<ModelName> without = names_of(
      settings, list ? without_addresses(models.models) : models.models, url ? "" : models.url);
  for (std::size_t i = 0; i < names.size(); ++i) {
    bool is_same = i < without.size() && without[i].url == names[i].url;
    std::string key = key_of(settings, names[i].provider);
    if (names[i].url.empty() || (is_same && (!authorities || key.empty()))) continue;
    StrangePlace place;
    place.origin = environment.origin(is_same ? "BELAY_MODEL_CERTIFICATES"
                                      : url   ? "BELAY_MODEL_URL"
                                              : "BELAY_MODEL");
    place.address = is_same ? "any server with a certificate of model_certificates"
                            : "the model server " + names[i].url;
    place.receives = "your notes and prompts";
    if (!key.empty()) place.secret = "the key in " + key;
    place.instead = is_same ? "BELAY_MODEL_CERTIFICATES" : "--model-url";
    places.push_back(std::move(place));
  }
}

// True if the key file is in the folder of the settings file that names it; links are resolved.
bool lies_in_folder_of(const Environment& environment, const std::string& key_file) {
  std::error_code failed;
  fs::path folder = fs::weakly_canonical(environment.strange_file, failed).parent_path();
  fs::path key = fs::weakly_canonical(key_file, failed);
  auto [end, rest] = std::mismatch(folder.begin(), folder.end(), key.begin(), key.end());
  return !failed && end == folder.end();
}

void add_server(const Environment& environment, const GlobalFlags& flags, const Settings& settings,
                std::vector<StrangePlace>& places) {
  if (!settings.server || !is_of_file(environment, "BELAY_SERVER", flags.server.has_value())) {
    return;
  }
  StrangePlace place;
  place.origin = environment.origin("BELAY_SERVER");
  auto address = client::server_address_from(*settings.server);
  place.address = "the server " + (address.ok() ? address->base : std::string("that it names"));
  place.receives = "your requests and input";
  place.instead = "--server";
  bool is_own_key = is_of_file(environment, "BELAY_API_KEY_FILE", flags.api_key_file.has_value()) &&
                    settings.api_key_file && lies_in_folder_of(environment, *settings.api_key_file);
  if (settings.api_key) {
    place.secret = "the key in BELAY_API_KEY";
  } else if (settings.api_key_file && !is_own_key) {
    place.secret = "the key in " + one_line(*settings.api_key_file);
  }
  places.push_back(std::move(place));
}

void add_redis(const Environment& environment, const GlobalFlags& flags, const Settings& settings,
               std::vector<StrangePlace>& places) {
  if (!settings.redis) return;
  bool named = is_of_file(environment, "BELAY_REDIS", flags.redis.has_value());
  bool authorities = is_of_file(environment, "BELAY_REDIS_CA_FILE");
  bool has_password = !settings.redis->address.password.empty();
  if (!named && !(authorities && has_password)) return;
  StrangePlace place;
  place.origin = environment.origin(named ? "BELAY_REDIS" : "BELAY_REDIS_CA_FILE");
  place.address = named ? "the Redis at " + settings.redis->address.shown()
                        : "any server with a certificate of redis_ca_file";
  place.receives = "the data and events of runs";
  if (!named) place.secret = "the password of your Redis";
  place.instead = named ? "--redis" : "BELAY_REDIS_CA_FILE";
  places.push_back(std::move(place));
}

// libpq takes missing parts of a URL from the environment and from files of the user.
std::string secret_for(const Environment& environment, const std::string& url) {
  auto address = postgres::address_from(url);
  if (!address.ok()) return "";
  bool has_password = false;
  for (const auto& [name, value] : address->parameters) {
    if (name == "passfile" || name == "service" || name == "sslkey" || name == "sslcert") {
      return "the secret of its option " + name;
    }
    has_password = has_password || (name == "password" && !value.empty());
  }
  if (has_password) return "";
  if (environment.postgres_secret) return "the password in " + *environment.postgres_secret;
  std::error_code absent;
  std::string file = environment.home.value_or("") + "/.pgpass";
  return environment.home && fs::exists(file, absent) ? "the password in ~/.pgpass" : "";
}

void add_postgres(const Environment& environment, const std::string& url, const char* variable,
                  bool by_flag, std::vector<StrangePlace>& places) {
  if (!postgres::is_postgres_url(url) || !is_of_file(environment, variable, by_flag)) return;
  StrangePlace place;
  place.origin = environment.origin(variable);
  place.address = shown_store(url);
  place.receives = "your runs and notes";
  place.secret = secret_for(environment, url);
  place.instead = std::string(variable) == "BELAY_STORE" ? "--store" : variable;
  places.push_back(std::move(place));
}

void add_webhook(const Environment& environment, const Settings& settings,
                 std::vector<StrangePlace>& places) {
  constexpr const char* variable = "BELAY_FAILURE_WEBHOOK_URL";
  if (settings.failure_webhook_url.empty() || !is_of_file(environment, variable)) return;
  StrangePlace place;
  place.origin = environment.origin(variable);
  place.address = "the webhook at " + shown_webhook(settings.failure_webhook_url);
  place.receives = "alerts on failed runs";
  place.instead = variable;
  places.push_back(std::move(place));
}

}  // namespace

std::vector<StrangePlace> strange_places(const Environment& environment, const GlobalFlags& flags,
                                         const Settings& settings) {
  std::vector<StrangePlace> places;
  if (environment.strange_file.empty()) return places;
  add_server(environment, flags, settings, places);
  if (settings.server) return places;
  add_models(environment, flags, settings, places);
  add_redis(environment, flags, settings, places);
  add_postgres(environment, settings.store, "BELAY_STORE", flags.store.has_value(), places);
  add_postgres(environment, settings.notify_url, "BELAY_NOTIFY_URL", false, places);
  add_webhook(environment, settings, places);
  return places;
}

Result<Done> check_places(const std::vector<StrangePlace>& places, const std::string& call) {
  for (const StrangePlace& place : places) {
    if (place.secret.empty()) continue;
    return error(ErrorCode::invalid, place.secret + " would go to " + place.address + ", with " +
                                         place.receives + ", though only " + place.origin +
                                         " names it. Name it yourself with " + place.instead +
                                         ", or trust the file: " + call + " config trust.");
  }
  return Done{};
}

Result<Done> check_access(const Program& program, const Environment& environment) {
  if (environment.strange_file.empty()) return Done{};
  std::vector<ModuleSetting> settings = common_settings();
  settings.insert(settings.end(), program.settings.begin(), program.settings.end());
  for (const auto& [key, variable, help, is_access] : settings) {
    if (!is_access || !environment.origins.contains(variable)) continue;
    return error(ErrorCode::invalid, "Agents would have access to files or networks that only " +
                                         environment.origin(variable) + " names. Set " + variable +
                                         " yourself, or trust the file: " + program.call +
                                         " config trust.");
  }
  return Done{};
}

bool is_trusted(const Program& program, const Environment& environment, const std::string& path,
                const std::string& text) {
  auto folder = own_folder(program, environment);
  if (!folder) return false;
  std::vector<std::string> lines = recorded(*folder);
  return std::find(lines.begin(), lines.end(), line_of(path, text)) != lines.end();
}

Result<Done> trust(const Program& program, const Environment& environment, const std::string& path,
                   bool trusted) {
  auto folder = own_folder(program, environment);
  if (!folder) {
    return error(ErrorCode::invalid,
                 "Cannot record trusted files because HOME is not set. Set HOME.");
  }
  BELAY_TRY(std::string text, read_input(path, kFileBytesMax));
  std::string line = line_of(path, text);
  std::string real = line.substr(line.find(' '));
  std::vector<std::string> lines = recorded(*folder);
  std::erase_if(lines, [&](const std::string& one) { return one.ends_with(real); });
  if (trusted) lines.push_back(line);
  std::error_code failed;
  fs::create_directories(*folder, failed);
  std::string record = *folder + "/trusted";
  // Written to another file and renamed: a crash leaves the old record or the new one.
  std::string written = record + ".new";
  {
    std::ofstream out(written, std::ios::trunc);
    for (const std::string& one : lines) out << one << '\n';
    out.flush();
    if (!out)
      return error(ErrorCode::invalid, "\"" + one_line(written) + "\" could not be written.");
  }
  fs::permissions(written, fs::perms::owner_read | fs::perms::owner_write, failed);
  fs::rename(written, record, failed);
  if (failed)
    return error(ErrorCode::invalid, "\"" + one_line(record) + "\" could not be written.");
  return Done{};
}

}  // namespace belay::cli
