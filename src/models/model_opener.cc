#include "models/model_opener.h"

#include <algorithm>
#include <utility>

namespace belay::models {
namespace {

// Returns whether the server is on this machine; no proxy is used then.
bool is_near(std::string_view url) {
  std::string_view host = url.substr(std::min(url.find("://") + 3, url.size()));
  if (host.starts_with("[::1]")) return true;
  host = host.substr(0, host.find_first_of(":/"));
  return host == "localhost" || host.starts_with("127.");
}

Result<std::shared_ptr<net::HttpClient>> make_client(const ModelSettings& settings, bool near) {
  net::HttpClientOptions options;
  options.trusted_certificates = settings.trusted_certificates;
  options.proxy = settings.proxy;
  if (near && !options.proxy) options.proxy = "";
  BELAY_TRY(auto client, net::HttpClient::open(std::move(options)));
  return std::shared_ptr<net::HttpClient>(std::move(client));
}

Result<Server> server_of(const ModelName& name, const ModelSettings& settings) {
  Server server;
  server.provider = name.provider;
  server.model = name.name;
  server.url = name.url;
  server.max_output_tokens = settings.max_output_tokens;
  server.context_tokens = settings.ollama_context_tokens;
  if (name.provider == "ollama") server.key = settings.ollama_key;
  if (name.provider == "openai") server.key = settings.openai_key;
  if (name.provider == "anthropic") server.key = settings.anthropic_key;
  bool needs_key = name.url.find("://api.openai.com") != std::string::npos ||
                   name.url.find("://api.anthropic.com") != std::string::npos;
  if (needs_key && server.key.empty()) {
    std::string variable = name.provider == "openai" ? "OPENAI_API_KEY" : "ANTHROPIC_API_KEY";
    std::string message = "The model " + name.text() + " needs a key: set " + variable + ".";
    if (!settings.error_hint.empty()) message += " " + settings.error_hint;
    return error(ErrorCode::invalid, std::move(message));
  }
  return server;
}

std::optional<ModelPrice> price_of(const ModelName& name, const ModelSettings& settings) {
  auto price = settings.prices.find(name.provider, name.name);
  // A local Ollama server costs nothing.
  bool is_own_machine = name.provider == "ollama" && settings.ollama_key.empty();
  return price || !is_own_machine ? price : ModelPrice{};
}

Result<std::shared_ptr<HttpModel>> make_http_model(const ModelName& name,
                                                   const ModelSettings& settings,
                                                   std::shared_ptr<net::HttpClient> client,
                                                   Clock& clock) {
  BELAY_TRY(Server server, server_of(name, settings));
  HttpModelOptions options;
  options.timeouts = settings.timeouts;
  options.reply_bytes_max = settings.reply_bytes_max;
  options.price = price_of(name, settings);
  options.error_hint = settings.error_hint;
  return std::make_shared<HttpModel>(std::move(server), std::move(client), std::move(options),
                                     clock);
}

}  // namespace

Result<std::shared_ptr<HttpModel>> ModelOpener::open_http(const ModelName& name) {
  bool near = is_near(name.url);
  std::shared_ptr<net::HttpClient>& client = clients_[near];
  if (!client) {
    BELAY_TRY(client, make_client(settings_, near));
  }
  return make_http_model(name, settings_, client, clock_);
}

Result<ModelList::Member> ModelOpener::open(const ModelName& name) {
  ModelList::Member member;
  member.name = name.text();
  if (name.name.empty()) {
    member.model = settings_.local_models.at(name.provider);
    if (member.model) return member;
    return error(ErrorCode::invalid, "The model " + name.provider +
                                         " is built into another program and not available here.");
  }
  BELAY_TRY(member.model, open_http(name));
  std::shared_ptr<ServerGuard>& guard = guards_[name.url];
  if (!guard) guard = std::make_shared<ServerGuard>(name.provider, settings_, clock_, name.url);
  member.guard = guard;
  return member;
}

Result<ModelList::Member> ModelOpener::open(const std::string& text) {
  // ModelSettings::url and a key belong together: the address of one provider must not become that
  // of another, whose key its server would receive.
  ModelSettings settings = settings_;
  settings.models = text;
  settings.url.clear();
  BELAY_TRY(std::vector<ModelName> names, parse_model_names(settings));
  if (names.size() != 1) {
    return error(ErrorCode::invalid, "A request names one model, not a list of them.");
  }
  ModelName& name = names.front();
  BELAY_TRY(std::vector<ModelName> listed, parse_model_names(settings_));
  auto of_provider = std::find_if(listed.begin(), listed.end(), [&](const ModelName& one) {
    return one.provider == name.provider && !one.name.empty();
  });
  bool has_address = text.find("@http") != text.npos;
  if (!has_address && of_provider != listed.end()) name.url = of_provider->url;
  return open(name);
}

}  // namespace belay::models
