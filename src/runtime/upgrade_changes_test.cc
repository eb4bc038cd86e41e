// Tests that a rehearsal of an upgrade reports exactly what happens when the new program then
// continues the runs: each kind of change of a graph, for runs that wait at each kind of place,
// with and without an upgrade, and with a graph that accepts older versions.
//
// BELAY_UPGRADE_RUNS: how many runs wait at each place; default 1.
// Long on purpose: one table of changes, and the only player of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "belay/check.h"
#include "belay/json_graph.h"
#include "load/code_gone.h"
#include "load/rehearsal.h"
#include "load/stored_run.h"
#include "tests/support/crashing_store_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// The declarations of the graph that a change can change.
struct MailForm {
  std::string write_name = "write", send_name = "send";
  RetryPolicy retry{.attempts = 3, .base = 500ms};
  std::optional<std::chrono::milliseconds> timeout = 30s;
  std::chrono::milliseconds expires = 48h;
  std::string question = "Send this mail?", description = "Writes mails.";
  JsonChannel total{.kind = JsonKind::integer};
  bool has_total = true, has_note = false, has_log_reducer = true, is_total_last = false;
  bool has_review = true, has_check = true, has_late_approval = false, has_rest = true;
  bool has_audit = false, chooses = false, rejects_to_end = false, nodes_swapped = false;
  bool keyed = true, has_inner_confirm = true, has_inner_extra = false, has_breakpoint = true;
  JsonKind inner_text = JsonKind::string;
  std::string model = "small", prompt = "Be kind.";
  std::string name = "mail";
};

struct Change {
  std::string name;
  std::function<void(MailForm&)> apply;
};

const std::vector<Change>& changes() {
  static const std::vector<Change> all = {
      {"nothing", [](MailForm&) {}},
      {"retry", [](MailForm& mail) { mail.retry = {.attempts = 7, .base = 2s}; }},
      {"timeout", [](MailForm& mail) { mail.timeout = 5min; }},
      {"expiry", [](MailForm& mail) { mail.expires = 96h; }},
      {"question", [](MailForm& mail) { mail.question = "May this mail be sent?"; }},
      {"description", [](MailForm& mail) { mail.description = "Writes letters."; }},
      {"model", [](MailForm& mail) { mail.model = "large"; }},
      {"prompt", [](MailForm& mail) { mail.prompt = "Be brief."; }},
      {"effect class", [](MailForm& mail) { mail.keyed = false; }},
      {"order of channels", [](MailForm& mail) { mail.is_total_last = true; }},
      {"order of nodes", [](MailForm& mail) { mail.nodes_swapped = true; }},
      {"node added", [](MailForm& mail) { mail.has_audit = true; }},
      {"node removed", [](MailForm& mail) { mail.has_rest = false; }},
      {"node renamed", [](MailForm& mail) { mail.send_name = "post"; }},
      {"first node renamed", [](MailForm& mail) { mail.write_name = "draft"; }},
      {"channel added", [](MailForm& mail) { mail.has_note = true; }},
      {"channel removed", [](MailForm& mail) { mail.has_total = false; }},
      {"channel of another type", [](MailForm& mail) { mail.total = {.kind = JsonKind::string}; }},
      {"channel of a wider type", [](MailForm& mail) { mail.total = {.kind = JsonKind::number}; }},
      {"reducer removed", [](MailForm& mail) { mail.has_log_reducer = false; }},
      {"target of an edge", [](MailForm& mail) { mail.rejects_to_end = true; }},
      {"edge became a choice", [](MailForm& mail) { mail.chooses = true; }},
      {"approval added", [](MailForm& mail) { mail.has_late_approval = true; }},
      {"approval became a node", [](MailForm& mail) { mail.has_review = false; }},
      {"approval in a superstep became a node", [](MailForm& mail) { mail.has_check = false; }},
      {"approval in a subgraph became a node",
       [](MailForm& mail) { mail.has_inner_confirm = false; }},
      {"node added to a subgraph", [](MailForm& mail) { mail.has_inner_extra = true; }},
      {"type in a subgraph", [](MailForm& mail) { mail.inner_text = JsonKind::integer; }},
      {"breakpoint removed", [](MailForm& mail) { mail.has_breakpoint = false; }},
      {"graph renamed", [](MailForm& mail) { mail.name = "letter"; }},
  };
  return all;
}

enum class Mode { plain, accepting, with_hook };

