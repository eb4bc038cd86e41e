// `belay approvals list` and `show`.

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
  {p} approvals choose first rewrite --comment "shorter"
  {p} approvals answer first --set amount=120
  {p} approvals happened first    # an effect whose outcome is unknown; or: redo
)";

class ApprovalsListCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    words.flag("--all", all_, "Include decided, expired and closed approvals");
    declare_limit(words, limit_);
    words.option("--before", before_, "Only approvals older than this one: its id");
  }

  Result<Done> validate(const CommandValidation&) override {
    if (!before_ || uuid_from(*before_)) return Done{};
    return error(ErrorCode::invalid, "Invalid --before: expected the whole id of an approval.");
  }

  Task<CommandResult> run(CommandContext& world) override {
    ApprovalPage page;
    page.only_open = !all_;
    page.limit = limit_;
    if (before_) page.before = InterruptId(*uuid_from(*before_));
    BELAY_CO_TRY(std::vector<ApprovalRow> rows,
                 co_await world.service.approvals(world.who, std::move(page)));
    if (rows.empty()) world.output.line(world.phrases.no_approvals);
    Value::Array documents;
    for (const ApprovalRow& row : rows) {
      show_approval_line(world, row);
      documents.push_back(approval_document(world.program, row));
    }
    if (const auto& after = world.program.presentation.after_approvals; after && !all_) {
      ApprovalPage all;
      all.only_open = false;
      BELAY_CO_TRY(std::vector<ApprovalRow> every,
                   co_await world.service.approvals(world.who, std::move(all)));
      ModuleContext seen = module_context(world);
      after(seen, every);
    }
    Value next;
    if (rows.size() == limit_) {
      next = rows.back().interrupt.text();
      std::vector<std::string> more{"approvals", "list", "--before", *next.as_string()};
      if (all_) more.insert(more.begin() + 2, "--all");
      world.output.line("More: " + command(world, more));
    }
    world.output.document(
        Value::object({{"approvals", std::move(documents)}, {"next", std::move(next)}}));
    co_return ExitCode::done;
  }

 private:
  bool all_ = false;
  std::size_t limit_ = limits::list_rows_max;
  std::optional<std::string> before_;
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

}  // namespace belay::cli
