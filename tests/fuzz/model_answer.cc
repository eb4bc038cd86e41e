// Replies of a model, and the texts of users in its prompts.

#include "agents/wellbeing/model_answer.h"

#include "agents/wellbeing/code_points.h"
#include "agents/wellbeing/sanitize.h"
#include "agents/wellbeing/validate_schedule.h"
#include "tests/fuzz/target.h"

namespace belay::fuzz {
namespace {

void audit(std::string_view input) {
  auto answer = wellbeing::audit_answer_from(input);
  if (!answer.ok()) {
    require_sound(answer.error());
    require(answer.error().code == ErrorCode::unavailable, "a bad answer is asked for again");
    return;
  }
  require(answer->assessed ? answer->risk_level >= 1 && answer->risk_level <= 10
                           : answer->risk_level == 0,
          "a risk is on its scale");
  require(answer->key_insights.size() <= wellbeing::kInsightsMax, "insights are bounded");
  Value::Array insights(answer->key_insights.begin(), answer->key_insights.end());
  Value written = Value::object({{"summary", answer->summary},
                                 {"riskLevel", answer->risk_level},
                                 {"keyInsights", std::move(insights)},
                                 {"assessed", answer->assessed}});
  auto again = wellbeing::audit_answer_from(to_json(written));
  require(again.ok() && again->summary == answer->summary &&
              again->risk_level == answer->risk_level &&
              again->key_insights == answer->key_insights && again->assessed == answer->assessed,
          "an answer that was taken is taken again as it is");
}

void schedule(std::string_view input) {
  auto value = wellbeing::schedule_answer_from(input);
  if (!value.ok()) return require_sound(value.error());
  wellbeing::Validation first = wellbeing::validate_schedule(*value);
  require(first.is_valid == first.feedback.empty(), "what is not valid is told why");
  require(first == wellbeing::validate_schedule(*value), "a value is judged alike each time");
  if (!first.is_valid) require_sound(error(ErrorCode::invalid, first.feedback));
}

void prompt(std::string_view input) {
  wellbeing::Sanitized clean = wellbeing::sanitize(input, 500);
  require(!first_invalid_utf8(clean.text), "what goes into a prompt is UTF-8");
  require(wellbeing::count_code_points(clean.text) <= 500, "and bounded");
  require(!wellbeing::repeats_delimiters(clean.text), "and leaves its section closed");
  std::u32string points = wellbeing::code_points_of(input);
  std::string utf8 = wellbeing::utf8_of(points);
  require(!first_invalid_utf8(utf8), "code points are UTF-8");
  require(wellbeing::code_points_of(utf8) == points, "and come back as they were");
  if (!first_invalid_utf8(input)) require(utf8 == input, "what is UTF-8 stays as it is");
}

}  // namespace
}  // namespace belay::fuzz

BELAY_FUZZ_TARGET(ModelAnswer, "model_answer") {
  belay::fuzz::audit(input);
  belay::fuzz::schedule(input);
  belay::fuzz::prompt(input);
}
