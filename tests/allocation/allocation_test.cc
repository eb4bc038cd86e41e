// Memory that runs out at any call, once or permanently: the run ends with its usual result or with
// a typed error, or the process ends. Durable data remains, and another process continues the run
// to its end.
//
// Each case is a separate process. BELAY_SOAK_ALLOCATIONS is the number of calls that are tried, of
// each kind; 0: all of them.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <map>
#include <set>

#include "belay/check.h"
#include "belay/runtime.h"
#include "belay/testing.h"
#include "tests/allocation/failing_memory.h"
#include "tests/conformance/temporary_folder.h"
#include "tests/crash/campaign_size.h"

namespace belay::allocation {
namespace {

using conformance::TemporaryFolder;

constexpr unsigned kSecondsMax = 60;
constexpr const char* kExpected =
    R"(completed arrived {"agreed":true,"log":["first","second","last"],"sum":7})";

struct Journey {
  std::vector<std::string> log{};
  std::int64_t sum = 0;
  bool agreed = false;
};

struct Ticket {
  static constexpr std::string_view collection = "tickets";
  std::string name{};
  std::string key() const { return name; }
  static auto indexed() { return std::tuple{&Ticket::name}; }
};

// Appends one line to the record of external calls, without an allocation of its own.
void note(const std::string& path, const std::string& line) {
  int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) std::abort();
  if (::write(file, line.data(), line.size()) < 0 || ::write(file, "\n", 1) < 0) std::abort();
  ::close(file);
}

Graph<Journey> journey(const std::string& outside) {
  GraphBuilder<Journey> graph{"journey"};
  graph.one_run_per_thread();
  graph
      .node("first",
            [outside](const Journey&, Context& context) {
              std::int64_t paid = context.keyed_effect("pay", [&] {
                note(outside, context.idempotency_key("pay"));
                return std::int64_t{7};
              });
              return append(&Journey::log, "first").add(&Journey::sum, paid);
            })
      .retry({.attempts = 3, .base = std::chrono::milliseconds(1)});
  graph.node("second", [](const Journey&, Context&) { return append(&Journey::log, "second"); });
  graph.approval("agree", &Journey::sum, {.question = "Is the sum right?"})
      .approved("last")
      .rejected(end)
      .decision_flag(&Journey::agreed);
  graph.node("last", [](const Journey&, Context& context) {
    context.save(Ticket{"one"});
    context.outcome("arrived");
    return append(&Journey::log, "last");
  });
  graph.edge(start, "first").edge("first", "second").edge("second", "agree").edge("last", end);
  return std::move(graph).build().value();
}

// Starts the run, or continues it, to its end; in memory if `folder` is empty.
Result<std::string> play(const std::string& folder, const std::string& outside) {
  auto clock = system_clock();
  auto random = system_random();
  auto loop = make_event_loop();
  std::unique_ptr<Store> store;
  if (folder.empty()) {
    store = open_memory_store(*clock, *random);
  } else {
    BELAY_TRY(store, open_sqlite_store(folder + "/store.db", *clock, *random));
  }
  testing::ScriptedModel model;
  auto graph = journey(outside);
  BELAY_TRY(auto runtime, Runtime::open(RuntimeParts{*store, *loop, *clock, *random, model}));
  runtime->add(graph);
  StartOptions options;
  options.thread = ThreadId("t");
  BELAY_TRY(RunView view, block_on(*loop, runtime->start(graph, Journey{}, options)));
  if (view.approval) {
    Decision decision;
    decision.approved = true;
    decision.decided_by = "ana";
    BELAY_TRY(
        DecisionResult answer,
        block_on(*loop, runtime->decide(default_tenant(), view.approval->interrupt, decision)));
    view = std::move(answer.view);
  }
  if (view.row.status == RunStatus::failed) return error(ErrorCode::unavailable, view.row.error);
  return std::string(name_of(view.row.status)) + " " + view.row.outcome + " " + to_json(view.state);
}

// Returns the violations that the checkers find in the store; empty if there are none.
Result<std::string> faults_of(const std::string& folder, const std::string& outside) {
  auto clock = system_clock();
  auto random = system_random();
  auto loop = make_event_loop();
  BELAY_TRY(auto store, open_sqlite_store(folder + "/store.db", *clock, *random));
  CheckScope scope;
  scope.graphs = {journey(outside).definition()};
  scope.collections = {std::string(Ticket::collection)};
  BELAY_TRY(CheckReport report, block_on(*loop, check_store(*store, std::move(scope))));
  std::string told;
  for (const Violation& each : report.violations) told += each.rule + ": " + each.message + "\n";
  return told;
}

enum Exit { went_on = 0, refused = 10, without_memory = 11, wrong = 12 };

// Runs the process in which memory runs out. Never returns.
[[noreturn]] void live(const std::string& folder, const std::string& outside, std::uint64_t at,
                       bool for_ever, int result) {
  ::alarm(kSecondsMax);
  int code = wrong;
  // The first use of libcrypto dereferences a null pointer if it gets no memory (3.0, seen in
  // EVP_MD_fetch). That would end the process too, but is not a fault of Belay.
  (void)sha256("");
  fail(at, for_ever);
  try {
    auto played = play(folder, outside);
    heal();
    code = !played.ok() ? refused : *played == kExpected ? went_on : wrong;
    if (code == wrong) std::fprintf(stderr, "came to: %s\n", played->c_str());
  } catch (const std::bad_alloc&) {
    heal();
    code = without_memory;
  }
  std::uint64_t numbers[] = {counted(), failed()};
  if (::write(result, numbers, sizeof numbers) < 0) std::abort();
  std::exit(code);
}

struct Lived {
  int status = 0;
  std::uint64_t calls = 0;
  std::uint64_t failed = 0;
};

Lived live_and_die(const std::string& folder, const std::string& outside, std::uint64_t at,
                   bool for_ever) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  std::fflush(nullptr);
  pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    live(folder, outside, at, for_ever, ends[1]);
  }
  ::close(ends[1]);
  std::uint64_t numbers[2] = {0, 1};
  [[maybe_unused]] ssize_t size = ::read(ends[0], numbers, sizeof numbers);
  ::close(ends[0]);
  Lived lived;
  ::waitpid(child, &lived.status, 0);
  lived.calls = numbers[0];
  lived.failed = numbers[1];
  return lived;
}

