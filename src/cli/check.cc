// `belay check`: checks all rules over the whole store.

#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/count_text.h"
#include "service/json_encode.h"

namespace belay::cli {
namespace {

constexpr const char* kCheckHelp =
    R"(Reads the whole store and checks every rule. Exit code 1 if a rule is violated.

Example:
  {p} check
)";

class CheckCommand final : public Command {
 public:
  Task<CommandResult> run(CommandContext& world) override {
    BELAY_CO_TRY(CheckReport report, co_await world.service.check(world.who));
    Output& output = world.output;
    for (const Violation& violation : report.violations) {
      output.line(output.styled(Style::bad, output.glyph("✗", "x")) + " " + violation.rule + " " +
                  one_line(violation.subject) + ": " + one_line(violation.message));
    }
    std::string looked_at = count_text(report.runs, "run") + ", " +
                            count_text(report.checkpoints, "checkpoint") + ", " +
                            count_text(report.approvals, "approval");
    if (report.violations.empty()) {
      output.line(output.styled(Style::good, output.glyph("✓", "ok")) + " All " +
                  count_text(check_rules().size(), "rule") + " passed: " + looked_at + ".");
    } else {
      output.line(count_text(report.violations.size(), "violation") + " in " + looked_at +
                  ". Keep a copy of the store, and do not resume the named runs.");
    }
    output.document(check_document(report));
    co_return report.violations.empty() ? ExitCode::done : ExitCode::failed;
  }
};

}  // namespace

CommandSpec builtin::check_command(const Program&) {
  return {.path = {"check"},
          .line = "Check the rules of the store",
          .end = kCheckHelp,
          .make = make_command<CheckCommand>};
}

}  // namespace belay::cli
