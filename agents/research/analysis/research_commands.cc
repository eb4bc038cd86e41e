#include "agents/research/analysis/research_commands.h"

#include <fstream>

#include "agents/research/analysis/analysis_command.h"
#include "agents/research/analysis/analysis_documents.h"
#include "agents/research/analysis/batch_command.h"
#include "agents/research/analysis/coordinator.h"
#include "agents/research/analysis/report_document.h"
#include "agents/research/analysis/request_options.h"
#include "agents/research/analysis/results_json.h"
#include "agents/research/report/html_report.h"
#include "agents/research/report/markdown_report.h"
#include "belay/module.h"

namespace belay::research {
namespace {

constexpr const char* kResearchHelp =
    R"(Thirteen specialists analyze a company from its SEC filings, in 53 subtasks.
Each subtask ends in a commit: after a crash, completed ones are not executed again.
Numbers are calculated from the filings, never asked of a model. ANALYSIS is the id
of an analysis, or its beginning.

Examples:
  {p} research analyze AAPL --peers MSFT,NVDA
  {p} research show 3f2a
  {p} research resume 3f2a
  {p} research retry 3f2a valuation
  {p} research batch tickers.txt --queue research --wait
)";

// Shows how far an analysis has come. Returns the exit code.
ExitCode report_progress(ModuleContext& world, const AnalysisView& view) {
  Output& output = world.output;
  const RunView& run = view.run;
  const std::string& id = run.row.thread.text;
  for (const auto& [name, progress] : progress_of(view.state)) {
    std::string line = "  " + padded(name, 22) + progress + " subtasks";
    auto current = view.current.find(name);
    if (current != view.current.end()) line += "  now: " + current->second;
    auto found = view.state.specialists.find(name);
    if (found != view.state.specialists.end() && !found->second.failure.empty()) {
      line += "  " + output.styled(Style::bad, one_line(found->second.failure));
    }
    output.line(line);
  }
  if (!view.state.request.checkpoints) {
    output.line("Checkpoints are off: each specialist is one step.");
  }
  if (run.row.status == RunStatus::paused && run.approval) {
    output.line(one_line(run.approval->question));
    output.line("Continue: " + world.command_line({"research", "resume", id}));
    return ExitCode::waiting;
  }
  if (run.row.status == RunStatus::failed) {
    output.line(output.styled(Style::bad, "Failed: ") + one_line(run.row.error));
    return ExitCode::failed;
  }
  if (run.row.status == RunStatus::cancelled) return ExitCode::cancelled;
  output.line("Show it: " + world.command_line({"research", "show", id}));
  return run.row.outcome == "incomplete" ? ExitCode::failed : ExitCode::done;
}

// The same for a run that was started or continued, and has ended or waits.
Result<ExitCode> reported(ModuleContext& world, RunView run) {
  AnalysisView view;
  BELAY_TRY(view.state, decode_json<Analysis>(run.state));
  world.output.document(summary_document(run, view.state));
  view.run = std::move(run);
  return report_progress(world, view);
}

class Analyze final : public ModuleCommand {
 public:
  void declare(CommandWords& words) override {
    words.argument("TICKER", ticker_, "The company, such as AAPL").required();
    options_.declare(words);
  }
  Result<Done> validate(const ModuleSettings& settings) override {
    BELAY_TRY(request_, options_.request(settings));
    request_.ticker = ticker_;
    return check_order(request_);
  }
  Task<Result<ExitCode>> run(ModuleContext& world) override {
    std::string id = random_uuid(world.random).text();
    BELAY_CO_TRY(StartRun start, prepare_analysis(world.settings.user, id, request_));
    world.output.line("Analysis " + id);
    Instant now = world.clock.now();
    AnalysisAccess at = access_of(world);
    AnalysisRequest request = request_;
    BELAY_CO_CHECK(co_await list_new_analysis(at, std::move(id), std::move(request), now));
    BELAY_CO_TRY(RunView run, co_await world.service.start(world.who, std::move(start)));
    co_return reported(world, std::move(run));
  }

 private:
  std::string ticker_;
  RequestOptions options_;
  AnalysisRequest request_;
};

class Show final : public AnalysisCommand {
 protected:
  Task<Result<ExitCode>> run_for(ModuleContext& world, const AnalysisAccess& at) override {
    std::string id = this->id();
    BELAY_CO_TRY(AnalysisView view, co_await find_analysis(at, std::move(id)));
    Output& output = world.output;
    output.line(output.styled(Style::bold, view.state.request.ticker) + "  " +
                one_line(view.state.facts.entity) + "  as of " + view.state.facts.asOf);
    report_progress(world, view);
    for (const Finding& finding : view.results.findings) {
      output.line("  " + padded(severity_name(finding.severity), 8) + finding.period_end + "  " +
                  finding.specialist + ": " + finding.code);
    }
    output.document(analysis_document(view));
    co_return ExitCode::done;
  }
};

class Pause final : public AnalysisCommand {
 protected:
  Task<Result<ExitCode>> run_for(ModuleContext& world, const AnalysisAccess& at) override {
    std::string id = this->id();
    Instant now = world.clock.now();
    BELAY_CO_CHECK(co_await pause_analysis(at, std::move(id), now));
    id = this->id();
    BELAY_CO_TRY(AnalysisView view, co_await find_progress(at, std::move(id)));
    world.output.line("Analysis " + this->id() + " pauses before its next subtasks.");
    for (const auto& [specialist, subtask] : view.current) {
      world.output.line("  " + padded(specialist, 22) + "after " + subtask);
    }
    world.output.document(pause_document(view));
    co_return ExitCode::done;
  }
};

// Approves the gate that an analysis waits for, or the execution of unfinished subtasks.
class Resume final : public AnalysisCommand {
 protected:
  Task<Result<ExitCode>> run_for(ModuleContext& world, const AnalysisAccess& at) override {
    std::string id = this->id();
    BELAY_CO_TRY(RunView run, co_await resume_analysis(at, std::move(id)));
    co_return reported(world, std::move(run));
  }
};

// Executes the remaining subtasks of one specialist that did not finish.
class Retry final : public AnalysisCommand {
 public:
  void declare(CommandWords& words) override {
    AnalysisCommand::declare(words);
    words.argument("SPECIALIST", specialist_, "The specialist, such as valuation").required();
  }
  Result<Done> validate(const ModuleSettings&) override { return check_specialist(specialist_); }

