// `belay approvals approve`, `reject`, `choose`, `answer`, `happened` and `redo`.

#include "belay/command.h"
#include "belay/limits.h"
#include "cli/approval_answer.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/documents.h"
#include "cli/payload_editor.h"
#include "cli/shared_options.h"
#include "cli/show.h"

namespace belay::cli {
namespace {

constexpr const char* kDecideHelp =
    R"(Of several decisions, the first is accepted. The same decision again shows the current state
(exit code 0); another one, or one after the expiry, changes nothing (exit code 4). The run
continues in this process. --edit opens the editor of VISUAL or EDITOR on the payload; --edit FILE
reads it as JSON: show it with {p} approvals show ID --json. An approval that requires a role needs
--role, or BELAY_ROLES; on a server, the roles of the API key.

Examples:
  {p} approvals approve 1f0c64 --by ana
  {p} approvals approve first --edit
  {p} approvals reject 1f0c64 --comment "not like this"
  {p} approvals choose 1f0c64 rewrite --comment "shorter"
  {p} approvals answer 1f0c64 --set amount=120 --set reason="as agreed"
)";

// Does not print the payload again: `run` and `approvals show` print it before the decision.
void show_decision(CommandContext& world, const DecisionResult& answer) {
  const ApprovalRow& row = answer.approval;
  const LocalizedText& phrases = world.phrases;
  if (row.status == ApprovalStatus::open) {
    world.output.line(votes_text(phrases, row));
    return show_run_after(world, answer.view, payload_of(row));
  }
  std::string choice = choice_of(row);
  std::string_view said = phrases.same_decision;
  if (answer.kind == DecisionResult::Kind::accepted) {
    bool approved = row.status == ApprovalStatus::approved;
    said = approved ? phrases.won_approved : phrases.won_rejected;
    if (choice != "approve" && choice != "reject") said = phrases.won_chosen;
  }
  world.output.line(
      format_message(said, {{"who", decider_of(phrases, row)}, {"choice", one_line(choice)}}));
  bool is_known =
      answer.kind == DecisionResult::Kind::duplicate && is_final(answer.view.row.status);
  if (is_known) return show_run_again(world, answer.view);
  show_run_after(world, answer.view, payload_of(row));
}

Value decision_document(const Program& program, const DecisionResult& answer) {
  return belay::decision_document(answer, program.presentation.approval_document);
}

// The decision that the words of a command make. An empty choice: the command line names it.
struct ChoiceWord {
  std::string choice;
  bool takes_answer = true;
  bool takes_edit = true;
};

class DecideCommand final : public Command {
 public:
  explicit DecideCommand(ChoiceWord word) : word_(std::move(word)), choice_(word_.choice) {}

  void declare(CommandWords& words) override {
    words.argument("ID", id_, "The approval, or its thread")
        .required()
        .completes(NamesToComplete::approvals);
    if (word_.choice.empty()) {
      words.argument("CHOICE", choice_, "One of its choices, as `approvals show` lists them")
          .required();
    }
    words.option("--by", by_, "Decider (default: login name)");
    declare_roles(words, roles_);
    words.option("--comment", comment_, "Comment that is stored with the decision");
    if (word_.takes_edit) {
      words
          .text_option(
              "--edit", edit_file_,
              "Edit the payload in VISUAL or EDITOR, or read it from a JSON file (- is stdin)")
          .optional_value();
    }
    if (!word_.takes_answer) return;
    words.option("--set", set_, "member=value of the answer; repeatable");
    words.option("--answer", answer_, "The answer as a JSON object");
  }

  Result<Done> validate(const CommandValidation& inputs) override {
    BELAY_CHECK(check_name("approval id", id_));
    BELAY_CHECK(check_name("choice", choice_));
    BELAY_CHECK(check_decider(by_));
    BELAY_CHECK(complete_roles(inputs.settings, roles_));
    if (!edit_file_ || edit_file_->empty()) return Done{};
    BELAY_TRY(std::string text, read_input(*edit_file_, limits::record_bytes_max));
    auto edited = parse_json(text);
    if (!edited.ok()) {
      return error(ErrorCode::invalid,
                   "Invalid edited payload: " + edited.error().message + " Nothing was decided.");
    }
    edited_ = *std::move(edited);
    return Done{};
  }