// Where runs wait, in the order in which a run reaches the places.
const std::vector<std::string> waiting_places = {"queued",  "review", "rest",
                                                 "confirm", "check",  "close"};

struct UpgradeChanges : CrashingStoreFixture {
  int conversions = 0;

  static JsonUpdate nothing(const Value&, Context&) { return JsonUpdate(); }

  static JsonGraph inner_of(const MailForm& mail) {
    JsonGraphBuilder graph{"inner"};
    JsonChannel text{.kind = mail.inner_text};
    if (mail.inner_text == JsonKind::string) text.default_value = Value("inside");
    graph.channel("text", std::move(text));
    graph.channel("count", {.kind = JsonKind::integer});
    graph.node("prepare", [kind = mail.inner_text](const Value&, Context&) {
      return set("text", kind == JsonKind::string ? Value("prepared") : Value(7));
    });
    if (mail.has_inner_confirm) {
      graph.approval("confirm", "text", {.question = "Inside?"}).approved("last").rejected("last");
    } else {
      graph.node("confirm", nothing);
      graph.edge("confirm", "last");
    }
    graph.node("last", [](const Value&, Context&) { return add("count", 1); });
    graph.edge(start, "prepare").edge("prepare", "confirm");
    if (mail.has_inner_extra) {
      graph.node("extra", nothing);
      graph.edge("last", "extra").edge("extra", end);
    } else {
      graph.edge("last", end);
    }
    return std::move(graph).build().value();
  }

  static void declare_channels(const MailForm& mail, JsonGraphBuilder& graph) {
    auto declare_total = [&] {
      if (mail.has_total) graph.channel("total", mail.total);
    };
    if (!mail.is_total_last) declare_total();
    graph.channel("topic", {.kind = JsonKind::string});
    graph.channel("draft", {.kind = JsonKind::string});
    JsonChannel log{.kind = JsonKind::array};
    if (mail.has_log_reducer) log.reducer = JsonReducer::append;
    graph.channel("log", std::move(log));
    if (mail.has_note) graph.channel("note", {.kind = JsonKind::string});
    if (mail.is_total_last) declare_total();
  }

  // An update that logs the node, and adds to the total if that is a number.
  static JsonUpdate visit(const MailForm& mail, const std::string& node) {
    JsonUpdate update = append("log", node);
    bool counts = mail.has_total && mail.total.kind != JsonKind::string;
    return counts ? std::move(update).add("total", 1) : std::move(update);
  }

  static void declare_writing(const MailForm& mail, JsonGraphBuilder& graph) {
    graph
        .node(mail.write_name,
              [mail](const Value&, Context&) {
                return visit(mail, "write").set("draft", Value("Dear " + mail.model));
              })
        .retry(mail.retry)
        .timeout(mail.timeout.value_or(1h));
  }

  static void declare_review(const MailForm& mail, JsonGraphBuilder& graph) {
    std::string rejected = mail.rejects_to_end ? std::string(end) : mail.write_name;
    if (mail.has_review) {
      graph.approval("review", "draft", {.question = mail.question, .expires = mail.expires})
          .approved(mail.send_name)
          .rejected(rejected);
      return;
    }
    graph.node("review", nothing);
    graph.edge("review", mail.send_name);
  }

  static void declare_sending(const MailForm& mail, JsonGraphBuilder& graph) {
    auto send = [mail](const Value&, Context& context) -> Task<JsonUpdate> {
      std::function<std::string()> call = [] { return std::string("sent"); };
      if (mail.keyed) context.keyed_effect("send", call);
      co_return visit(mail, "send");
    };
    graph.node(mail.send_name, send);
  }

