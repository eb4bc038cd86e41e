// Creates a model from settings, in layers: the cache, the list, the guard of each server, the
// model.

#include <algorithm>

#include "models/http_model.h"
#include "models/model_list.h"
#include "models/reply_cache.h"

namespace belay {
namespace {

using models::HttpModel;
using models::Server;

constexpr std::int64_t trial_tokens = 16;

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

Result<Done> check_bounds(const ModelSettings& settings) {
  auto wrong = [](const char* what) { return error(ErrorCode::invalid, what); };
  if (settings.reply_bytes_max == 0 || settings.reply_bytes_max > (1u << 30)) {
    return wrong("The maximum size of a reply must be from 1 byte to 1 GiB.");
  }
  if (settings.max_output_tokens && *settings.max_output_tokens <= 0) {
    return wrong("The maximum output tokens must be at least 1.");
  }
  if (settings.ollama_context_tokens && *settings.ollama_context_tokens <= 0) {
    return wrong("The context tokens of Ollama must be at least 1.");
  }
  return Done{};
}

Result<std::shared_ptr<HttpModel>> make_http_model(const ModelName& name,
                                                   const ModelSettings& settings,
                                                   std::shared_ptr<net::HttpClient> client,
                                                   Clock& clock) {
  BELAY_TRY(Server server, server_of(name, settings));
  models::HttpModelOptions options;
  options.timeouts = settings.timeouts;
  options.reply_bytes_max = settings.reply_bytes_max;
  options.price = price_of(name, settings);
  options.error_hint = settings.error_hint;
  return std::make_shared<HttpModel>(std::move(server), std::move(client), std::move(options),
                                     clock);
}

}  // namespace

Result<std::shared_ptr<Model>> open_model(ModelSettings settings, Clock& clock) {
  BELAY_TRY(std::vector<ModelName> names, parse_model_names(settings));
  BELAY_CHECK(check_bounds(settings));
  std::map<bool, std::shared_ptr<net::HttpClient>> clients;            // by is_near()
  std::map<std::string, std::shared_ptr<models::ServerGuard>> guards;  // by address
  std::vector<models::ModelList::Member> members;
  std::string identity;
  for (const ModelName& name : names) {
    models::ModelList::Member member;
    member.name = name.text();
    identity += member.name + "@" + name.url + "\n";
    if (name.name.empty()) {
      member.model = settings.local_models.at(name.provider);
      if (!member.model) {
        return error(ErrorCode::invalid,
                     "The model " + name.provider +
                         " is built into another program and not available here.");
      }
    } else {
      bool near = is_near(name.url);
      std::shared_ptr<net::HttpClient>& client = clients[near];
      if (!client) {
        BELAY_TRY(client, make_client(settings, near));
      }
      BELAY_TRY(member.model, make_http_model(name, settings, client, clock));
      auto& guard = guards[name.url];
      if (!guard) {
        guard = std::make_shared<models::ServerGuard>(name.provider, settings, clock, name.url);
      }
      member.guard = guard;
    }
    members.push_back(std::move(member));
  }
  std::shared_ptr<Model> model = std::make_shared<models::ModelList>(std::move(members));
  if (!settings.cache) return model;
  // The requests that are sent depend on these settings, too.
  identity += std::to_string(settings.max_output_tokens.value_or(0)) + "," +
              std::to_string(settings.ollama_context_tokens.value_or(0));
  models::ReplyCacheOptions options;
  options.ttl = settings.cache_ttl;
  options.entries_max = settings.cache_entries_max;
  options.bytes_max = settings.cache_bytes_max;
  options.shared = settings.shared_reply_cache;
  return std::shared_ptr<Model>(
      std::make_shared<models::CachedModel>(std::move(model), std::move(identity), options, clock));
}

Task<Result<std::vector<std::string>>> list_models(ModelSettings settings, ModelName of,
                                                   Clock& clock) {
  auto client = make_client(settings, is_near(of.url));
  if (!client.ok()) co_return std::move(client).error();
  auto model = make_http_model(of, settings, *std::move(client), clock);
  if (!model.ok()) co_return std::move(model).error();
  auto names = co_await (*model)->list();
  if (names.ok()) std::sort(names->begin(), names->end());
  co_return std::move(names);
}

Task<Result<ModelTrial>> try_model(Model& model, Clock& clock) {
  ModelRequest request;
  Message message;
  message.text = "Answer with the one word: ready";
  request.messages.push_back(std::move(message));
  request.max_output_tokens = trial_tokens;
  Instant began = clock.now();
  auto reply = co_await model.generate(std::move(request));
  if (!reply.ok()) co_return std::move(reply).error();
  ModelTrial trial;
  trial.reply = *std::move(reply);
  trial.took = std::chrono::duration_cast<milliseconds>(clock.now() - began);
  co_return std::move(trial);
}

}  // namespace belay
