#include "agents/research/analysis/batch_command.h"

#include "agents/research/analysis/analysis_batch.h"
#include "agents/research/analysis/analysis_command.h"
#include "agents/research/analysis/analysis_documents.h"
#include "agents/research/analysis/request_options.h"
#include "agents/research/analysis/results_json.h"
#include "belay/module.h"

namespace belay::research {
namespace {

constexpr const char* kBatchHelp =
    R"(Starts an analysis of each company in a queue; workers execute them. FILE has one
ticker a line, or TICKER=CIK; "#" begins a comment, "-" is standard input. All lines are checked
before the first analysis starts. Sent again with the same --batch, it starts nothing twice.

Examples:
  {p} research batch tickers.txt --peers MSFT,NVDA --yes
  {p} research batch tickers.txt --batch friday --queue research --wait
  {p} research list --batch friday
)";

// The exit code of a batch that was waited for: the most serious one of its analyses.
ExitCode code_of(const std::vector<ListedAnalysis>& all) {
  ExitCode code = ExitCode::done;
  for (const ListedAnalysis& each : all) {
    if (!each.run) continue;
    bool is_complete =
        each.run->status == RunStatus::completed && each.run->outcome != "incomplete";
    if (is_complete) continue;
    if (each.run->status != RunStatus::paused) return ExitCode::failed;
    code = ExitCode::waiting;
  }
  return code;
}

class Batch final : public ModuleCommand {
 public:
  void declare(CommandWords& words) override {
    words.argument("FILE", file_, "One ticker a line, or TICKER=CIK; -: standard input").required();
    words.option("--batch", order_.batch, "Id of the batch (default: a new one)");
    words.option("--queue", order_.queue, "Queue whose workers execute it").shows_default();
    words.flag("--wait", waits_, "Wait until all have ended or wait for a decision");
    options_.declare(words);
  }

  Result<Done> validate(const ModuleSettings& settings) override {
    BELAY_TRY(order_.request, options_.request(settings, OrderReader::worker));
    BELAY_TRY(std::string text, read_input(file_, kTickerFileBytesMax));
    auto tickers = tickers_in(text);
    if (!tickers.ok()) return in_file(std::move(tickers).error());
    order_.tickers = *std::move(tickers);
    BatchOrder checked = order_;
    if (checked.batch.empty()) checked.batch = "new";
    auto members = check_batch(settings.user, checked);
    return members.ok() ? Result<Done>(Done{}) : Result<Done>(in_file(members.error()));
  }

  Task<Result<ExitCode>> run(ModuleContext& world) override {
    if (order_.batch.empty()) order_.batch = random_uuid(world.random).text();
    AnalysisAccess at = access_of(world);
    BELAY_CO_TRY(std::vector<BatchMember> members, check_batch(at.owner, order_));
    world.output.progress("Batch " + order_.batch);
    Instant now = world.clock.now();
    BELAY_CO_CHECK(co_await list_batch(at, members, now));
    std::string queue = order_.queue;
    BELAY_CO_CHECK(co_await start_batch(at, std::move(queue), members));
    if (waits_) BELAY_CO_CHECK(co_await wait_for_batch(at, members));
    BELAY_CO_TRY(std::vector<ListedAnalysis> all, co_await batch_states(at, members));
    show(world, all);
    co_return waits_ ? code_of(all) : ExitCode::done;
  }

 private:
  Error in_file(Error why) const {
    why.message = "The file \"" + file_ + "\" is not a list of companies: " + why.message;
    return why;
  }

  void show(ModuleContext& world, const std::vector<ListedAnalysis>& all) const {
    Output& output = world.output;
    output.line("Batch " + order_.batch + " in the queue \"" + order_.queue + "\":");
    Value::Array documents;
    for (const ListedAnalysis& each : all) {
      std::string outcome = each.run ? each.run->outcome : std::string();
      output.line("  " + padded(each.row.ticker, 12) + padded(listed_status(each), 12) +
                  padded(outcome, 18) + each.row.id);
      documents.push_back(listed_document(each));
    }
    if (!waits_) {
      output.line("Show it: " + world.command_line({"research", "list", "--batch", order_.batch}));
      output.line("A worker executes it: " + world.command_line({"worker", "--until-idle"}));
    }
    output.document(Value::object(
        {{"batch", order_.batch}, {"queue", order_.queue}, {"analyses", std::move(documents)}}));
  }

  std::string file_;
  BatchOrder order_;
  bool waits_ = false;
  RequestOptions options_;
};

}  // namespace

ModuleCommandSpec batch_command() {
  return {.path = {"research", "batch"},
          .line = "Analyze the companies of a file, in a queue",
          .end = kBatchHelp,
          .creates_store = true,
          .make = make_module_command<Batch>};
}

}  // namespace belay::research
