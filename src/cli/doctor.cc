#include "cli/doctor.h"

#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/encryption_diagnostics.h"
#include "cli/model_diagnostics.h"
#include "cli/postgres_diagnostics.h"
#include "cli/process_context.h"
#include "cli/redis_tier.h"
#include "cli/remote_runs.h"
#include "cli/store_diagnostics.h"
#include "cli/store_name.h"
#include "store/postgres/address.h"

namespace belay::cli {
namespace {

constexpr const char* kDoctorHelp =
    R"(Inspects the store and changes nothing. Exit code 6 if the store cannot be used.

Example:
  {p} doctor --store sqlite:/var/lib/belay/belay.db
)";

std::string_view kind_name(Diagnostic::Kind kind) {
  switch (kind) {
    case Diagnostic::Kind::good:
      return "ok";
    case Diagnostic::Kind::warning:
      return "warning";
    case Diagnostic::Kind::bad:
      return "bad";
  }
  return "";
}

std::string mark_of(const Output& output, Diagnostic::Kind kind) {
  switch (kind) {
    case Diagnostic::Kind::good:
      return output.styled(Style::good, output.glyph("✓", "ok"));
    case Diagnostic::Kind::warning:
      return output.styled(Style::warning, "!");
    case Diagnostic::Kind::bad:
      return output.styled(Style::bad, output.glyph("✗", "x"));
  }
  return "";
}

}  // namespace

Value show_finding(const Diagnostic& finding, Output& output) {
  output.line(mark_of(output, finding.kind) + " " + padded(finding.name, 9) + "  " +
              one_line(finding.detail));
  if (!finding.advice.empty()) {
    output.line("            " + std::string(output.glyph("→", "->")) + " " +
                one_line(finding.advice));
  }
  return Value::object({{"name", finding.name},
                        {"status", kind_name(finding.kind)},
                        {"detail", finding.detail},
                        {"advice", finding.advice}});
}

ExitCode show_findings(const std::string& what, const std::string& where,
                       const std::vector<Diagnostic>& findings, Output& output) {
  bool usable = true;
  Value::Array documents;
  for (const Diagnostic& finding : findings) {
    usable = usable && finding.kind != Diagnostic::Kind::bad;
    documents.push_back(show_finding(finding, output));
  }
  output.document(
      Value::object({{what, where}, {"usable", usable}, {"checks", std::move(documents)}}));
  return usable ? ExitCode::done : ExitCode::store;
}

namespace {

ExitCode examine_store(const Settings& settings, Output& output, Clock& clock) {
  std::vector<Diagnostic> findings =
      postgres::is_postgres_url(settings.store)
          ? diagnose_postgres(settings.store, settings.notify_url, clock)
          : diagnose_store(settings.store, clock);
  for (Diagnostic& finding : diagnose_encryption(settings)) findings.push_back(std::move(finding));
  for (Diagnostic& finding : diagnose_models(settings, clock)) {
    // The store is usable without the model.
    if (finding.kind == Diagnostic::Kind::bad) finding.kind = Diagnostic::Kind::warning;
    findings.push_back(std::move(finding));
  }
  for (Diagnostic& finding : diagnose_redis(settings)) findings.push_back(std::move(finding));
  return show_findings("store", shown_store(settings.store), findings, output);
}

class DoctorCommand final : public ProcessCommand {
 public:
  CommandResult run_in_process(const ProcessContext& context) override {
    return examine_store(context.settings, context.output, context.clock);
  }
  Task<CommandResult> run(CommandContext& world) override {
    return world.remote->examine(world.output);
  }
};

}  // namespace

CommandSpec builtin::doctor_command(const Program&) {
  return {.path = {"doctor"},
          .line = "Diagnose the store and recommend actions",
          .end = kDoctorHelp,
          .traits = {.asks_server = true},
          .make = make_command<DoctorCommand>};
}

}  // namespace belay::cli
