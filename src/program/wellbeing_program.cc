#include "program/wellbeing_program.h"

#include "agents/assistant/assistant.h"
#include "agents/rules/builtin_model.h"
#include "agents/wellbeing/daily_auditor.h"
#include "agents/wellbeing/record_rules.h"
#include "agents/wellbeing/routine_generator.h"
#include "cli/command_words.h"
#include "cli/model_settings.h"
#include "cli/settings.h"
#include "program/agent_routes.h"
#include "program/demo.h"
#include "program/notes.h"
#include "program/payloads.h"
#include "program/record_routes.h"

namespace belay::program {
namespace {

using cli::Definitions;
using cli::Settings;

constexpr const char* kExamples = R"(  belay notes import diary.jsonl
  belay run daily-audit --date 1910-02-06
  belay run routine --date 1910-02-07
)";

constexpr const char* kSettings =
    R"(                          BELAY_MODEL is builtin by default: rules, no language model
  BELAY_HELP_TEXT         contact for local help, shown at risk 8 or higher
)";

constexpr const char* kRunEnd =
    R"(A run that has something to save pauses (exit code 3) and prints the command
that approves it; belay run never decides. The same --thread again resumes the
run, or shows its result.

Examples:
  belay run daily-audit --date 1910-02-06
  belay run daily-audit --date 1910-02-06 --thread audit-may-2 --language es
  belay run routine --date 1910-02-07 --expires 2h
  belay run routine --date 1910-02-07 --json | jq .approval.interruptId
)";

std::string help_text_in(const Settings& settings) {
  auto found = settings.own.find("help_text");
  return found == settings.own.end() ? "" : found->second;
}

Result<Definitions> graphs(const Settings& settings) {
  wellbeing::WellbeingOptions options;
  options.language = name_of(settings.language);
  options.language_named = settings.language_named;
  options.time_zone = settings.time_zone;
  options.care.local_help = help_text_in(settings);
  BELAY_TRY(auto daily_auditor, wellbeing::daily_auditor(options));
  BELAY_TRY(auto routine_generator, wellbeing::routine_generator(options));
  BELAY_TRY(auto assistant, assistant::assistant());
  return Definitions{daily_auditor.definition(), routine_generator.definition(),
                     assistant.definition()};
}

Result<std::shared_ptr<Model>> model(const Settings& settings, Clock& clock) {
  rules::BuiltinOptions options;
  options.help_line = help_text_in(settings);
  std::map<std::string, std::shared_ptr<Model>> own;
  own["builtin"] = rules::make_builtin_model(std::move(options));
  return cli::named_model(settings, std::move(own), clock);
}

std::vector<server::Route> routes(server::ApiContext& world, const Settings& settings) {
  std::vector<server::Route> all = agent_routes(world, settings);
  for (server::Route& route : record_routes(world)) all.push_back(std::move(route));
  return all;
}

// The options of both agents: a day, and the language of the texts.
class DayOptions final : public cli::FormOptions {
 public:
  void declare(cli::CommandWords& words) override {
    words.text_option("--date", date_, "The day: YYYY-MM-DD, today, yesterday, tomorrow [today]");
    words.text_option("--language", language_, "Language of the texts for you: en or es");
  }

  Result<Value> input(const Settings& settings) const override {
    std::string date = date_.value_or("today");
    if (!wellbeing::names_a_day(date)) BELAY_CHECK(check_date(date));
    BELAY_TRY(std::string language, language_for(settings));
    bool is_told = settings.server && settings.time_zone_named;
    return Value::object({{"date", std::move(date)},
                          {"language", std::move(language)},
                          {"timeZone", is_told ? settings.time_zone.name() : std::string()}});
  }

 private:
  // Returns the language for the run's texts; empty: that of the process that runs it. A server
  // does not have the caller's settings.
  Result<std::string> language_for(const Settings& settings) const {
    if (!language_) {
      bool is_told = settings.server && settings.language_named;
      return is_told ? std::string(name_of(settings.language)) : std::string();
    }
    if (cli::language_from(*language_)) return *language_;
    return error(
        ErrorCode::invalid,
        "Invalid --language \"" + cli::shortened(*language_, 20, "...") + "\": expected en or es.");
  }

  std::optional<std::string> date_, language_;
};

std::unique_ptr<cli::FormOptions> day_options() { return std::make_unique<DayOptions>(); }

}  // namespace

cli::Program wellbeing_program() {
  cli::Program program;
  program.name = program.call = "belay";
  program.about = "belay - durable agents: every step is committed before the next one starts.";
  program.examples = kExamples;
  program.own_settings = kSettings;
  program.run_end = kRunEnd;
  program.default_model = "builtin";
  program.own_models = {"builtin"};
  program.first_run = {"run", "daily-audit", "--date", "YYYY-MM-DD"};
  program.other_hints = {{"notes", "import", "diary.jsonl"}};
  program.collections = {std::string(wellbeing::Note::collection),
                         std::string(wellbeing::DailySummary::collection),
                         std::string(wellbeing::Routine::collection)};
  program.check_record = wellbeing::check_record;
  program.settings = cli::model_settings();
  program.settings.push_back({"help_text", "BELAY_HELP_TEXT"});
  program.commands = notes_commands();
  program.commands.push_back(demo_command());
  program.forms = {{"daily-audit", "Audit the notes of a day", "daily_auditor", day_options},
                   {"routine", "Make a routine for a day from the audit of the day before",
                    "routine_generator", day_options}};
  program.presentation = wellbeing_presentation();
  program.routes = routes;
  program.graphs = graphs;
  program.model = model;
  return program;
}

}  // namespace belay::program