  static JsonGraph graph_of(const MailForm& mail, Mode mode, const std::string& old_hash,
                            int* conversions) {
    JsonGraphBuilder graph{mail.name};
    graph.describe(mail.description);
    declare_channels(mail, graph);
    if (!mail.nodes_swapped) declare_writing(mail, graph);
    declare_review(mail, graph);
    if (mail.nodes_swapped) declare_writing(mail, graph);
    declare_sending(mail, graph);
    if (mail.has_rest) graph.wait("rest", 1s);
    graph.subgraph("inner", inner_of(mail), {}, {});
    graph.node("split", nothing);
    graph.node("left", [mail](const Value&, Context&) { return visit(mail, "left"); });
    if (mail.has_check) {
      graph.approval("check", "topic", {.question = "Check?", .expires = 48h})
          .approved("close")
          .rejected("close");
    } else {
      graph.node("check", nothing);
      graph.edge("check", "close");
    }
    auto close =
        graph.node("close", [mail](const Value&, Context&) { return visit(mail, "close"); });
    if (mail.has_breakpoint) close.interrupt_before();
    graph.edge(start, mail.write_name).edge(mail.write_name, "review");
    std::string after_send = mail.has_rest ? "rest" : "inner";
    if (mail.chooses) {
      graph.branch(mail.send_name, [](const Value&) { return 0; }, {after_send, "inner"});
    } else {
      graph.edge(mail.send_name, after_send);
    }
    if (mail.has_rest) graph.edge("rest", "inner");
    graph.edge("inner", "split").edge("split", "left").edge("split", "check");
    graph.edge("left", "close");
    finish(mail, graph);
    if (mode == Mode::accepting) graph.accept_older_versions();
    if (mode == Mode::with_hook) graph.upgrade_from(old_hash, hook(mail, conversions));
    auto built = std::move(graph).build();
    if (!built.ok()) ADD_FAILURE() << built.error().message;
    return *std::move(built);
  }

  static void finish(const MailForm& mail, JsonGraphBuilder& graph) {
    if (mail.has_audit) {
      graph.node("audit", nothing);
      graph.edge("close", "audit").edge("audit", end);
    } else if (mail.has_late_approval) {
      graph.approval("late", "draft", {.question = "Really?"}).approved(end).rejected(end);
      graph.edge("close", "late");
    } else {
      graph.edge("close", end);
    }
  }

  static GraphDefinition::Upgrade hook(const MailForm& mail, int* conversions) {
    return [mail, conversions](Value state) -> Result<Value> {
      ++*conversions;
      Value::Object next = *state.as_object();
      if (!mail.has_total) next.erase("total");
      bool as_text = mail.has_total && mail.total.kind == JsonKind::string;
      if (as_text) next["total"] = to_json(next["total"]);
      return Value(std::move(next));
    };
  }

  std::vector<ApprovalRow> open_approvals_of(const RunId& run) {
    std::function<Result<std::vector<ApprovalRow>>(Snapshot&)> reader = [run](Snapshot& view) {
      ApprovalFilter filter;
      filter.tenant = default_tenant();
      filter.run = run;
      filter.only_open = true;
      return view.approvals(filter);
    };
    return block_on(loop, read<std::vector<ApprovalRow>>(*kept, std::move(reader))).value();
  }

  RunRow row_of(const RunId& run) {
    std::function<Result<RunRow>(Snapshot&)> reader = [run](Snapshot& view) {
      return belay::run_row(view, default_tenant(), run);
    };
    return block_on(loop, read<RunRow>(*kept, std::move(reader))).value();
  }

  // Does the next thing that the run waits for: a decision, the end of a wait, or resume().
  Result<Done> step(Runtime& runtime, const RunRow& row) {
    std::vector<ApprovalRow> open = open_approvals_of(row.run);
    if (!open.empty()) {
      Decision decision;
      decision.approved = true;
      decision.decided_by = "ana";
      BELAY_CHECK(
          block_on(loop, runtime.decide(default_tenant(), open.back().interrupt, decision)));
      return Done{};
    }
    BELAY_CHECK(block_on(loop, runtime.resume(default_tenant(), row.thread)));
    return Done{};
  }

  // Starts a run and drives it to a place; returns its id.
  RunId park(const JsonGraph& graph, const std::string& place) {
    auto runtime = process(graph);
    StartOptions options;
    options.thread = ThreadId(random_uuid(random).text());
    Value input = Value::object({{"topic", "the outage"}, {"total", 2}});
    RunView view =
        block_on(loop, runtime->enqueue(graph, std::move(input), options, Instant())).value();
    if (place == "queued") return view.row.run;
    for (int steps = 0; steps < 12; ++steps) {
      RunRow row = row_of(view.row.run);
      bool has_arrived = row.status == RunStatus::paused && is_at(row, place);
      if (has_arrived) return row.run;
      if (row.status == RunStatus::paused && row.node == "rest") clock.move(2s);
      auto did = step(*runtime, row);
      if (!did.ok()) ADD_FAILURE() << place << ": " << did.error().message;
    }
    ADD_FAILURE() << "never at " << place << " but at " << row_of(view.row.run).node;
    return view.row.run;
  }

