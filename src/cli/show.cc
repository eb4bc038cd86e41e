#include "cli/show.h"

#include <algorithm>
#include <map>

#include "cli/approval_answer.h"
#include "cli/documents.h"
#include "cli/line_diff.h"
#include "cli/list_text.h"
#include "cli/payload_editor.h"
#include "cli/progress.h"
#include "service/held_by.h"

namespace belay::cli {
namespace {

constexpr std::string_view kIndent = "  ";

std::vector<std::string_view> text_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// True for an approval about an effect with an unknown outcome.
bool is_of_effect(const ApprovalTerms& terms) {
  return terms.find("happened") && terms.find("redo");
}

std::string choice_label(const LocalizedText& phrases, const ApprovalTerms& terms,
                         const ApprovalChoice& choice) {
  if (choice.name == "approve") return std::string(phrases.approve_with);
  if (choice.name == "reject") return std::string(phrases.reject_with);
  if (is_of_effect(terms) && choice.name == "happened") return std::string(phrases.it_happened);
  if (is_of_effect(terms) && choice.name == "redo") return std::string(phrases.do_again);
  return one_line(choice.label.empty() ? choice.name : choice.label);
}

// The command that decides by this choice.
std::vector<std::string> choice_words(const CommandContext& world, const ApprovalRow& row,
                                      const ApprovalTerms& terms, const ApprovalChoice& choice) {
  bool is_plain = choice.name == "approve" || choice.name == "reject";
  bool is_effect = !is_plain && is_of_effect(terms);
  bool has_answer = choice.approves && !terms.answer_schema.is_null();
  std::string id = row.interrupt.text();
  std::vector<std::string> words{"approvals", "choose", id, choice.name};
  if (is_plain || is_effect) words = {"approvals", choice.name, id};
  if (has_answer) {
    if (choice.name == "approve") words[1] = "answer";
    for (std::string& word : answer_words(terms.answer_schema)) words.push_back(std::move(word));
  }
  add_role(world, row, words);
  return words;
}

// The number of votes for the choice that has the most.
std::size_t most_votes(const std::vector<ApprovalVote>& votes) {
  std::map<std::string_view, std::size_t> of;
  std::size_t most = 0;
  for (const ApprovalVote& vote : votes) most = std::max(most, ++of[vote.choice]);
  return most;
}

std::string roles_text(const LocalizedText& phrases, const ApprovalRow& row) {
  std::string names;
  for (char c : row.roles) names += c == ',' ? ", " : std::string(1, c);
  return format_message(phrases.needs_role, {{"roles", one_line(names)}});
}

// Prints the difference between the payload that was shown and the edited one.
void show_changes(CommandContext& world, const ApprovalRow& row) {
  Value edited = edited_of(row);
  if (edited.is_null()) return;
  world.output.line();
  world.output.line(std::string(kIndent) + std::string(world.phrases.edited) + ":");
  const auto& known = world.program.presentation.payload;
  ModuleContext seen = module_context(world);
  if (known && known(seen, edited)) return;
  std::string before = payload_text(payload_of(row));
  std::string after = payload_text(edited);
  for (const std::string& line : line_diff(before, after)) {
    world.output.line(std::string(kIndent) + one_line(line));
  }
}

// Prints the choice and the answer of a decision, unless it only approves or rejects.
void show_reply(CommandContext& world, const ApprovalRow& row) {
  std::string choice = choice_of(row);
  auto reply = reply_of(row);
  if (!choice.empty() && choice != "approve" && choice != "reject") {
    world.output.line(std::string(kIndent) + std::string(world.phrases.choice) + ": " +
                      one_line(choice));
  }
  if (!reply.ok() || reply->answer.is_null()) return;
  world.output.line(std::string(kIndent) + std::string(world.phrases.answer) + ":");
  std::string text = payload_text(reply->answer);
  for (std::string_view line : text_lines(text)) {
    world.output.line(std::string(kIndent) + one_line(line));
  }
}

// Prints how the run continued after the expiry, unless it was rejected.
void show_expiry(CommandContext& world, const ApprovalRow& row) {
  auto terms = terms_of(row);
  if (row.status != ApprovalStatus::expired || !terms.ok()) return;
  if (terms->when_expired == "reject") return;
  world.output.line(std::string(kIndent) +
                    format_message(world.phrases.expired_with,
                                   {{"time", moment_text(world.settings.time_zone, row.expires_at)},
                                    {"choice", one_line(terms->when_expired)}}));
}

// Returns the part of the state to show for a run without an open approval.
const Value* made_in(const CommandContext& world, const Value& state) {
  const auto& made = world.program.presentation.made;
  return made ? made(state) : &state;
}

std::string mark_of(CommandContext& world, const ApprovalRow& row) {
  const auto& mark = world.program.presentation.mark;
  if (!mark) return "";
  ModuleContext seen = module_context(world);
  return mark(seen, row);
}

// The outcomes that the engine and agents set in most runs are not shown: the result follows.
std::string outcome_word(const LocalizedText& phrases, const RunRow& row) {
  std::string word(status_label(phrases, row.status));
  bool is_usual = row.outcome.empty() || row.outcome == "done" || row.outcome == "answered";
  if (row.status != RunStatus::completed || is_usual) return word;
  std::string_view known = known_outcome(phrases, row.outcome);
  return known.empty() ? word + ": " + one_line(row.outcome) : std::string(known);
}

// Returns the payload to show of a run; null for none.
Value result_of(const CommandContext& world, const RunView& view) {
  if (view.approval) return payload_of(*view.approval);
  const Value* made = made_in(world, view.state);
  return made ? *made : Value();
}

// Prints the commands that continue a run that has not ended and does not wait for a decision.
void show_how_to_go_on(CommandContext& world, const RunRow& row) {
  const LocalizedText& phrases = world.phrases;
  auto line = [&](std::string_view label, const std::vector<std::string>& words) {
    world.output.line(std::string(kIndent) + std::string(label) + ":  " + command(world, words));
  };
  if (row.status == RunStatus::queued) line(phrases.worked_by, {"worker"});
  bool left = row.status == RunStatus::queued || row.status == RunStatus::running;
  if (left) line(phrases.resume_with, {"resume", row.thread.text});
}

// Without a result, the command that prints it instead.
void show_run_with(CommandContext& world, const RunView& view, const std::optional<Value>& result) {
  Output& output = world.output;
  show_headline(world, view);
  if (!view.row.error.empty()) output.paragraph(view.row.error, kIndent);
  // The headline names a process that is gone.
  if (view.held_by != kProcessGone) show_hold(world, view);
  if (std::string due = due_text(world, view.row); !due.empty()) {
    output.line(std::string(kIndent) + due);
  }
  if (result) {
    show_payload(world, *result);
  } else {
    output.line(std::string(kIndent) + std::string(world.phrases.show_with) + ":  " +
                command(world, {"state", view.row.thread.text, "--run", view.row.run.text()}));
  }
  if (view.approval) {
    output.line();
    output.paragraph(view.approval->question, kIndent);
    show_how_to_decide(world, *view.approval);
  }
  for (const EffectRow& effect : view.uncertain) {
    output.line(
        std::string(kIndent) +
        format_message(world.phrases.uncertain_effect,
                       {{"effect", one_line(effect.name)},
                        {"node", effect.node},
                        {"time", moment_text(world.settings.time_zone, effect.created_at)}}));
  }
  show_how_to_go_on(world, view.row);
}

}  // namespace

ModuleContext module_context(CommandContext& context) {
  return {context.who,
          context.service,
          context.settings,
          context.output,
          context.clock,
          context.random,
          [&context](const std::vector<std::string>& words) { return command(context, words); }};
}

void show_hold(CommandContext& world, const RunView& view) {
  // The line with the due time follows.
  bool is_due_time = view.held_by.starts_with("due at ") && !due_text(world, view.row).empty();
  if (view.held_by.empty() || is_due_time) return;
  world.output.line(std::string(kIndent) + std::string(world.phrases.held_by) + ":  " +
                    one_line(view.held_by));
}

std::string due_text(const CommandContext& world, const RunRow& row) {
  auto due = due_of(row);
  // The expiry of an approval is shown with the approval.
  if (!due || pause_reason(row) == PauseReason::approval) return "";
  return std::string(world.phrases.due) + " " + moment_text(world.settings.time_zone, *due) + ", " +
         relative_text(world.phrases, *due, world.clock.now());
}

void show_payload(CommandContext& world, const Value& payload) {
  if (payload.is_null()) return;
  const auto& known = world.program.presentation.payload;
  ModuleContext seen = module_context(world);
  if (known && known(seen, payload)) return;
  // Without characters that control the terminal.
  std::string text = payload_text(payload);
  for (std::string_view line : text_lines(text)) {
    world.output.line(std::string(kIndent) + one_line(line));
  }
}

void show_how_to_decide(CommandContext& world, const ApprovalRow& row) {
  const LocalizedText& phrases = world.phrases;
  Output& output = world.output;
  auto stored = terms_of(row);
  if (!stored.ok()) return output.print_error(stored.error().message);
  std::vector<std::pair<std::string, std::vector<std::string>>> lines;
  std::size_t width = 0;
  for (const ApprovalChoice& choice : stored->choices) {
    lines.emplace_back(choice_label(phrases, *stored, choice),
                       choice_words(world, row, *stored, choice));
    width = std::max(width, columns(lines.back().first));
  }
  for (const auto& [label, words] : lines) {
    output.line(std::string(kIndent) + padded(label + ":", width + 3) +
                output.styled(Style::bold, command(world, words)));
  }
  if (std::string votes = votes_text(phrases, row); !votes.empty()) {
    output.line(std::string(kIndent) + votes);
  }
  if (!row.roles.empty()) output.line(std::string(kIndent) + roles_text(phrases, row));
  std::string expiry(phrases.never_expires);
  if (row.expires_at != never_expires) {
    expiry = std::string(phrases.expires) + " " +
             moment_text(world.settings.time_zone, row.expires_at) + ", " +
             relative_text(phrases, row.expires_at, world.clock.now());
    if (stored->when_expired != "reject") {
      expiry += "; " + format_message(phrases.after_expiry, {{"choice", stored->when_expired}});
    }
  }
  output.line(std::string(kIndent) + expiry);
}

std::string votes_text(const LocalizedText& phrases, const ApprovalRow& row) {
  auto terms = terms_of(row);
  auto reply = reply_of(row);
  if (!terms.ok() || !reply.ok() || terms->needs == 1) return "";
  std::string who;
  std::size_t most = most_votes(reply->votes);
  bool is_split = most < reply->votes.size();
  for (const ApprovalVote& vote : reply->votes) {
    who += (who.empty() ? "" : ", ") + one_line(vote.decided_by);
    if (is_split || vote.choice != "approve") who += " (" + one_line(vote.choice) + ")";
  }
  return format_message(
      who.empty() ? phrases.votes_short : phrases.votes,
      {{"n", std::to_string(most)}, {"needs", std::to_string(terms->needs)}, {"who", who}});
}

void show_headline(CommandContext& world, const RunView& view) {
  const auto& more = world.program.presentation.title;
  std::string beside = more ? one_line(more(view)) : "";
  std::string title = view.row.graph + (beside.empty() ? "" : " " + beside);
  std::string stands = view.row.status == RunStatus::paused && view.approval
                           ? std::string(world.phrases.pending_decision)
                           : outcome_word(world.phrases, view.row);
  if (!view.code_gone.empty()) {
    stands = list_text_of(world.settings.language).code_gone;
  } else if (view.held_by == kProcessGone || is_left(world, view.row)) {
    stands += ": " + std::string(world.phrases.process_gone);
  }
  StatusMark mark = mark_of(world.output, view.row.status);
  world.output.line(world.output.styled(mark.style, mark.glyph) + " " +
                    world.output.styled(Style::bold, title) + ": " + stands + "  (" +
                    std::string(world.phrases.thread) + " " + one_line(view.row.thread.text) + ")");
}

bool is_left(const CommandContext& world, const RunRow& row) {
  if (row.status != RunStatus::running || !world.local) return false;
  auto is_alive = world.local->store.is_alive(row.session);
  return is_alive.ok() && !*is_alive;
}

void show_run(CommandContext& world, const RunView& view) {
  show_run_with(world, view, result_of(world, view));
}

void show_run_after(CommandContext& world, const RunView& view, const Value& shown) {
  Value result = result_of(world, view);
  if (result == shown) return show_run_again(world, view);
  show_run_with(world, view, std::move(result));
}

void show_run_again(CommandContext& world, const RunView& view) {
  show_run_with(world, view, std::nullopt);
}

ExitCode end_of(CommandContext& world, const RunView& view) {
  const RunRow& row = view.row;
  if (row.status == RunStatus::failed) {
    bool is_sentence = row.error.ends_with('.') || row.error.ends_with('?') ||
                       row.error.ends_with('!') || row.error.empty();
    world.output.print_error("Thread \"" + row.thread.text + "\" failed at " + row.node + ": " +
                             row.error + (is_sentence ? "" : ".") + " See " +
                             command(world, {"history", row.thread.text}) + ".");
  }
  return exit_code_of(row.status);
}

void show_approval_in_full(CommandContext& world, const ApprovalRow& row) {
  const LocalizedText& phrases = world.phrases;
  Output& output = world.output;
  std::string mark = mark_of(world, row);
  output.line((mark.empty() ? "" : mark + " ") +
              output.styled(Style::bold, one_line(row.question)));
  output.line(std::string(kIndent) + row.graph + " / " + row.node + ", " +
              std::string(phrases.thread) + " " + one_line(row.thread.text));
  output.line(std::string(kIndent) + std::string(phrases.requested) + " " +
              moment_text(world.settings.time_zone, row.created_at) + ": " +
              std::string(status_label(phrases, row.status)));
  output.line();
  show_payload(world, payload_of(row));
  show_changes(world, row);
  output.line();
  if (row.status == ApprovalStatus::open) return show_how_to_decide(world, row);
  show_reply(world, row);
  show_expiry(world, row);
  if (row.decided_by.empty()) return;
  output.line(std::string(kIndent) + std::string(phrases.decided_by) + " " +
              decider_of(phrases, row) + ", " +
              moment_text(world.settings.time_zone, row.decided_at));
  if (row.comment.empty()) return;
  output.paragraph(std::string(phrases.comment) + ": " + row.comment, kIndent);
}

std::string decider_of(const LocalizedText& phrases, const ApprovalRow& row) {
  if (row.on_behalf_of.empty()) return one_line(row.decided_by);
  return format_message(phrases.on_behalf_of,
                        {{"who", one_line(row.decided_by)}, {"whom", one_line(row.on_behalf_of)}});
}

std::string acting_name(const CommandContext& world, const std::optional<std::string>& named) {
  if (named) return *named;
  return has_server_key(world.settings) ? std::string() : world.settings.login;
}

void show_approval_line(CommandContext& world, const ApprovalRow& row) {
  const LocalizedText& phrases = world.phrases;
  Output& output = world.output;
  bool open = row.status == ApprovalStatus::open;
  std::string state(status_label(phrases, row.status));
  bool expires = row.expires_at != never_expires;
  if (open && expires) state = relative_text(phrases, row.expires_at, world.clock.now());
  if (open && !votes_text(phrases, row).empty()) {
    state = format_message(phrases.votes_short,
                           {{"n", std::to_string(most_votes(reply_of(row)->votes))},
                            {"needs", std::to_string(terms_of(row)->needs)}});
  }
  std::string line = row.interrupt.text() + "  " + padded(state, 16) + "  ";
  if (std::string mark = mark_of(world, row); !mark.empty()) line += mark + "  ";
  output.line(line + one_line(row.question) + "  (" + one_line(row.thread.text) + ")");
}

}  // namespace belay::cli
