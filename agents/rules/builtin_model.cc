#include "agents/rules/builtin_model.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "agents/rules/audit_rules.h"
#include "agents/rules/insights.h"
#include "agents/rules/routine_rules.h"

namespace belay::rules {
namespace {

constexpr std::string_view kBuiltinName = "builtin-rules/2";
constexpr std::string_view kConfigure =
    "configure a language model: BELAY_MODEL or --model, as PROVIDER:NAME (for example "
    "ollama:llama3.2)";

constexpr std::array<std::string_view, 5> kAuditMembers = {"summary", "riskLevel", "keyInsights",
                                                           "assessed", "language"};
constexpr std::array<std::string_view, 2> kRoutineMembers = {"activities", "unplaced"};
constexpr std::array<std::string_view, 3> kActivityMembers = {"time", "activity",
                                                              "expectedBenefit"};

using Members = std::span<const std::string_view>;

Error refused(std::string what) {
  return error(ErrorCode::invalid,
               "The builtin rules " + std::move(what) + "; " + std::string(kConfigure) + ".");
}

Error bad_input(std::string_view purpose, std::string_view what) {
  return error(ErrorCode::invalid,
               "The input for '" + std::string(purpose) + "' must have " + std::string(what) + ".");
}

// Fails with `invalid` if the schema requires a member that `known` lacks.
Result<Done> check_required(const Value& schema, Members known) {
  const auto* required = schema["required"].as_array();
  if (required == nullptr) return Done{};
  for (const Value& name : *required) {
    if (name.as_string() != nullptr && has(known, *name.as_string())) continue;
    return refused("cannot fill the member '" +
                   (name.as_string() != nullptr ? *name.as_string() : "?") +
                   "' that the response schema requires");
  }
  return Done{};
}

// Returns whether the schema permits this member.
bool allows(const Value& schema, std::string_view name) {
  const bool* additional = schema["additionalProperties"].as_bool();
  const bool open = additional == nullptr || *additional;
  return open || schema["properties"].find(name) != nullptr;
}

Value only_allowed(const Value& schema, Value::Object members) {
  std::erase_if(members, [&](const auto& member) { return !allows(schema, member.first); });
  return Value(std::move(members));
}

std::string notice_in(Language language) {
  if (language == Language::es) {
    return "Hecho por reglas fijas: no es un modelo de lenguaje ni un diagnóstico. Las reglas no "
           "entienden la ironía ni lo que no está escrito.";
  }
  return "Made by fixed rules: not a language model, and no diagnosis. Rules miss irony and "
         "whatever is left unwritten.";
}

// Returns the reader's language; unknown if the input names no supported one.
Language reader_of(const Value& input) {
  const std::string* name = input["language"].as_string();
  return name == nullptr ? Language::unknown : language_named(*name);
}

Language or_english(Language language) {
  return language == Language::unknown ? Language::en : language;
}

ModelReply reply_with(const Value& answer, Language reader) {
  ModelReply reply;
  reply.text = to_json(answer);
  reply.provider = "builtin";
  reply.model = kBuiltinName;
  reply.method = "rules";
  reply.notice = notice_in(or_english(reader));
  return reply;
}

Result<std::vector<std::string>> notes_in(const Value& input) {
  const auto* array = input["notes"].as_array();
  if (array == nullptr) return bad_input("daily_audit", "an array 'notes'");
  std::vector<std::string> notes;
  for (const Value& note : *array) {
    const std::string* content = note["content"].as_string();
    if (content == nullptr) return bad_input("daily_audit", "a text 'content' in each note");
    notes.push_back(*content);
  }
  return notes;
}

Value::Array insights_in(const AuditFindings& findings, Language reader) {
  const Language language =
      or_english(findings.language == Language::unknown ? reader : findings.language);
  Value::Array texts;
  for (const Insight& insight : findings.insights) texts.emplace_back(insight.text);
  const std::string classified = classifier_text(findings.crisis, language);
  if (!classified.empty()) texts.emplace_back(classified);
  if (!findings.assessed) {
    texts.emplace_back(not_assessed_text(!findings.summary.empty(), language));
  } else if (!findings.unread_notes.empty()) {
    texts.emplace_back(unread_notes_text(findings.unread_notes.size(), language));
  }
  return texts;
}

Result<ModelReply> audit(const ModelRequest& request) {
  BELAY_CHECK(check_required(request.response_schema, kAuditMembers));
  BELAY_TRY(const std::vector<std::string> notes, notes_in(request.input));
  Language reader = reader_of(request.input);
  const AuditFindings findings = analyse(notes, or_english(reader));
  if (reader == Language::unknown) reader = findings.language;
  if (!findings.assessed && !allows(request.response_schema, "assessed")) {
    return refused(
        "do not recognise the language of these notes, and the response schema leaves no room to "
        "say so ('assessed')");
  }
  std::string summary = findings.summary;
  if (summary.empty()) summary = not_assessed_text(false, or_english(reader));
  Value::Object answer{{"summary", std::move(summary)},
                       {"riskLevel", findings.risk_level},
                       {"keyInsights", insights_in(findings, reader)},
                       {"assessed", findings.assessed},
                       {"language", name_of(findings.language)}};
  return reply_with(only_allowed(request.response_schema, std::move(answer)), reader);
}

Result<RoutineRequest> routine_request_in(const Value& input) {
  constexpr std::string_view purpose = "routine_schedule";
  RoutineRequest request;
  const auto risk_level = input["riskLevel"].as_int();
  if (!risk_level || *risk_level < 0 || *risk_level > 10) {
    return bad_input(purpose, "a whole number 'riskLevel' from 0 to 10");
  }
  request.risk_level = static_cast<int>(*risk_level);
  if (const std::string* date = input["date"].as_string()) request.date = *date;
  request.language = or_english(reader_of(input));
  const auto* recommendations = input["recommendations"].as_array();
  if (recommendations == nullptr) return bad_input(purpose, "an array 'recommendations'");
  for (const Value& recommendation : *recommendations) {
    const std::string* text = recommendation.as_string();
    if (text == nullptr) return bad_input(purpose, "only texts in 'recommendations'");
    request.recommendations.push_back(*text);
  }
  const Value& events = input["fixedEvents"];
  if (!events.is_null() && events.as_array() == nullptr) {
    return bad_input(purpose, "an array 'fixedEvents', or none");
  }
  const Value::Array none;
  for (const Value& event : events.is_null() ? none : *events.as_array()) {
    const std::string* time = event["time"].as_string();
    const std::string* activity = event["activity"].as_string();
    if (time == nullptr || activity == nullptr) {
      return bad_input(purpose, "texts 'time' and 'activity' in each fixed event");
    }
    const auto minutes = event["minutes"].as_int().value_or(60);
    request.fixed_events.push_back(
        {*time, *activity, static_cast<int>(std::clamp<std::int64_t>(minutes, 5, 960))});
  }
  return request;
}

Value::Array activities_in(const Routine& routine) {
  Value::Array activities;
  for (const RoutineActivity& activity : routine.activities) {
    activities.push_back(Value::object({{"time", activity.time},
                                        {"activity", activity.activity},
                                        {"expectedBenefit", activity.expected_benefit}}));
  }
  return activities;
}

Result<ModelReply> routine(const ModelRequest& request, const BuiltinOptions& options) {
  const Value& schema = request.response_schema;
  BELAY_CHECK(check_required(schema, kRoutineMembers));
  BELAY_CHECK(check_required(schema["properties"]["activities"]["items"], kActivityMembers));
  BELAY_TRY(RoutineRequest wanted, routine_request_in(request.input));
  wanted.help_line = options.help_line;
  const Routine made = make_routine(wanted);
  Value::Object answer{{"activities", activities_in(made)}};
  Value::Array unplaced;
  for (const Unplaced& each : made.unplaced) {
    unplaced.push_back(Value::object({{"activity", each.activity}, {"reason", each.reason}}));
  }
  const auto* required = schema["required"].as_array();
  const bool must = required != nullptr && std::find(required->begin(), required->end(),
                                                     Value("unplaced")) != required->end();
  if (must || !unplaced.empty()) answer.emplace("unplaced", std::move(unplaced));
  return reply_with(only_allowed(schema, std::move(answer)), wanted.language);
}

class BuiltinModel final : public Model {
 public:
  explicit BuiltinModel(BuiltinOptions options) : options_(std::move(options)) {}

  Task<Result<ModelReply>> generate(ModelRequest request) override {
    if (request.purpose == "daily_audit") co_return audit(request);
    if (request.purpose == "routine_schedule") co_return routine(request, options_);
    if (request.purpose.empty()) {
      co_return refused("cannot answer free text");
    }
    co_return refused("do not know the purpose '" + request.purpose + "'");
  }
  std::string name() const override { return std::string(kBuiltinName); }
  // Rules cost nothing and count against no budget.
  std::optional<ModelPrice> price(const ModelRequest&) const override { return ModelPrice{}; }
  std::int64_t input_tokens_max(const ModelRequest&) const override { return 0; }

 private:
  BuiltinOptions options_;
};

}  // namespace

std::unique_ptr<Model> make_builtin_model(BuiltinOptions options) {
  return std::make_unique<BuiltinModel>(std::move(options));
}

}  // namespace belay::rules