  bool is_at(const RunRow& row, const std::string& place) {
    for (const ApprovalRow& open : open_approvals_of(row.run)) {
      if (open.node == place) return true;
    }
    return row.node == place;
  }

  struct Played {
    bool refused = false;  // the first step failed, and left the run as it was
    bool converted = false;
    std::string fault;  // a result that no verdict permits; empty: none
  };

  // Continues the run with the new program, to its end.
  Played play(const JsonGraph& graph, const RunId& run) {
    auto runtime = process(graph);
    Played played;
    int before = conversions;
    for (int steps = 0; steps < 16; ++steps) {
      RunRow row = row_of(run);
      if (is_final(row.status)) break;
      if (row.status == RunStatus::paused && row.node == "rest") clock.move(2s);
      auto did = step(*runtime, row);
      if (did.ok()) continue;
      if (steps == 0 && row_of(run) == row) {
        played.refused = true;
        return played;
      }
      played.fault = "step " + std::to_string(steps) + ": " + did.error().message;
      return played;
    }
    RunRow last = row_of(run);
    if (last.status != RunStatus::completed) {
      played.fault =
          "ends as " + std::string(name_of(last.status)) + " at " + last.node + ": " + last.error;
    }
    played.converted = conversions > before;
    auto read = block_on(loop, runtime->status(default_tenant(), last.thread));
    if (!read.ok()) played.fault = "cannot be read at its end: " + read.error().message;
    return played;
  }

  std::string violations(const std::vector<std::shared_ptr<const GraphDefinition>>& graphs) {
    CheckScope scope;
    scope.graphs = graphs;
    std::string told;
    CheckReport report = block_on(loop, check_store(*kept, scope)).value();
    for (const Violation& each : report.violations) {
      told += each.rule + " " + each.subject + ": " + each.message + "\n";
    }
    return told;
  }

  static bool could_continue(UpgradeVerdict verdict) {
    return verdict == UpgradeVerdict::continues || verdict == UpgradeVerdict::migrates;
  }

  // Compares the verdict about one run with its continuation. `hooked`: the same graph with a
  // correct upgrade.
  std::string difference(const RehearsedRun& told, const JsonGraph& graph,
                         const JsonGraph& hooked) {
    Played played = play(graph, told.row.run);
    std::string said(name_of(told.verdict));
    if (!played.fault.empty()) return said + ", but " + played.fault;
    if (could_continue(told.verdict) == played.refused) {
      return said + ", but it " + (played.refused ? "is refused" : "continues") + ": " +
             told.reason;
    }
    if ((told.verdict == UpgradeVerdict::migrates) != played.converted) {
      return said + ", but its state was " + (played.converted ? "" : "not ") + "converted";
    }
    if (!played.refused) return "";
    if (told.reason.empty()) return said + " without a reason";
    bool is_stranded = told.verdict == UpgradeVerdict::stranded;
    if (is_stranded && told.node.empty() && told.channel.empty() &&
        told.reason.find("no graph") == std::string::npos) {
      return said + " without a cause: " + told.reason;
    }
    Played again = play(hooked, told.row.run);
    if (!again.fault.empty()) return said + ", but with an upgrade " + again.fault;
    if (again.refused != is_stranded) {
      return said + ", but with an upgrade it " + (again.refused ? "is refused" : "continues") +
             ": " + told.reason;
    }
    return "";
  }

  std::vector<RehearsedRun> rehearsed(const JsonGraph& graph) {
    return block_on(loop, rehearse_upgrade(*kept, {graph.definition()})).value();
  }
};

std::size_t runs_at_each_place() {
  const char* wanted = std::getenv("BELAY_UPGRADE_RUNS");
  return wanted ? std::strtoull(wanted, nullptr, 10) : 1;
}

using ChangeAndMode = std::tuple<std::size_t, Mode>;
class EachUpgradeChange : public UpgradeChanges,
                          public ::testing::WithParamInterface<ChangeAndMode> {};