 protected:
  Task<Result<ExitCode>> run_for(ModuleContext& world, const AnalysisAccess& at) override {
    std::string id = this->id();
    std::string specialist = specialist_;
    BELAY_CO_TRY(RunView run, co_await retry_specialist(at, std::move(id), std::move(specialist)));
    co_return reported(world, std::move(run));
  }

 private:
  std::string specialist_;
};

// The report is written to a file: it has some megabytes.
class Report final : public AnalysisCommand {
 public:
  void declare(CommandWords& words) override {
    AnalysisCommand::declare(words);
    words.option("--format", format_, "html, or markdown").choices({"html", "markdown"});
    words.option("--output", output_, "File (default: TICKER-DATE, with the ending of the format)");
  }

 protected:
  Task<Result<ExitCode>> run_for(ModuleContext& world, const AnalysisAccess& at) override {
    std::string id = this->id();
    BELAY_CO_TRY(AnalysisView view, co_await find_analysis(at, std::move(id)));
    AnalysisDocument document = report_document(view, world.clock.now());
    bool is_html = format_ == "html";
    std::string text = is_html ? html_report(document) : markdown_report(document);
    if (output_.empty()) {
      output_ = document.ticker + "-" + document.as_of + (is_html ? ".html" : ".md");
    }
    std::ofstream file(output_, std::ios::binary);
    file << text;
    file.close();
    if (!file) {
      co_return error(ErrorCode::invalid, "The file \"" + output_ + "\" cannot be written.");
    }
    world.output.line("Written: " + output_);
    world.output.document(
        Value::object({{"analysis", this->id()}, {"file", output_}, {"bytes", text.size()}}));
    co_return ExitCode::done;
  }

 private:
  std::string format_ = "html";
  std::string output_;
};

class List final : public ModuleCommand {
 public:
  void declare(CommandWords& words) override {
    words.option("--batch", batch_, "Only the analyses of this batch");
    words.option("--limit", limit_, "Maximum number of analyses")
        .range(std::size_t{1}, std::size_t{1000})
        .shows_default();
    words.option("--after", after_, "\"next\" of the previous page");
  }
  Task<Result<ExitCode>> run(ModuleContext& world) override {
    AnalysisAccess at = access_of(world);
    std::string batch = batch_;
    BELAY_CO_TRY(AnalysisListPage page,
                 co_await list_analyses(at, std::move(batch), std::move(after_), limit_));
    if (page.analyses.empty()) {
      world.output.line("No analyses. Start one: belay research analyze TICKER");
    }
    for (const ListedAnalysis& each : page.analyses) {
      world.output.line(each.row.id + "  " + padded(each.row.ticker, 8) +
                        padded(each.row.asOf, 12) + padded(listed_status(each), 12) +
                        moment_text(world.settings.time_zone, each.row.createdAt));
    }
    if (!page.next.empty()) world.output.line("More: " + world.command_line(next_page(page.next)));
    world.output.document(list_document(page));
    co_return ExitCode::done;
  }

 private:
  std::vector<std::string> next_page(const std::string& next) const {
    std::vector<std::string> words = {"research", "list"};
    if (!batch_.empty()) words.insert(words.end(), {"--batch", batch_});
    words.insert(words.end(), {"--after", next});
    return words;
  }

  std::string batch_;
  std::size_t limit_ = 50;
  std::string after_;
};

}  // namespace

std::vector<ModuleCommandSpec> research_commands() {
  auto command = [](std::string name, std::string line, auto make) {
    return ModuleCommandSpec{.path = {"research", std::move(name)},
                             .line = std::move(line),
                             .end = kResearchHelp,
                             .make = make};
  };
  std::vector<ModuleCommandSpec> all;
  all.push_back(
      {.path = {"research"}, .line = "Analyze companies from their filings", .end = kResearchHelp});
  all.push_back(command("analyze", "Analyze a company", make_module_command<Analyze>));
  all.back().creates_store = true;
  all.push_back(command("list", "List analyses, newest first", make_module_command<List>));
  all.push_back(
      command("show", "Show an analysis: progress, findings, figures", make_module_command<Show>));
  all.push_back(
      command("report", "Write the report of an analysis to a file", make_module_command<Report>));
  all.push_back(
      command("pause", "Pause an analysis before its next subtasks", make_module_command<Pause>));
  all.push_back(command("resume",
                        "Continue an analysis that waits: approve its gate, or execute "
                        "what has failed",
                        make_module_command<Resume>));
  all.push_back(command("retry", "Execute the remaining subtasks of one failed specialist",
                        make_module_command<Retry>));
  all.push_back(batch_command());
  return all;
}

}  // namespace belay::research
