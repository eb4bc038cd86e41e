#include "cli/show.h"

#include <algorithm>

#include "cli/documents.h"

namespace belay::cli {
namespace {

constexpr std::string_view kIndent = "  ";
constexpr std::string_view kItemIndent = "    ";           // as wide as "  - "
constexpr std::string_view kActivityIndent = "         ";  // as wide as "  07:30  "

std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain = "_@%+=:,./-";
  bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [&](char c) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return letter || kPlain.find(c) != kPlain.npos;
  });
  if (plain) return std::string(word);
  std::string quoted = "'";
  for (char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

void show_text(World& world, const Value& text, Style style = Style::plain) {
  const std::string* words = text.as_string();
  if (!words || words->empty()) return;
  Output& output = world.output;
  if (style == Style::plain) return output.paragraph(*words, kIndent);
  std::string lines = wrapped(*words, output.options().width, kIndent);
  if (lines.ends_with('\n')) lines.pop_back();
  output.line(output.styled(style, lines));
}

void show_list(World& world, const Value& list) {
  const Value::Array* items = list.as_array();
  if (!items) return;
  for (const Value& item : *items) {
    const std::string* text = item.as_string();
    if (!text) continue;
    std::string lines = wrapped(*text, world.output.options().width, kItemIndent);
    if (lines.ends_with('\n')) lines.pop_back();
    world.output.line("  - " + lines.substr(kItemIndent.size()));
  }
}

void show_risk(World& world, const Value& payload) {
  Output& output = world.output;
  const Phrases& phrases = world.phrases;
  auto risk = risk_in(payload);
  if (!risk) {
    if (!payload.find("assessed")) return;
    std::string label = std::string(phrases.risk) + ": " + std::string(phrases.not_assessed);
    return output.line(std::string(kIndent) + output.styled(Style::warning, label));
  }
  Style style = *risk >= 8 ? Style::bad : *risk >= 7 ? Style::warning : Style::good;
  std::string label =
      std::string(phrases.risk) + " " + std::to_string(*risk) + " " + std::string(phrases.of_ten);
  output.line(std::string(kIndent) + output.styled(style, label));
}

void show_activities(World& world, const Value& activities) {
  const Value::Array* items = activities.as_array();
  if (!items) return;
  Output& output = world.output;
  for (const Value& item : *items) {
    const std::string* time = item["time"].as_string();
    const std::string* activity = item["activity"].as_string();
    if (!time || !activity) continue;
    std::string lines = wrapped(*activity, output.options().width, kActivityIndent);
    if (lines.ends_with('\n')) lines.pop_back();
    std::string at = std::string(kIndent) + padded(one_line(*time), 5) + "  ";
    output.line(output.styled(Style::bold, at) + lines.substr(kActivityIndent.size()));
    if (const std::string* benefit = item["expectedBenefit"].as_string()) {
      std::string why = wrapped(*benefit, output.options().width, kActivityIndent);
      if (why.ends_with('\n')) why.pop_back();
      output.line(output.styled(Style::faint, why));
    }
  }
}

bool is_known(const Value& payload) {
  return payload.find("summary") || payload.find("activities");
}

// The newest of what an agent has made, as its state says: an analysis or a routine.
const Value& made_in(const Value& state) {
  for (std::string_view name : {"formattedRoutine", "analysis"}) {
    const Value& made = state[name];
    if (is_known(made)) return made;
  }
  return state["no such member"];
}

std::string_view outcome_word(const Phrases& phrases, const RunRow& row) {
  if (row.status != RunStatus::completed) return word_for(phrases, row.status);
  if (row.outcome == "saved") return phrases.saved;
  if (row.outcome == "nothing_to_do") return phrases.nothing_to_do;
  if (row.outcome == "rejected") return phrases.rejected;
  if (row.outcome == "expired") return phrases.expired;
  return phrases.completed;
}

std::string mark_of(const Output& output, RunStatus status) {
  switch (status) {
    case RunStatus::completed:
      return output.styled(Style::good, output.glyph("✓", "ok"));
    case RunStatus::paused:
      return output.styled(Style::warning, output.glyph("⏸", "||"));
    case RunStatus::failed:
    case RunStatus::quarantined:
      return output.styled(Style::bad, output.glyph("✗", "x"));
    case RunStatus::cancelled:
      return output.styled(Style::warning, output.glyph("■", "-"));
    case RunStatus::queued:
    case RunStatus::running:
      return std::string(output.glyph("●", "*"));
  }
  return "";
}

// What to do about a run that has neither ended nor waits for a person.
void show_how_to_go_on(World& world, const RunRow& row) {
  bool left = row.status == RunStatus::queued || row.status == RunStatus::running;
  if (!left) return;
  world.output.line(std::string(kIndent) + std::string(world.phrases.resume_with) + ":  " +
                    command(world, {"resume", row.thread.text}));
}

}  // namespace

std::string command(const World& world, const std::vector<std::string>& words) {
  std::string line = "belay";
  for (const std::string& word : words) line += " " + shell_word(word);
  if (world.settings.store_by_flag) line += " --store " + shell_word(world.settings.store);
  if (world.settings.key_file_by_flag) {
    line += " --key-file " + shell_word(*world.settings.key_file);
  }
  return line;
}

