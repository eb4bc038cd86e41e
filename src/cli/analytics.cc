// `belay analytics`: the usage of agents for each day, with a chart, and its rebuild.

#include "analytics/usage_chart.h"
#include "belay/command.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/remote_runs.h"
#include "driver/run_driver.h"
#include "usage/usage_flush.h"
#include "usage/usage_reads.h"
#include "usage/usage_rebuild.h"

namespace belay::cli {
namespace {

constexpr const char* kAnalyticsHelp =
    R"(Shows the completed and failed runs of each day (UTC) as a chart, and the totals of each
agent. docs/analytics.md describes what is counted.

Examples:
  {p} analytics
  {p} analytics daily_auditor --days 90
  {p} analytics --json
  {p} analytics --server http://127.0.0.1:8123
)";
constexpr const char* kRebuildHelp =
    R"(Computes the totals of each day again from the runs of the store, for runs that ended in a
program that does not record them. A day of which runs were deleted keeps its totals.

Example:
  {p} analytics rebuild
)";

// The usage as the command shows it.
struct ShownUsage {
  std::vector<analytics::UsageDay> series;  // for the chart
  Value document;
};

// Returns the line of an entry of `summary`.
std::string totals_line(const Value& entry) {
  const std::string* agent = entry["agentId"].as_string();
  auto count = [&entry](const char* member, const char* of) {
    return std::to_string(entry[member].as_int().value_or(0)) + of;
  };
  std::string line = padded(one_line(agent ? *agent : ""), 24) + "  " +
                     count("invocationCount", " runs, ") + count("errorCount", " failed, ") +
                     count("totalRetries", " retries, ") +
                     count("totalInputTokens", " tokens in, ") + count("totalOutputTokens", " out");
  if (!entry["p95LatencyMs"].is_null()) line += ", p95 " + count("p95LatencyMs", " ms");
  return line;
}

// `agent`: empty for all agents.
Task<Result<ShownUsage>> usage_of_store(CommandContext& world, std::string agent, std::string today,
                                        std::int64_t days) {
  Store& store = world.local->store;
  BELAY_CO_CHECK(co_await usage::flush_all_usage(store, world.clock));
  auto records = store_records(store, world.clock, world.who.tenant, UserId());
  ShownUsage shown;
  std::string asked = agent;
  std::string last = today;
  BELAY_CO_TRY(shown.series,
               co_await usage::read_series(*records, std::move(asked), std::move(last), days));
  std::string first = shown.series.front().date;
  BELAY_CO_TRY(auto agents,
               co_await usage::read_summary(*records, std::move(first), std::move(today)));
  if (!agent.empty()) std::erase_if(agents, [&](const auto& each) { return each.agent != agent; });
  shown.document = usage::series_document(agent, shown.series);
  Value summary = usage::summary_document(agents);
  shown.document.as_object()->merge(*summary.as_object());
  co_return std::move(shown);
}

// Returns a document of the server that has these lists.
Task<Result<Value>> usage_document_of(client::Connection& connection, std::string target,
                                      std::vector<std::string> lists) {
  client::Ask ask;
  ask.target = std::move(target);
  BELAY_CO_TRY(Value document, co_await connection.ask_again_for(std::move(ask)));
  for (const std::string& list : lists) {
    if (document.as_object() && document[list].as_array()) continue;
    Result<Done> missing = error(ErrorCode::invalid, "It has no list \"" + list + "\".");
    co_return connection.fitting(std::move(missing)).error();
  }
  co_return std::move(document);
}

// Adds the counts of the days of `usage` to those of `series`.
void add_counts(const Value& usage, std::vector<analytics::UsageDay>& series) {
  if (!usage.as_array()) return;
  for (const Value& entry : *usage.as_array()) {
    for (analytics::UsageDay& day : series) {
      if (entry["date"] != Value(day.date)) continue;
      analytics::UsageTotals& sum = day.totals;
      sum.success = analytics::added(sum.success, entry["successCount"].as_int().value_or(0));
      sum.failed = analytics::added(sum.failed, entry["errorCount"].as_int().value_or(0));
    }
  }
}

