#include "cli/model_diagnostics.h"

#include <algorithm>

#include "belay/task.h"

namespace belay::cli {
namespace {

constexpr std::chrono::seconds kPatience{5};

Diagnostic finding(const ModelName& model, Diagnostic::Kind kind, std::string detail,
                   std::string advice = "") {
  Diagnostic found;
  found.name = "model";
  found.kind = kind;
  found.detail = model.text() + ": " + std::move(detail);
  found.advice = std::move(advice);
  return found;
}

// True if the list contains the model; Ollama lists NAME as "NAME:latest".
bool has(const std::vector<std::string>& names, const ModelName& model) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return name == model.name || name == model.name + ":latest";
  });
}

std::string advice_for(const ModelName& model, const Error& failed) {
  if (failed.code != ErrorCode::unavailable) return "";
  if (model.provider == "ollama") {
    return "start it with: ollama serve; or set its address: OLLAMA_HOST, --model-url";
  }
  return "check that the server runs and that --model-url or BELAY_MODEL_URL is correct";
}

Diagnostic look_at(const ModelName& model, const ModelSettings& settings, EventLoop& loop,
                   Clock& clock) {
  auto names = block_on(loop, list_models(settings, model, clock));
  if (!names.ok()) {
    return finding(model, Diagnostic::Kind::bad, names.error().message,
                   advice_for(model, names.error()));
  }
  if (has(*names, model)) return finding(model, Diagnostic::Kind::good, "ready at " + model.url);
  std::string advice = model.provider == "ollama" ? "fetch it with: ollama pull " + model.name
                                                  : "list the available models: belay models list";
  return finding(model, Diagnostic::Kind::bad, "the server at " + model.url + " does not list it",
                 std::move(advice));
}

}  // namespace

std::vector<Diagnostic> diagnose_models(const Settings& settings, Clock& clock) {
  std::vector<Diagnostic> findings;
  if (settings.model.empty()) return findings;
  ModelSettings models = settings.models;
  models.error_hint.clear();
  models.timeouts = {kPatience, kPatience, kPatience, kPatience};
  for (const std::string& name : settings.own_models) models.local_models[name] = nullptr;
  auto named = parse_model_names(models);
  if (!named.ok()) {
    Diagnostic found;
    found.name = "model";
    found.kind = Diagnostic::Kind::bad;
    found.detail = named.error().message;
    found.advice = settings.models.error_hint;
    findings.push_back(std::move(found));
    return findings;
  }
  std::unique_ptr<EventLoop> loop = make_event_loop();
  for (const ModelName& model : *named) {
    if (model.name.empty()) {
      findings.push_back(
          finding(model, Diagnostic::Kind::good, "built into the program; no server"));
    } else {
      findings.push_back(look_at(model, models, *loop, clock));
    }
  }
  return findings;
}

}  // namespace belay::cli