void show_payload(World& world, const Value& payload) {
  if (payload.is_null()) return;
  if (!is_known(payload)) {
    // What another agent shows: as it is, without anything that would steer a terminal.
    std::string text = to_pretty_json(payload);
    std::string_view rest = text;
    while (!rest.empty()) {
      std::size_t end = std::min(rest.find('\n'), rest.size());
      world.output.line(std::string(kIndent) + one_line(rest.substr(0, end)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return;
  }
  show_risk(world, payload);
  show_text(world, payload["localHelp"], Style::bold);
  show_text(world, payload["summary"]);
  show_list(world, payload["keyInsights"]);
  show_activities(world, payload["activities"]);
  show_list(world, payload["remarks"]);
  show_text(world, payload["notice"], Style::faint);
  show_text(world, payload["disclaimer"], Style::faint);
}

void show_how_to_decide(World& world, const ApprovalRow& row) {
  const Phrases& phrases = world.phrases;
  Output& output = world.output;
  std::string id = row.interrupt.text();
  std::size_t width = std::max(columns(phrases.approve_with), columns(phrases.reject_with)) + 3;
  for (auto [label, verb] :
       {std::pair(phrases.approve_with, "approve"), std::pair(phrases.reject_with, "reject")}) {
    output.line(std::string(kIndent) + padded(std::string(label) + ":", width) +
                output.styled(Style::bold, command(world, {"approvals", verb, id})));
  }
  output.line(std::string(kIndent) + std::string(phrases.expires) + " " +
              moment_text(row.expires_at) + ", " +
              relative_text(phrases, row.expires_at, world.clock.now()));
}

void show_headline(World& world, const RunView& view) {
  const std::string* date = view.state["date"].as_string();
  std::string title = view.row.graph + (date && !date->empty() ? " " + one_line(*date) : "");
  std::string_view stands = view.row.status == RunStatus::paused && view.approval
                                ? world.phrases.waits_for_you
                                : outcome_word(world.phrases, view.row);
  world.output.line(mark_of(world.output, view.row.status) + " " +
                    world.output.styled(Style::bold, title) + ": " + std::string(stands) + "  (" +
                    std::string(world.phrases.thread) + " " + one_line(view.row.thread.text) + ")");
}

void show_run(World& world, const RunView& view) {
  Output& output = world.output;
  show_headline(world, view);
  if (!view.row.error.empty()) output.paragraph(view.row.error, kIndent);
  const Value& shown = view.approval ? payload_of(*view.approval) : made_in(view.state);
  show_payload(world, shown);
  if (view.approval) {
    output.line();
    output.paragraph(view.approval->question, kIndent);
    show_how_to_decide(world, *view.approval);
  }
  show_how_to_go_on(world, view.row);
}

ExitCode end_of(World& world, const RunView& view) {
  const RunRow& row = view.row;
  if (row.status == RunStatus::failed) {
    world.output.complain("Thread \"" + row.thread.text + "\" failed at " + row.node + ": " +
                          row.error + " See " + command(world, {"history", row.thread.text}) + ".");
  }
  return exit_code_of(row.status);
}

void show_approval_in_full(World& world, const ApprovalRow& row) {
  const Phrases& phrases = world.phrases;
  Output& output = world.output;
  std::string crisis = is_crisis(row) ? output.styled(Style::bad, phrases.crisis) + " " : "";
  output.line(crisis + output.styled(Style::bold, one_line(row.question)));
  output.line(std::string(kIndent) + row.graph + " / " + row.node + ", " +
              std::string(phrases.thread) + " " + one_line(row.thread.text));
  output.line(std::string(kIndent) + std::string(phrases.asked) + " " +
              moment_text(row.created_at) + ": " + std::string(word_for(phrases, row.status)));
  output.line();
  show_payload(world, payload_of(row));
  if (!row.edited.empty()) {
    output.line();
    output.line(std::string(kIndent) + std::string(phrases.edited) + ":");
    show_payload(world, edited_of(row));
  }
  output.line();
  if (row.status == ApprovalStatus::open) return show_how_to_decide(world, row);
  if (row.decided_by.empty()) return;
  output.line(std::string(kIndent) + std::string(phrases.decided_by) + " " +
              one_line(row.decided_by) + ", " + moment_text(row.decided_at));
  if (row.comment.empty()) return;
  output.paragraph(std::string(phrases.comment) + ": " + row.comment, kIndent);
}

void show_approval_line(World& world, const ApprovalRow& row) {
  const Phrases& phrases = world.phrases;
  Output& output = world.output;
  bool open = row.status == ApprovalStatus::open;
  std::string state(word_for(phrases, row.status));
  if (open) state = relative_text(phrases, row.expires_at, world.clock.now());
  std::string line = row.interrupt.text() + "  " + padded(state, 16) + "  ";
  if (is_crisis(row)) line += output.styled(Style::bad, phrases.crisis) + "  ";
  output.line(line + one_line(row.question) + "  (" + one_line(row.thread.text) + ")");
}

}  // namespace belay::cli
