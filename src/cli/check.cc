// belay check: every rule that must hold of a store, over the whole store.

#include "belay/check.h"

#include "cli/verbs.h"

namespace belay::cli {
namespace {

std::string count_text(std::size_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

Value violation_document(const Violation& violation) {
  return Value::object(
      {{"rule", violation.rule}, {"subject", violation.subject}, {"message", violation.message}});
}

}  // namespace

Task<Answered> check_whole_store(World& world) {
  CheckScope scope;
  scope.tenant = tenant_of(world);
  scope.graphs = world.graphs;
  scope.collections = world.program.collections;
  BELAY_CO_TRY(CheckReport report, co_await check_store(world.store, std::move(scope)));
  Output& output = world.output;
  Value::Array documents;
  for (const Violation& violation : report.violations) {
    output.line(output.styled(Style::bad, output.glyph("✗", "x")) + " " + violation.rule + " " +
                one_line(violation.subject) + ": " + one_line(violation.message));
    documents.push_back(violation_document(violation));
  }
  std::string looked_at = count_text(report.runs, "run") + ", " +
                          count_text(report.checkpoints, "checkpoint") + ", " +
                          count_text(report.approvals, "approval");
  if (report.violations.empty()) {
    output.line(output.styled(Style::good, output.glyph("✓", "ok")) + " All " +
                count_text(check_rules().size(), "rule") + " hold: " + looked_at + ".");
  } else {
    output.line(count_text(report.violations.size(), "violation") + " in " + looked_at +
                ". Keep a copy of the store, and do not go on with the runs that are named.");
  }
  output.document(Value::object({
      {"violations", std::move(documents)},
      {"rules", static_cast<std::uint64_t>(check_rules().size())},
      {"runs", static_cast<std::uint64_t>(report.runs)},
      {"checkpoints", static_cast<std::uint64_t>(report.checkpoints)},
      {"approvals", static_cast<std::uint64_t>(report.approvals)},
  }));
  co_return report.violations.empty() ? ExitCode::done : ExitCode::failed;
}

}  // namespace belay::cli
