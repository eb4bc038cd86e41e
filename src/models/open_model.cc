// Creates a model from settings, in layers: the cache, the list, the guard of each server, the
// model.

#include <algorithm>

#include "models/model_opener.h"
#include "models/reply_cache.h"

namespace belay {
namespace {

constexpr std::int64_t trial_tokens = 16;

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

}  // namespace

Result<std::shared_ptr<Model>> open_model(ModelSettings settings, Clock& clock) {
  BELAY_TRY(std::vector<ModelName> names, parse_model_names(settings));
  BELAY_CHECK(check_bounds(settings));
  auto opener = std::make_shared<models::ModelOpener>(std::move(settings), clock);
  std::vector<models::ModelList::Member> members;
  std::string identity;
  for (const ModelName& name : names) {
    BELAY_TRY(auto member, opener->open(name));
    identity += member.name + "@" + name.url + "\n";
    members.push_back(std::move(member));
  }
  std::function<Result<models::ModelList::Member>(const std::string&)> open_other =
      [opener](const std::string& name) { return opener->open(name); };
  std::shared_ptr<Model> model =
      std::make_shared<models::ModelList>(std::move(members), std::move(open_other));
  const ModelSettings& used = opener->settings();
  if (!used.cache) return model;
  // The requests that are sent depend on these settings, too.
  identity += std::to_string(used.max_output_tokens.value_or(0)) + "," +
              std::to_string(used.ollama_context_tokens.value_or(0));
  models::ReplyCacheOptions options;
  options.ttl = used.cache_ttl;
  options.entries_max = used.cache_entries_max;
  options.bytes_max = used.cache_bytes_max;
  options.shared = used.shared_reply_cache;
  return std::shared_ptr<Model>(
      std::make_shared<models::CachedModel>(std::move(model), std::move(identity), options, clock));
}

Task<Result<std::vector<std::string>>> list_models(ModelSettings settings, ModelName of,
                                                   Clock& clock) {
  models::ModelOpener opener(std::move(settings), clock);
  auto model = opener.open_http(of);
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
