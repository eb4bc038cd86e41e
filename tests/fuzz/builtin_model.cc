// The builtin provider: its replies satisfy their specification for all notes and wishes.

#include "agents/rules/builtin_model.h"

#include "agents/rules/audit_rules.h"
#include "agents/rules/words.h"
#include "belay/task.h"
#include "belay/value.h"
#include "tests/fuzz/target.h"

namespace belay::fuzz {
namespace {

void analyse(std::string_view input) {
  std::vector<std::string> notes;
  for (std::string_view rest = input; !rest.empty();) notes.emplace_back(take_line(rest));
  rules::AuditFindings found = rules::analyse(notes);
  require(found.assessed ? found.risk_level >= 1 && found.risk_level <= 10 : found.risk_level == 0,
          "a risk is on its scale");
  require(!first_invalid_utf8(found.summary), "a summary is UTF-8");
  require(rules::code_points(found.summary) <= rules::kSummaryCodePointsMax, "and bounded");
  require(found.insights.size() <= rules::kInsightsMax, "insights are bounded");
  for (const rules::Insight& insight : found.insights) {
    require(!first_invalid_utf8(insight.text), "an insight is UTF-8");
    for (const rules::Evidence& each : insight.evidence) {
      require(each.note_index < notes.size() && each.span.begin <= each.span.end &&
                  each.span.end <= notes[each.note_index].size(),
              "evidence is of its note");
    }
  }
}

void generate(const char* purpose, const Value& request) {
  static const auto model = rules::make_builtin_model({});
  static const auto loop = make_event_loop();
  ModelRequest asked(purpose, {}, Value(), request);
  auto reply = block_on(*loop, model->generate(std::move(asked)));
  if (!reply.ok()) return require_sound(reply.error());
  auto text = parse_json(reply->text);
  require(text.ok() && text->as_object(), "a reply is a JSON object");
}

}  // namespace
}  // namespace belay::fuzz

BELAY_FUZZ_TARGET(BuiltinModel, "builtin_model") {
  using namespace belay;
  fuzz::analyse(input);
  auto request = parse_json(input);
  if (!request.ok()) return;
  fuzz::generate("daily_audit", *request);
  fuzz::generate("routine_schedule", *request);
}
