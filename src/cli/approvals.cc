// `belay approvals`: list, show, approve and reject.

#include "belay/command.h"
#include "belay/limits.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/documents.h"
#include "cli/shared_options.h"
#include "cli/show.h"

namespace belay::cli {
namespace {

constexpr const char* kApprovalsHelp =
    R"(ID is an approval id, its first 6 or more characters, or the thread of a waiting run.

Examples:
  {p} approvals list              # pending approvals
  {p} approvals list --all        # also decided, expired and closed approvals
  {p} approvals show 1f0c64
  {p} approvals approve 1f0c64 --by ana
  {p} approvals reject first --comment "not like this"
)";
constexpr const char* kDecideHelp =
    R"(Of several decisions, the first is accepted. The same decision again shows the current state
(exit code 0); another one, or one after the expiry, changes nothing (exit code 4). The run
continues in this process. --edit reads the payload as JSON: show it with {p} approvals show ID
--json. An approval that requires a role needs --role, or BELAY_ROLES; on a server, the roles of the
API key.

Examples:
  {p} approvals approve 1f0c64 --by ana
  {p} approvals approve first --edit payload.json
  {p} approvals reject 1f0c64 --comment "not like this"
)";
void show_decision(CommandContext& world, const DecisionResult& answer) {
  const ApprovalRow& row = answer.approval;
  const LocalizedText& phrases = world.phrases;
  std::string_view said = phrases.same_decision;
  if (answer.kind == DecisionResult::Kind::accepted) {
    bool approved = row.status == ApprovalStatus::approved;
    said = approved ? phrases.won_approved : phrases.won_rejected;
  }
  world.output.line(format_message(said, {{"who", decider_of(phrases, row)}}));
  show_run(world, answer.view);
}

Value decision_document(const Program& program, const DecisionResult& answer) {
  return belay::decision_document(answer, program.presentation.approval_document);
}

Task<Result<std::vector<ApprovalRow>>> find_approvals(CommandContext& world, bool all) {
  ApprovalPage page;
  page.only_open = !all;
  return world.service.approvals(world.who, std::move(page));
}

class ApprovalsListCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    words.flag("--all", all_, "Include decided, expired and closed approvals");
  }

  Task<CommandResult> run(CommandContext& world) override {
    BELAY_CO_TRY(std::vector<ApprovalRow> rows, co_await find_approvals(world, all_));
    if (rows.empty()) world.output.line(world.phrases.no_approvals);
    Value::Array documents;
    for (const ApprovalRow& row : rows) {
      show_approval_line(world, row);
      documents.push_back(approval_document(world.program, row));
    }
    if (const auto& after = world.program.presentation.after_approvals; after && !all_) {
      BELAY_CO_TRY(std::vector<ApprovalRow> every, co_await find_approvals(world, true));
      ModuleContext seen = module_context(world);
      after(seen, every);
    }
    world.output.document(Value::object({{"approvals", std::move(documents)}}));
    co_return ExitCode::done;
  }

 private:
  bool all_ = false;
};

class ApprovalsShowCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    words.argument("ID", id_, "The approval, or its thread")
        .required()
        .completes(NamesToComplete::approvals);
  }
  Result<Done> validate(const CommandValidation&) override {
    return check_name("approval id", id_);
  }

  Task<CommandResult> run(CommandContext& world) override {
    Whose any;
    BELAY_CO_TRY(ApprovalRow row, co_await world.service.approval(world.who, id_, std::move(any)));
    show_approval_in_full(world, row);
    world.output.document(approval_document(world.program, row));
    co_return ExitCode::done;
  }

 private:
  std::string id_;
};

// `approvals approve` and `approvals reject`.
class DecideCommand final : public Command {
 public:
  explicit DecideCommand(bool approved) : approved_(approved) {}

  void declare(CommandWords& words) override {
    words.argument("ID", id_, "The approval, or its thread")
        .required()
        .completes(NamesToComplete::approvals);
    words.option("--by", by_, "Decider (default: login name)");
    declare_roles(words, roles_);
    words.option("--comment", comment_, "Comment that is stored with the decision");
    if (!approved_) return;
    words.option("--edit", edit_file_, "JSON file with the edited payload; - for standard input");
  }

  Result<Done> validate(const CommandValidation& inputs) override {
    BELAY_CHECK(check_name("approval id", id_));
    BELAY_CHECK(check_decider(by_));
    BELAY_CHECK(complete_roles(inputs.settings, roles_));
    if (!edit_file_) return Done{};
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
    Decision decision = take_decision(world);
    // If a signal arrives, the unfinished runs are printed. This run is one of them only if the
    // decision continues it.
    if (row.status == ApprovalStatus::open) world.progress.begins(row.thread);
    BELAY_CO_TRY(DecisionResult answer,
                 co_await world.service.decide(world.who, row.interrupt, std::move(decision)));
    world.progress.rests(row.thread);
    if (!is_made(answer)) {
      std::string look =
          ". Show it with " + world.settings.call + " state " + answer.approval.thread.text + ".";
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
  Decision take_decision(const CommandContext& world) {
    Decision decision;
    decision.approved = approved_;
    decision.decided_by = acting_name(world, by_);
    decision.roles = std::move(roles_);
    decision.comment = std::move(comment_);
    decision.edited = std::move(edited_);
    return decision;
  }

  bool approved_;
  std::string id_;
  std::optional<std::string> by_;
  std::vector<std::string> roles_;  // override those of the settings
  std::string comment_;
  std::optional<std::string> edit_file_;  // "-" for standard input
  std::optional<Value> edited_;           // its parsed contents
};

}  // namespace

CommandSpec builtin::approvals_command(const Program&) {
  return {.path = {"approvals"}, .line = "List, show and decide approvals", .end = kApprovalsHelp};
}

CommandSpec builtin::approvals_list_command(const Program&) {
  return {.path = {"approvals", "list"},
          .line = "List pending approvals",
          .end = kApprovalsHelp,
          .make = make_command<ApprovalsListCommand>};
}

CommandSpec builtin::approvals_show_command(const Program&) {
  return {.path = {"approvals", "show"},
          .line = "Show one approval in full",
          .end = kApprovalsHelp,
          .make = make_command<ApprovalsShowCommand>};
}

CommandSpec builtin::approvals_approve_command(const Program&) {
  return {.path = {"approvals", "approve"},
          .line = "Approve and resume the run",
          .end = kDecideHelp,
          .make = [] { return std::make_unique<DecideCommand>(true); }};
}

CommandSpec builtin::approvals_reject_command(const Program&) {
  return {.path = {"approvals", "reject"},
          .line = "Reject and end the run without saving",
          .end = kDecideHelp,
          .make = [] { return std::make_unique<DecideCommand>(false); }};
}

}  // namespace belay::cli
