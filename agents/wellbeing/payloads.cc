#include "agents/wellbeing/payloads.h"

#include <algorithm>

#include "agents/wellbeing/localized_text.h"

namespace belay::wellbeing {
namespace {

constexpr std::int64_t kCrisisRisk = 8;
constexpr std::string_view kIndent = "  ";
constexpr std::string_view kItemIndent = "    ";           // as wide as "  - "
constexpr std::string_view kActivityIndent = "         ";  // as wide as "  07:30  "

// Returns the risk of a payload; nullopt if it is absent, or was not assessed.
std::optional<std::int64_t> risk_in(const Value& payload) {
  auto risk = payload["riskLevel"].as_int();
  if (!risk || *risk < 1) return std::nullopt;
  return risk;
}

// True if the risk of the payload indicates a crisis.
bool is_crisis(const ApprovalRow& row) {
  return risk_in(payload_of(row)).value_or(0) >= kCrisisRisk;
}

void show_text(ModuleContext& world, const Value& text, Style style = Style::plain) {
  const std::string* said = text.as_string();
  if (!said || said->empty()) return;
  Output& output = world.output;
  if (style == Style::plain) return output.paragraph(*said, kIndent);
  std::string lines = wrapped(*said, output.width(), kIndent);
  if (lines.ends_with('\n')) lines.pop_back();
  output.line(output.styled(style, lines));
}

void show_list(ModuleContext& world, const Value& list) {
  const Value::Array* items = list.as_array();
  if (!items) return;
  for (const Value& item : *items) {
    const std::string* text = item.as_string();
    if (!text) continue;
    std::string lines = wrapped(*text, world.output.width(), kItemIndent);
    if (lines.ends_with('\n')) lines.pop_back();
    world.output.line("  - " + lines.substr(kItemIndent.size()));
  }
}

void show_risk(ModuleContext& world, const Value& payload) {
  Output& output = world.output;
  const Words& words = words_of(world.settings.language);
  auto risk = risk_in(payload);
  if (!risk) {
    if (!payload.find("assessed")) return;
    std::string label = std::string(words.risk) + ": " + std::string(words.not_assessed);
    return output.line(std::string(kIndent) + output.styled(Style::warning, label));
  }
  Style style = *risk >= kCrisisRisk ? Style::bad : *risk >= 7 ? Style::warning : Style::good;
  std::string label =
      std::string(words.risk) + " " + std::to_string(*risk) + " " + std::string(words.of_ten);
  output.line(std::string(kIndent) + output.styled(style, label));
}

void show_activities(ModuleContext& world, const Value& activities) {
  const Value::Array* items = activities.as_array();
  if (!items) return;
  Output& output = world.output;
  for (const Value& item : *items) {
    const std::string* time = item["time"].as_string();
    const std::string* activity = item["activity"].as_string();
    if (!time || !activity) continue;
    std::string lines = wrapped(*activity, output.width(), kActivityIndent);
    if (lines.ends_with('\n')) lines.pop_back();
    std::string at = std::string(kIndent) + padded(one_line(*time), 5) + "  ";
    output.line(output.styled(Style::bold, at) + lines.substr(kActivityIndent.size()));
    if (const std::string* benefit = item["expectedBenefit"].as_string()) {
      std::string why = wrapped(*benefit, output.width(), kActivityIndent);
      if (why.ends_with('\n')) why.pop_back();
      output.line(output.styled(Style::faint, why));
    }
  }
}

bool is_known(const Value& payload) {
  return payload.find("summary") || payload.find("activities");
}

bool show_payload(ModuleContext& world, const Value& payload) {
  if (!is_known(payload)) return false;
  show_risk(world, payload);
  show_text(world, payload["localHelp"], Style::bold);
  show_text(world, payload["summary"]);
  show_list(world, payload["keyInsights"]);
  show_activities(world, payload["activities"]);
  show_list(world, payload["remarks"]);
  show_text(world, payload["notice"], Style::faint);
  show_text(world, payload["disclaimer"], Style::faint);
  return true;
}

// Returns the newest result in an agent's state: an analysis or a routine.
const Value* made_in(const Value& state) {
  for (std::string_view name : {"formattedRoutine", "analysis"}) {
    const Value& made = state[name];
    if (is_known(made)) return &made;
  }
  return nullptr;
}

std::string date_of(const RunView& view) {
  const std::string* date = view.state["date"].as_string();
  return date ? *date : "";
}

std::string mark_of(ModuleContext& world, const ApprovalRow& row) {
  if (!is_crisis(row)) return "";
  return world.output.styled(Style::bad, words_of(world.settings.language).crisis);
}

void complete_document(const ApprovalRow& row, Value::Object& document) {
  auto risk = risk_in(payload_of(row));
  document.emplace("riskLevel", risk ? Value(*risk) : Value());
  document.emplace("crisis", is_crisis(row));
}

// A crisis must remain visible if its approval was rejected or has expired.
void show_passed_crises(ModuleContext& world, const std::vector<ApprovalRow>& rows) {
  auto count = std::count_if(rows.begin(), rows.end(), [](const ApprovalRow& row) {
    bool passed = row.status == ApprovalStatus::rejected || row.status == ApprovalStatus::expired;
    return passed && is_crisis(row);
  });
  if (count == 0) return;
  std::string text =
      format_message(words_of(world.settings.language).passed_crises,
                     {{"n", std::to_string(count)},
                      {"command", world.command_line({"approvals", "list", "--all"})}});
  world.output.line(world.output.styled(Style::bad, text));
}

}  // namespace

Presentation wellbeing_presentation() {
  Presentation presentation;
  presentation.payload = show_payload;
  presentation.made = made_in;
  presentation.title = date_of;
  presentation.mark = mark_of;
  presentation.approval_document = complete_document;
  presentation.after_approvals = show_passed_crises;
  return presentation;
}

}  // namespace belay::wellbeing