  Task<CommandResult> run(CommandContext& world) override {
    Whose any;
    BELAY_CO_TRY(ApprovalRow row, co_await world.service.approval(world.who, id_, std::move(any)));
    BELAY_CO_TRY(Decision decision, take_decision(world, row));
    // If a signal arrives, the unfinished runs are printed. This run is one of them only if the
    // decision continues it.
    if (row.status == ApprovalStatus::open) world.progress.begins(row.thread);
    BELAY_CO_TRY(DecisionResult answer,
                 co_await world.service.decide(world.who, row.interrupt, std::move(decision)));
    world.progress.rests(row.thread);
    if (!is_made(answer)) {
      std::string look =
          ". Show it with " + command(world, {"state", answer.approval.thread.text}) + ".";
      Error refused = error(ErrorCode::conflict, refusal_text(answer) + look);
      world.output.fail(refused, decision_document(world.program, answer));
      co_return exit_code_of(refused.code);
    }
    show_decision(world, answer);
    world.output.document(decision_document(world.program, answer));
    if (answer.kind == DecisionResult::Kind::duplicate) co_return ExitCode::done;
    co_return end_of(world, answer.view);
  }

 private:
  Result<Decision> take_decision(const CommandContext& world, const ApprovalRow& row) {
    BELAY_TRY(ApprovalTerms terms, terms_of(row));
    Decision decision;
    decision.choice = choice_;
    decision.approved = choice_ == "approve";
    decision.decided_by = acting_name(world, by_);
    decision.roles = std::move(roles_);
    decision.comment = std::move(comment_);
    BELAY_TRY(decision.answer, answer_from(terms.answer_schema, answer_, set_));
    if (edited_) {
      decision.edited = std::move(edited_);
    } else if (edit_file_) {
      BELAY_TRY(decision.edited, edit_payload(payload_of(row)));
    }
    return decision;
  }

  ChoiceWord word_;
  std::string id_;
  std::string choice_;
  std::optional<std::string> by_;
  std::vector<std::string> roles_;  // override those of the settings
  std::string comment_;
  std::optional<std::string> edit_file_;  // "-" for standard input; empty: the editor
  std::optional<Value> edited_;           // its parsed contents
  std::vector<std::string> set_;
  std::optional<std::string> answer_;
};

CommandSpec deciding(std::string name, std::string line, ChoiceWord word) {
  return {.path = {"approvals", std::move(name)},
          .line = std::move(line),
          .end = kDecideHelp,
          .make = [word] { return std::make_unique<DecideCommand>(word); }};
}

}  // namespace

CommandSpec builtin::approvals_approve_command(const Program&) {
  return deciding("approve", "Approve and resume the run", {.choice = "approve"});
}

CommandSpec builtin::approvals_reject_command(const Program&) {
  return deciding("reject", "Reject and resume the run at its node for rejections",
                  {.choice = "reject", .takes_answer = false, .takes_edit = false});
}

CommandSpec builtin::approvals_choose_command(const Program&) {
  return deciding("choose", "Decide by one of the choices and resume the run", {});
}

CommandSpec builtin::approvals_answer_command(const Program&) {
  return deciding("answer", "Approve with an answer and resume the run", {.choice = "approve"});
}

CommandSpec builtin::approvals_happened_command(const Program&) {
  return deciding("happened", "Say that an effect with an unknown outcome has happened",
                  {.choice = "happened", .takes_answer = false});
}

CommandSpec builtin::approvals_redo_command(const Program&) {
  return deciding("redo", "Do an effect with an unknown outcome again",
                  {.choice = "redo", .takes_answer = false, .takes_edit = false});
}

}  // namespace belay::cli
