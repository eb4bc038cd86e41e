#include "agents/wellbeing/module.h"

#include "agents/rules/builtin_model.h"
#include "agents/wellbeing/agent_routes.h"
#include "agents/wellbeing/conversation_form.h"
#include "agents/wellbeing/daily_auditor.h"
#include "agents/wellbeing/demo.h"
#include "agents/wellbeing/note_commands.h"
#include "agents/wellbeing/payloads.h"
#include "agents/wellbeing/record_routes.h"
#include "agents/wellbeing/record_rules.h"
#include "agents/wellbeing/routine_generator.h"

namespace belay::wellbeing {
namespace {

constexpr const char* kHelpText = "help_text";

Result<Definitions> graphs(const ModuleSettings& settings) {
  WellbeingOptions options;
  options.language = name_of(settings.language);
  options.language_named = settings.language_named;
  options.time_zone = settings.time_zone;
  options.care.local_help = settings.value(kHelpText);
  BELAY_TRY(auto auditor, daily_auditor(options));
  BELAY_TRY(auto generator, routine_generator(options));
  return Definitions{auditor.definition(), generator.definition()};
}

std::shared_ptr<Model> builtin_model(const ModuleSettings& settings) {
  rules::BuiltinOptions options;
  options.help_line = settings.value(kHelpText);
  return rules::make_builtin_model(std::move(options));
}

// The option of both agents: a day.
class DayOptions final : public FormOptions {
 public:
  void declare(CommandWords& words) override {
    words.text_option("--date", date_, "The day: YYYY-MM-DD, today, yesterday, tomorrow [today]");
  }

  Result<Value> input(const ModuleSettings& settings) const override {
    std::string date = date_.value_or("today");
    if (!names_a_day(date)) BELAY_CHECK(check_date(date));
    bool is_told = settings.is_remote && settings.time_zone_named;
    return Value::object({{"date", std::move(date)},
                          {"language", language_by_flag(settings)},
                          {"timeZone", is_told ? settings.time_zone.name() : std::string()}});
  }

  // A server does not have the caller's language. The input does not contain it: the same command
  // from a shell with another locale must find its run.
  std::string configuration(const ModuleSettings& settings) const override {
    bool is_told = settings.is_remote && settings.language_named && !settings.language_by_flag;
    if (!is_told) return {};
    return to_json(Value::object({{kLanguageSetting, std::string(name_of(settings.language))}}));
  }

 private:
  // Returns the language for the run's texts; empty: that of the configuration of the run, or of
  // the process that runs it.
  static std::string language_by_flag(const ModuleSettings& settings) {
    return settings.language_by_flag ? std::string(name_of(settings.language)) : std::string();
  }

  std::optional<std::string> date_;
};

std::unique_ptr<FormOptions> day_options() { return std::make_unique<DayOptions>(); }

}  // namespace

Module module() {
  Module module;
  module.name = "wellbeing";
  module.graphs = graphs;
  module.collections = {record_collection<Note>(), record_collection<DailySummary>(),
                        record_collection<Routine>()};
  module.check_record = check_record;
  module.models["builtin"] = builtin_model;
  module.settings = {
      {kHelpText, "BELAY_HELP_TEXT", "contact for local help, shown at risk 8 or higher"}};
  module.commands = note_commands();
  module.commands.push_back(demo_command());
  module.forms = {{"daily-audit", "Audit the notes of a day", "daily_auditor", day_options},
                  {"routine", "Make a routine for a day from the audit of the day before",
                   "routine_generator", day_options}};
  module.routes = agent_routes();
  for (ModuleRoute& route : record_routes()) module.routes.push_back(std::move(route));
  module.presentation = wellbeing_presentation();
  module.presentation.conversations.emplace(kDailyAuditor, conversation_form("analysis"));
  module.presentation.conversations.emplace(kRoutineGenerator,
                                            conversation_form("formattedRoutine"));
  module.presentation.schemas["AgentRun"] = agent_run_schema();
  return module;
}

}  // namespace belay::wellbeing