TEST_P(EachUpgradeChange, DoesToParkedRunsWhatItsRehearsalReports) {
  const auto& [number, mode] = GetParam();
  const Change& change = changes()[number];
  JsonGraph old = graph_of(MailForm(), Mode::plain, "", &conversions);
  std::string hash = to_hex(old.definition()->hash);
  MailForm mail;
  change.apply(mail);
  JsonGraph next = graph_of(mail, mode, hash, &conversions);
  JsonGraph hooked = graph_of(mail, Mode::with_hook, hash, &conversions);
  std::map<RunId, std::string> parked;
  for (const std::string& place : waiting_places) {
    for (std::size_t i = 0; i < runs_at_each_place(); ++i) parked[park(old, place)] = place;
  }
  std::vector<RehearsedRun> told = rehearsed(next);
  ASSERT_EQ(told.size(), parked.size());
  std::map<std::string, std::size_t> counts;
  for (const RehearsedRun& run : told) {
    ++counts[std::string(name_of(run.verdict))];
    EXPECT_EQ(difference(run, next, hooked), "")
        << change.name << ", mode " << static_cast<int>(mode) << ", at " << parked[run.row.run];
  }
  std::string line;
  for (const auto& [verdict, count] : counts) line += " " + std::to_string(count) + " " + verdict;
  std::printf("evidence: upgrades: %s:%s\n", change.name.c_str(), line.c_str());
}

INSTANTIATE_TEST_SUITE_P(Kinds, EachUpgradeChange,
                         ::testing::Combine(::testing::Range<std::size_t>(0, 30),
                                            ::testing::Values(Mode::plain, Mode::accepting,
                                                              Mode::with_hook)));

TEST_F(UpgradeChanges, AreAllPlayed) { EXPECT_EQ(changes().size(), 30u); }

TEST_F(UpgradeChanges, OfPoliciesAndTextsLetEveryRunContinue) {
  JsonGraph old = graph_of(MailForm(), Mode::plain, "", &conversions);
  for (const std::string& place : waiting_places) park(old, place);
  for (std::string name : {"retry", "timeout", "expiry", "question", "description", "model",
                           "prompt", "effect class", "order of channels"}) {
    MailForm mail;
    for (const Change& change : changes()) {
      if (change.name == name) change.apply(mail);
    }
    for (const RehearsedRun& run : rehearsed(graph_of(mail, Mode::plain, "", &conversions))) {
      EXPECT_EQ(run.verdict, UpgradeVerdict::continues) << name << ": " << run.reason;
    }
  }
}

TEST_F(UpgradeChanges, NameTheNodeAndTheChannelThatStrandARun) {
  JsonGraph old = graph_of(MailForm(), Mode::plain, "", &conversions);
  RunId at_rest = park(old, "rest");
  MailForm mail;
  mail.has_rest = false;
  auto told = rehearsed(graph_of(mail, Mode::plain, "", &conversions));
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].row.run, at_rest);
  EXPECT_EQ(told[0].verdict, UpgradeVerdict::stranded);
  EXPECT_EQ(told[0].node, "rest");
  mail = MailForm();
  mail.total = {.kind = JsonKind::string};
  told = rehearsed(graph_of(mail, Mode::plain, "", &conversions));
  EXPECT_EQ(told[0].verdict, UpgradeVerdict::needs_hook);
  EXPECT_EQ(told[0].channel, "total");
}

TEST_F(UpgradeChanges, RehearsalsWriteNothing) {
  JsonGraph old = graph_of(MailForm(), Mode::plain, "", &conversions);
  std::vector<RunRow> before;
  for (const std::string& place : waiting_places) before.push_back(row_of(park(old, place)));
  MailForm mail;
  mail.total = {.kind = JsonKind::string};
  store.commits = 0;
  std::string hash = to_hex(old.definition()->hash);
  JsonGraph next = graph_of(mail, Mode::with_hook, hash, &conversions);
  block_on(loop, rehearse_upgrade(store, {next.definition()})).value();
  EXPECT_GT(conversions, 0) << "the upgrade must be called";
  EXPECT_EQ(store.commits, 0);
  for (const RunRow& row : before) EXPECT_EQ(row_of(row.run), row);
  EXPECT_EQ(violations({old.definition()}), "");
}

TEST_F(UpgradeChanges, WithAHookThatFailsReportItsError) {
  JsonGraph old = graph_of(MailForm(), Mode::plain, "", &conversions);
  park(old, "review");
  JsonGraphBuilder graph{"mail"};
  graph.channel("topic");
  graph.approval("review", "topic", {}).approved(end).rejected(end);
  graph.edge(start, "review");
  graph.upgrade_from(to_hex(old.definition()->hash), [](Value) -> Result<Value> {
    return error(ErrorCode::invalid, "no total in it");
  });
  auto told = rehearsed(std::move(graph).build().value());
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].verdict, UpgradeVerdict::needs_hook);
  EXPECT_THAT(told[0].reason, HasSubstr("no total in it"));
}

