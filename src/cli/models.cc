// `belay models`: lists the language models, checks the configured ones, and tries one. It opens no
// store.

#include "belay/task.h"
#include "cli/command_list.h"
#include "cli/doctor.h"
#include "cli/model_diagnostics.h"
#include "cli/model_settings.h"
#include "cli/process_context.h"
#include "cli/run_until_signal.h"

namespace belay::cli {
namespace {

constexpr const char* kModelsHelp =
    R"(Queries the servers of the configured models; without a model, Ollama on this machine and the
providers that a key is set for. Only `try` requests tokens from a model. Exit code 1 if a
configured model is unavailable, 2 if none is configured.

Examples:
  {p} models list
  {p} models check --model ollama:llama3.2
  OPENAI_API_KEY=... {p} models try --model openai:gpt-4o-mini
  {p} models try --model openai:local --model-url http://127.0.0.1:8080/v1
)";

constexpr std::chrono::seconds kTryPatience{5};

// Adds the names of the program's own models, which this command does not call.
ModelSettings with_own_names(const Settings& settings) {
  ModelSettings models = settings.models;
  for (const std::string& name : settings.own_models) models.local_models[name] = nullptr;
  return models;
}

bool has_language_model(const Settings& settings) {
  return !settings.model.empty() && settings.own_models.count(settings.model) == 0;
}

ExitCode nothing_is_set_up(const Settings& settings, Output& output) {
  const std::string& call = settings.call;
  std::vector<std::string> commands = {
      call + " models try --model ollama:llama3.2    # after: ollama pull llama3.2",
      "OPENAI_API_KEY=... " + call + " models try --model openai:gpt-4o-mini",
      call +
          " models try --model openai:local --model-url http://127.0.0.1:8080/v1    # llama.cpp"};
  output.line("No language model is configured. Each of these commands tries one:");
  for (const std::string& command : commands) output.line("  " + command);
  output.line("Set BELAY_MODEL, or `model` in the settings file, to the one that works.");
  Value::Array documents(commands.begin(), commands.end());
  output.document(Value::object({{"models", Value::Array()}, {"commands", std::move(documents)}}));
  return ExitCode::bad_input;
}

// Returns the configured servers, with one model of each; if none is configured, Ollama and the
// providers with an API key.
std::vector<ModelName> servers_of(const Settings& settings) {
  std::vector<ModelName> servers;
  auto add = [&](const std::string& models) {
    ModelSettings one = with_own_names(settings);
    one.models = models;
    auto names = parse_model_names(one);
    if (!names.ok()) return;
    for (ModelName& name : *names) {
      bool is_known = name.url.empty();
      for (const ModelName& known : servers) is_known = is_known || known.url == name.url;
      if (!is_known) servers.push_back(std::move(name));
    }
  };
  add(settings.model);
  if (!servers.empty()) return servers;
  add("ollama:any");
  if (!settings.models.openai_key.empty()) add("openai:any");
  if (!settings.models.anthropic_key.empty()) add("anthropic:any");
  return servers;
}

Task<Result<Done>> list_servers(const Settings& settings, Output& output, Clock& clock, bool& any) {
  ModelSettings models = settings.models;
  models.timeouts = {kTryPatience, kTryPatience, kTryPatience, kTryPatience};
  // Without settings, Ollama is only a guess: that it does not run is not reported.
  bool is_configured = has_language_model(settings);
  // The hint names the setting of the model.
  if (!is_configured) models.error_hint.clear();
  Value::Array documents;
  for (const ModelName& server : servers_of(settings)) {
    auto names = co_await list_models(models, server, clock);
    Value::Object document{{"provider", server.provider}, {"server", server.url}};
    Value::Array listed;
    if (names.ok()) {
      any = true;
      for (const std::string& name : *names) {
        output.line(one_line(server.provider + ":" + name));
        listed.push_back(server.provider + ":" + name);
      }
      if (names->empty()) output.line("(none at " + server.url + ")");
    } else if (is_configured || server.provider != "ollama") {
      output.print_error(names.error().message);
    }
    document["error"] = names.ok() ? Value() : Value(names.error().message);
    document["models"] = Value(std::move(listed));
    documents.push_back(Value(std::move(document)));
  }
  if (any) output.document(Value::object({{"servers", std::move(documents)}}));
  co_return Done{};
}

ExitCode stopped(int signal) { return static_cast<ExitCode>(128 + signal); }

Result<ExitCode> list_all_models(const Settings& settings, Output& output, Clock& clock) {
  int signal = 0;
  bool any = false;
  auto done = run_until_signal(list_servers(settings, output, clock, any), signal);
  if (!done) return stopped(signal);
  if (any) return ExitCode::done;
  if (has_language_model(settings)) {
    return error(ErrorCode::unavailable,
                 "No model server has responded. " + settings.models.error_hint);
  }
  return nothing_is_set_up(settings, output);
}

Result<ExitCode> check_models(const Settings& settings, Output& output, Clock& clock) {
  if (settings.model.empty()) return nothing_is_set_up(settings, output);
  bool usable = true;
  Value::Array documents;
  for (const Diagnostic& finding : diagnose_models(settings, clock)) {
    usable = usable && finding.kind != Diagnostic::Kind::bad;
    documents.push_back(show_finding(finding, output));
  }
  output.document(Value::object(
      {{"model", settings.model}, {"usable", usable}, {"checks", std::move(documents)}}));
  return usable ? ExitCode::done : ExitCode::failed;
}

Result<ExitCode> try_one_model(const Settings& settings, Output& output, Clock& clock) {
  if (!has_language_model(settings)) return nothing_is_set_up(settings, output);
  BELAY_TRY(std::shared_ptr<Model> model, open_model(with_own_names(settings), clock));
  int signal = 0;
  auto tried = run_until_signal(try_model(*model, clock), signal);
  if (!tried) return stopped(signal);
  if (!tried->ok()) return std::move(*tried).error();
  const ModelReply& reply = (*tried)->reply;
  auto took = (*tried)->took.count();
  std::string counted = "tokens not counted";
  Value usage;
  if (reply.usage) {
    counted = std::to_string(reply.usage->input_tokens) + " tokens in, " +
              std::to_string(reply.usage->output_tokens) + " out";
    usage = Value::object({{"inputTokens", reply.usage->input_tokens},
                           {"outputTokens", reply.usage->output_tokens},
                           {"cachedInputTokens", reply.usage->cached_input_tokens}});
  }
  output.line(reply.provider + ":" + one_line(reply.model) + " answered in " +
              std::to_string(took) + " ms (" + counted + "): " + one_line(reply.text));
  output.document(Value::object({{"provider", reply.provider},
                                 {"model", reply.model},
                                 {"text", reply.text},
                                 {"milliseconds", took},
                                 {"usage", std::move(usage)}}));
  return ExitCode::done;
}

class ModelsCommand final : public ProcessCommand {
 public:
  using Action = Result<ExitCode> (*)(const Settings&, Output&, Clock&);
  explicit ModelsCommand(Action action) : action_(action) {}

  CommandResult run_in_process(const ProcessContext& context) override {
    return action_(context.settings, context.output, context.clock);
  }

 private:
  Action action_;
};

CommandSpec models_spec(const Program& program, std::string name, std::string line,
                        ModelsCommand::Action action) {
  return {.path = {"models", std::move(name)},
          .line = std::move(line),
          .end = kModelsHelp,
          .is_offered = !program.brings_model,
          .make = [action] { return std::make_unique<ModelsCommand>(action); }};
}

}  // namespace

CommandSpec builtin::models_command(const Program& program) {
  return {.path = {"models"},
          .line = "List, check and try models",
          .end = kModelsHelp,
          .is_offered = !program.brings_model};
}

CommandSpec builtin::models_list_command(const Program& program) {
  return models_spec(program, "list", "List the models of the servers", list_all_models);
}

CommandSpec builtin::models_check_command(const Program& program) {
  return models_spec(program, "check", "Check that the configured models are available",
                     check_models);
}

CommandSpec builtin::models_try_command(const Program& program) {
  return models_spec(program, "try", "Send one short request to the model", try_one_model);
}

}  // namespace belay::cli