// The same from a server. Its totals can be one interval old, and its chart has no quantiles.
Task<Result<ShownUsage>> usage_of_server(client::Connection& connection, std::string agent,
                                         std::string today, std::int64_t days) {
  ShownUsage shown;
  BELAY_CO_TRY(shown.series, analytics::daily_series({}, agent, today, days));
  client::Target all("/api/analytics/agents");
  all.query("startDate", shown.series.front().date).query("endDate", today);
  std::vector<std::string> lists{"summary"};
  if (agent.empty()) {
    all.query("daily", "true");
    lists.push_back("usage");
  }
  std::string target = all.text();
  BELAY_CO_TRY(shown.document,
               co_await usage_document_of(connection, std::move(target), std::move(lists)));
  Value::Object& members = *shown.document.as_object();
  members.insert_or_assign("agentId", agent);
  if (!agent.empty()) {
    std::erase_if(*members.at("summary").as_array(),
                  [&](const Value& each) { return each["agentId"] != Value(agent); });
    client::Target one("/api/analytics/agents");
    one.segment(agent);
    target = one.text() + "/daily?days=" + std::to_string(days);
    lists = {"usage"};
    BELAY_CO_TRY(Value daily,
                 co_await usage_document_of(connection, std::move(target), std::move(lists)));
    members.insert_or_assign("usage", daily["usage"]);
  }
  add_counts(members["usage"], shown.series);
  co_return std::move(shown);
}

class AnalyticsCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    words.argument("AGENT", agent_, "Only this agent").completes(NamesToComplete::agents);
    words.option("--days", days_, "Number of days up to today")
        .range(std::size_t{1}, static_cast<std::size_t>(analytics::series_days_max))
        .shows_default();
  }
  Result<Done> validate(const CommandValidation&) override {
    return agent_ ? check_name("agent's name", *agent_) : Result<Done>(Done{});
  }

  Task<CommandResult> run(CommandContext& world) override {
    std::string agent = agent_.value_or("");
    std::string today = analytics::utc_date(world.clock.now());
    auto days = static_cast<std::int64_t>(days_);
    ShownUsage shown;
    if (world.local) {
      BELAY_CO_TRY(shown, co_await usage_of_store(world, std::move(agent), std::move(today), days));
    } else {
      client::Connection& connection = world.remote->connection();
      BELAY_CO_TRY(shown,
                   co_await usage_of_server(connection, std::move(agent), std::move(today), days));
    }
    analytics::ChartOptions options;
    options.width = static_cast<std::size_t>(world.output.width());
    options.utf8 = world.output.options().utf8;
    std::string chart = analytics::usage_chart(shown.series, options);
    if (!chart.empty()) chart.pop_back();
    world.output.line(chart);
    for (const Value& each : *shown.document["summary"].as_array()) {
      world.output.line(totals_line(each));
    }
    if (!agent_) shown.document.as_object()->insert_or_assign("agentId", Value());
    world.output.document(shown.document);
    co_return ExitCode::done;
  }

 private:
  std::optional<std::string> agent_;
  std::size_t days_ = static_cast<std::size_t>(analytics::series_days_default);
};

class AnalyticsRebuildCommand final : public Command {
 public:
  Task<CommandResult> run(CommandContext& world) override {
    TenantId tenant = world.who.tenant;
    BELAY_CO_TRY(usage::RebuildReport report,
                 co_await usage::rebuild_usage(world.local->store, world.clock, std::move(tenant)));
    world.output.line("Read " + std::to_string(report.runs) + " runs. Replaced " +
                      std::to_string(report.replaced) + " days, kept " +
                      std::to_string(report.kept) + ".");
    world.output.document(Value::object(
        {{"runs", report.runs}, {"replaced", report.replaced}, {"kept", report.kept}}));
    co_return ExitCode::done;
  }
};

}  // namespace

CommandSpec builtin::analytics_command(const Program&) {
  return {.path = {"analytics"},
          .line = "Show the runs, tokens and times of agents for each day",
          .end = kAnalyticsHelp,
          .make = make_command<AnalyticsCommand>};
}

CommandSpec builtin::analytics_rebuild_command(const Program&) {
  return {.path = {"analytics", "rebuild"},
          .line = "Compute the totals of agents again from the runs",
          .end = kRebuildHelp,
          .traits = {.needs_own_store = "analytics rebuild reads"},
          .make = make_command<AnalyticsRebuildCommand>};
}

}  // namespace belay::cli
