#include "agents/goals/goal_options.h"

#include "agents/goals/goal_rules.h"

namespace belay::goals {
namespace {

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    std::size_t end = std::min(text.find(','), text.size());
    std::string_view name = text.substr(0, end);
    name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    name = name.substr(0, name.find_last_not_of(' ') + 1);
    if (!name.empty()) names.emplace_back(name);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

}  // namespace

void GoalOptions::declare(CommandWords& words) {
  words.text_option("--tools", tools_, "Tools that it may call, comma-separated (default: all)");
  words.text_option("--steps", steps_, "Maximum number of steps of a run, 1 to 100 [10]");
  words.text_option("--temperature", temperature_, "Temperature of the model, 0 to 2");
  words.text_option("--max-tokens", max_tokens_, "Maximum length of a reply, in tokens");
  words.text_option("--token-budget", token_budget_, "Maximum number of tokens of a run");
  words.text_option("--cost-budget", cost_budget_, "Maximum cost of a run, such as 0.50");
  words.text_option("--token-limit", token_limit_,
                    "Number of tokens of a run after which a person is asked");
  words.text_option("--goal-model", model_, "Model of its runs, PROVIDER:NAME");
  words.text_option("--memory", memory_, "fresh, or carry: a run reads that of the last [fresh]");
  words.text_option("--priority", priority_, "Larger numbers run first [0]");
}

Value::Object& GoalOptions::params() {
  Value& params = changes_.as_object()->try_emplace("params", Value::Object()).first->second;
  return *params.as_object();
}

Result<Done> GoalOptions::add_number(const char* option, const char* member,
                                     const std::optional<std::string>& text, std::int64_t most) {
  if (!text) return Done{};
  Value number;
  if (!text->empty()) {
    BELAY_TRY(number, whole_number(option, *text, 1, most));
  }
  params().insert_or_assign(member, std::move(number));
  return Done{};
}

Result<Done> GoalOptions::validate() {
  BELAY_CHECK(add_number("--steps", "stepBudget", steps_, kStepBudgetMax));
  BELAY_CHECK(add_number("--max-tokens", "maxTokens", max_tokens_, kReplyTokensMax));
  BELAY_CHECK(add_number("--token-budget", "tokenBudget", token_budget_, limits::budget_max));
  if (cost_budget_) {
    Value cost;
    if (!cost_budget_->empty()) {
      BELAY_TRY(cost, money_from("--cost-budget", *cost_budget_));
    }
    params().insert_or_assign("costBudget", std::move(cost));
  }
  BELAY_CHECK(add_number("--token-limit", "tokenLimit", token_limit_, limits::budget_max));
  if (tools_) {
    Value::Array names;
    for (std::string& name : names_in(*tools_)) names.emplace_back(std::move(name));
    params().insert_or_assign("allowedTools", std::move(names));
  }
  if (model_) params().insert_or_assign("model", *model_);
  if (temperature_) {
    Value temperature;
    if (!temperature_->empty()) {
      auto parsed = parse_json(*temperature_);
      if (!parsed.ok() || !parsed->as_double()) {
        return error(ErrorCode::invalid, "Invalid --temperature: expected a number from 0 to 2.");
      }
      temperature = *parsed->as_double();
    }
    params().insert_or_assign("temperature", std::move(temperature));
  }
  Value::Object& members = *changes_.as_object();
  if (memory_) members.insert_or_assign("memory", memory_->empty() ? Value() : Value(*memory_));
  if (priority_) {
    Value priority;
    if (!priority_->empty()) {
      constexpr std::int64_t most = 1'000'000;
      BELAY_TRY(priority, whole_number("--priority", *priority_, -most, most));
    }
    members.insert_or_assign("priority", std::move(priority));
  }
  return Done{};
}

void GoalOptions::set_objective(const std::string& objective) {
  changes_.as_object()->insert_or_assign("objective", objective);
}

}  // namespace belay::goals