struct Campaign {
  std::uint64_t calls = 0;  // of the run without a failure
  std::size_t runs = 0;
  std::map<std::string, std::size_t> count;  // runs by the way in which they ended
  std::vector<std::string> troubles;
};

std::string name_of_end(int status) {
  if (WIFEXITED(status)) {
    switch (WEXITSTATUS(status)) {
      case went_on:
        return "went on";
      case refused:
        return "typed error";
      case without_memory:
        return "exception to the caller";
      default:
        return "";
    }
  }
  return WTERMSIG(status) == SIGABRT ? "process ended" : "";
}

std::size_t keys_in(const std::string& outside) {
  std::ifstream file(outside);
  std::set<std::string> keys;
  for (std::string line; std::getline(file, line);) keys.insert(line);
  return keys.size();
}

void judge(bool in_memory, std::uint64_t at, bool for_ever, Campaign& campaign) {
  TemporaryFolder folder;
  std::string outside = folder.file("outside");
  Lived lived = live_and_die(in_memory ? "" : folder.path(), outside, at, for_ever);
  ++campaign.runs;
  std::string where = (for_ever ? "from call " : "call ") + std::to_string(at) + ": ";
  std::string end = name_of_end(lived.status);
  if (end.empty()) {
    campaign.troubles.push_back(where + "ended with status " + std::to_string(lived.status));
    return;
  }
  ++campaign.count[end];
  if (in_memory) return;
  auto faults = faults_of(folder.path(), outside);
  if (!faults.ok() || !faults->empty()) {
    campaign.troubles.push_back(where + (faults.ok() ? *faults : faults.error().message));
    return;
  }
  auto played = play(folder.path(), outside);
  // When the attempts of a node are used up, the run has failed, as its policy requires.
  bool has_failed = !played.ok() && played.error().message.find("bad_alloc") != std::string::npos;
  if (has_failed) return;
  if (!played.ok() || *played != kExpected) {
    campaign.troubles.push_back(where + (played.ok() ? *played : played.error().message));
  } else if (keys_in(outside) != 1) {
    campaign.troubles.push_back(where + "it was paid under more than one key");
  }
}

Campaign fail_everywhere(bool in_memory) {
  Campaign campaign;
  {
    TemporaryFolder folder;
    Lived sound =
        live_and_die(in_memory ? "" : folder.path(), folder.file("outside"), UINT64_MAX, false);
    EXPECT_EQ(name_of_end(sound.status), "went on");
    campaign.calls = sound.calls;
  }
  std::uint64_t cases = crash::kSanitized ? 15 : 60;
  // The run in memory is short.
  if (in_memory) cases *= 4;
  cases = crash::number_from("BELAY_SOAK_ALLOCATIONS", cases);
  std::uint64_t step = cases == 0 ? 1 : std::max<std::uint64_t>(1, campaign.calls / cases);
  for (std::uint64_t at = 0; at < campaign.calls; at += step) {
    judge(in_memory, at, false, campaign);
    judge(in_memory, at, true, campaign);
  }
  std::printf("evidence: memory ran out in %zu runs, at some of %llu calls, %s:", campaign.runs,
              static_cast<unsigned long long>(campaign.calls),
              in_memory ? "store in memory" : "SQLite store");
  for (const auto& [end, count] : campaign.count) std::printf(" %s %zu;", end.c_str(), count);
  std::printf("\n");
  return campaign;
}

TEST(Allocations, AtAnyCallOnASqliteStoreNothingDurableIsLostAndAnotherProcessGoesOn) {
  Campaign campaign = fail_everywhere(false);
  EXPECT_THAT(campaign.troubles, ::testing::IsEmpty());
  EXPECT_GT(campaign.count["went on"] + campaign.count["typed error"], 0u);
}

TEST(Allocations, AtAnyCallOnAStoreInMemoryEndInOrder) {
  Campaign campaign = fail_everywhere(true);
  EXPECT_THAT(campaign.troubles, ::testing::IsEmpty());
}

}  // namespace
}  // namespace belay::allocation

int main(int count, char** words) {
  belay::allocation::install();
  ::testing::InitGoogleTest(&count, words);
  return RUN_ALL_TESTS();
}
