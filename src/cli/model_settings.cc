#include "cli/model_settings.h"

#include "belay/command.h"

namespace belay::cli {
namespace {

constexpr std::size_t kPricesBytesMax = std::size_t{1} << 20;
constexpr std::int64_t kModelTokensMax = 100'000'000;
constexpr std::int64_t kCallsMax = 1'000'000;

// The text of a setting, and its name for error messages.
struct Given {
  std::string name;
  std::string text;
};
std::optional<Given> given(const Environment& environment, const Settings& settings,
                           const ModuleSetting& setting) {
  auto found = settings.values.find(setting.key);
  if (found == settings.values.end()) return std::nullopt;
  return Given{environment.origin(setting.variable), found->second};
}

Result<Done> read_time(const std::optional<Given>& given, std::chrono::milliseconds& into) {
  if (!given) return Done{};
  BELAY_TRY(into, duration_from(given->name, given->text));
  return Done{};
}

template <typename Number>
Result<Done> read_number(const std::optional<Given>& given, std::int64_t most, Number& into) {
  if (!given) return Done{};
  BELAY_TRY(std::int64_t number, whole_number(given->name, given->text, 1, most));
  into = static_cast<Number>(number);
  return Done{};
}

// "1h" switches the cache on for that time; "true" for an hour.
Result<Done> read_cache(const std::optional<Given>& given, ModelSettings& models) {
  if (!given) return Done{};
  if (auto on = truth_from(given->name, given->text); on.ok()) {
    models.cache = *on;
    return Done{};
  }
  auto time = duration_from(given->name, given->text);
  if (!time.ok()) {
    return error(ErrorCode::invalid, given->name + " is invalid: \"" +
                                         shortened(given->text, 60, "...") +
                                         "\". Set it to false, true or a time such as 1h.");
  }
  models.cache = true;
  models.cache_ttl = *time;
  return Done{};
}

Result<Done> read_prices(const std::optional<Given>& given, ModelSettings& models) {
  if (!given) return Done{};
  BELAY_TRY(std::string table, read_input(given->text, kPricesBytesMax));
  auto prices = ModelPrices::parse(table);
  if (!prices.ok()) {
    return error(ErrorCode::invalid,
                 given->name + ", \"" + one_line(given->text) + "\": " + prices.error().message);
  }
  models.prices = *std::move(prices);
  return Done{};
}

}  // namespace

std::vector<ModuleSetting> model_settings() {
  return {{"model_cache", "BELAY_MODEL_CACHE"},
          {"model_prices", "BELAY_MODEL_PRICES"},
          {"model_max_tokens", "BELAY_MODEL_MAX_TOKENS"},
          {"model_context", "BELAY_MODEL_CONTEXT"},
          {"model_concurrent", "BELAY_MODEL_CONCURRENT"},
          {"model_calls_per_minute", "BELAY_MODEL_CALLS_PER_MINUTE"},
          {"model_connect_timeout", "BELAY_MODEL_CONNECT_TIMEOUT"},
          {"model_first_byte_timeout", "BELAY_MODEL_FIRST_BYTE_TIMEOUT"},
          {"model_idle_timeout", "BELAY_MODEL_IDLE_TIMEOUT"},
          {"model_timeout", "BELAY_MODEL_TIMEOUT"},
          {"model_certificates", "BELAY_MODEL_CERTIFICATES"},
          {"model_prompts", "BELAY_MODEL_PROMPTS"}};
}

Result<Done> read_model_settings(const Environment& environment, const GlobalFlags& flags,
                                 Settings& settings) {
  auto of = [&](std::size_t number) {
    return given(environment, settings, model_settings().at(number));
  };
  ModelSettings& models = settings.models;
  models.models = settings.model;
  models.url = flags.model_url.value_or(environment.model_url.value_or(""));
  models.openai_key = environment.openai_key.value_or("");
  models.anthropic_key = environment.anthropic_key.value_or("");
  models.ollama_key = environment.ollama_key.value_or("");
  models.ollama_host = environment.ollama_host.value_or("");
  std::string origin = flags.model ? "--model" : environment.origin("BELAY_MODEL");
  models.error_hint =
      "It is set by " + one_line(origin) + ". See: " + settings.call + " models check.";
  BELAY_CHECK(read_cache(of(0), models));
  BELAY_CHECK(read_prices(of(1), models));
  BELAY_CHECK(read_number(of(2), kModelTokensMax, models.max_output_tokens));
  BELAY_CHECK(read_number(of(3), kModelTokensMax, models.ollama_context_tokens));
  BELAY_CHECK(read_number(of(4), kCallsMax, models.limits.concurrency_max));
  BELAY_CHECK(read_number(of(5), kCallsMax, models.calls_per_minute));
  BELAY_CHECK(read_time(of(6), models.timeouts.connect));
  BELAY_CHECK(read_time(of(7), models.timeouts.first_byte));
  BELAY_CHECK(read_time(of(8), models.timeouts.idle));
  BELAY_CHECK(read_time(of(9), models.timeouts.total));
  if (auto file = of(10)) models.trusted_certificates = file->text;
  if (auto prompts = of(11)) {
    BELAY_TRY(settings.keeps_prompts, truth_from(prompts->name, prompts->text));
  }
  return Done{};
}

Result<std::shared_ptr<Model>> named_model(const Settings& settings,
                                           std::map<std::string, std::shared_ptr<Model>> own,
                                           Clock& clock) {
  ModelSettings models = settings.models;
  models.local_models = std::move(own);
  return open_model(std::move(models), clock);
}

}  // namespace belay::cli