// A rejection of an approval must never execute the plain node that took its name.
TEST_F(UpgradeChanges, OfAnApprovalToANodeNeverExecuteWhatWasRejected) {
  JsonGraph old = graph_of(MailForm(), Mode::plain, "", &conversions);
  RunId run = park(old, "review");
  MailForm mail;
  mail.has_review = false;
  JsonGraph next = graph_of(mail, Mode::accepting, "", &conversions);
  auto runtime = process(next);
  Decision decision;
  decision.decided_by = "ana";
  RunRow before = row_of(run);
  auto refused = block_on(
      loop, runtime->decide(default_tenant(), open_approvals_of(run).at(0).interrupt, decision));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("\"review\""));
  EXPECT_EQ(row_of(run), before);
}

TEST_F(UpgradeChanges, LeaveRunsWithoutCodeThatAreFoundAsSuchUntilAProgramHasIt) {
  JsonGraph old = graph_of(MailForm(), Mode::plain, "", &conversions);
  RunRow queued = row_of(park(old, "queued")), asked = row_of(park(old, "review"));
  MailForm changed;
  changed.has_note = true;
  MailForm renamed;
  renamed.name = "letter";
  std::string hash = to_hex(old.definition()->hash);
  auto gone = [&](const JsonGraph& graph) {
    GraphRegistry graphs;
    graphs.add(graph.definition());
    std::function<Result<std::vector<RunRow>>(Snapshot&)> reader = [graphs](Snapshot& view) {
      return runs_without_code(view, graphs, {}, default_tenant());
    };
    return block_on(loop, read<std::vector<RunRow>>(*kept, std::move(reader))).value().size();
  };
  EXPECT_EQ(gone(graph_of(renamed, Mode::plain, "", &conversions)), 2u);
  JsonGraph next = graph_of(changed, Mode::plain, "", &conversions);
  EXPECT_EQ(gone(next), 2u);
  auto runtime = process(next);
  Spawned working = spawn<Result<std::size_t>>(loop, runtime->run_worker(WorkerOptions{}),
                                               [](const Result<std::size_t>&) {});
  store.commits = 0;
  loop.run_until(clock.now() + 10min);
  EXPECT_EQ(store.commits, 0) << "a worker leaves them to other processes";
  EXPECT_EQ(row_of(queued.run), queued);
  EXPECT_EQ(row_of(asked.run), asked);
  EXPECT_EQ(gone(old), 0u);
  EXPECT_EQ(gone(graph_of(changed, Mode::with_hook, hash, &conversions)), 0u);
  EXPECT_EQ(gone(graph_of(changed, Mode::accepting, "", &conversions)), 0u);
}

struct CountedOld {
  std::string text{};
  int total = 3;
};
struct CountedWide {
  double total = 0;
  std::string text{};
};
struct CountedText {
  std::string text{};
  std::string total{};
};

template <typename State>
Graph<State> counted() {
  GraphBuilder<State> graph{"counted"};
  graph.node("one", [](const State&, Context&) { return set(&State::text, "one"); })
      .interrupt_before();
  graph.edge(start, "one").edge("one", end);
  return std::move(graph).build().value();
}

TEST_F(UpgradeChanges, OfAMemberOfAStructAreJudgedByTheStoredValue) {
  Graph<CountedOld> old = counted<CountedOld>();
  auto runtime = process(old);
  block_on(loop, runtime->start(old, CountedOld{.total = 4}, {.thread = ThreadId("t")})).value();
  auto told = [&](std::shared_ptr<const GraphDefinition> graph) {
    return block_on(loop, rehearse_upgrade(*kept, {std::move(graph)})).value().at(0);
  };
  EXPECT_EQ(told(counted<CountedWide>().definition()).verdict, UpgradeVerdict::continues);
  RehearsedRun narrow = told(counted<CountedText>().definition());
  EXPECT_EQ(narrow.verdict, UpgradeVerdict::stranded);
  EXPECT_EQ(narrow.channel, "total");
  Graph<CountedText> text = counted<CountedText>();
  auto newer = process(text);
  EXPECT_FALSE(block_on(loop, newer->resume(default_tenant(), ThreadId("t"))).ok());
  Graph<CountedWide> wide = counted<CountedWide>();
  auto newest = process(wide);
  EXPECT_EQ(block_on(loop, newest->resume(default_tenant(), ThreadId("t"))).value().row.status,
            RunStatus::completed);
}

}  // namespace
}  // namespace belay
