// 64 people decide one approval simultaneously, each in a thread with its own runtime and loop, on
// one store. Exactly one decision is accepted, the others return its decider, and it is executed
// once.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "belay/check.h"
#include "belay/runtime.h"
#include "belay/testing.h"
#include "tests/conformance/temporary_folder.h"

namespace belay {
namespace {

constexpr std::size_t kDeciders = 64;

struct Letter {
  std::string text;
  bool waiting = false;
  bool approved = false;
};

struct SentLetter {
  static constexpr std::string_view collection = "sent_letters";
  std::string thread;
  std::string text;
  std::string key() const { return thread; }
  static auto indexed() { return std::tuple{&SentLetter::text}; }
};

Graph<Letter> letter_graph(std::atomic<int>& sent) {
  GraphBuilder<Letter> graph{"letter"};
  graph.approval("review", &Letter::text, {.question = "Send it?"})
      .pending_flag(&Letter::waiting)
      .decision_flag(&Letter::approved)
      .approved("send")
      .rejected(end);
  graph.node("send", [&sent](const Letter& letter, Context& context) {
    ++sent;
    context.save(SentLetter{context.thread().text, letter.text});
    context.outcome("sent");
    return unchanged<Letter>();
  });
  graph.edge(start, "review").edge("send", end);
  return std::move(graph).build().value();
}

struct Decider {
  Decision decision;
  std::optional<Result<DecisionResult>> answer;
};

// A separate program, except for the store.
struct Program {
  Program(Store& store, Graph<Letter> letters)
      : clock(system_clock()), random(system_random()), loop(make_event_loop()) {
    runtime = Runtime::open(RuntimeParts{store, *loop, *clock, *random, model}).value();
    runtime->add(letters);
  }
  std::unique_ptr<Clock> clock;
  std::unique_ptr<Random> random;
  std::unique_ptr<EventLoop> loop;
  testing::ScriptedModel model;
  std::unique_ptr<Runtime> runtime;
};

void decide(Store& store, Graph<Letter> letters, InterruptId interrupt, std::atomic<int>& ready,
            Decider& decider) {
  Program program(store, std::move(letters));
  ++ready;
  while (ready < static_cast<int>(kDeciders)) std::this_thread::yield();
  decider.answer = block_on(*program.loop,
                            program.runtime->decide(default_tenant(), interrupt, decider.decision));
}

// Returns the decision of each decider: approve, reject, or approve with one of two edits.
Decision decision_of(std::size_t index) {
  Decision decision;
  decision.approved = index % 4 != 1;
  decision.decided_by = "decider " + std::to_string(index);
  if (index % 4 == 2) decision.edited = Value("Dear all");
  if (index % 4 == 3) decision.edited = Value("Dear both");
  return decision;
}

bool is_same(const Decision& one, const Decision& other) {
  return one.approved == other.approved && one.edited == other.edited;
}

void expect_one_winner(const std::vector<Decider>& deciders, const DecisionResult*& winner,
                       const Decision*& decision) {
  for (const Decider& each : deciders) {
    ASSERT_TRUE(each.answer->ok()) << each.answer->error().message;
    if ((*each.answer)->kind != DecisionResult::Kind::accepted) continue;
    EXPECT_EQ(winner, nullptr) << "two have won";
    winner = &**each.answer;
    decision = &each.decision;
  }
  ASSERT_NE(winner, nullptr) << "nobody has won";
  for (const Decider& each : deciders) {
    const DecisionResult& answer = **each.answer;
    EXPECT_EQ(answer.approval.decided_by, decision->decided_by);
    if (&answer == winner) continue;
    auto expected = is_same(each.decision, *decision) ? DecisionResult::Kind::duplicate
                                                      : DecisionResult::Kind::conflict;
    EXPECT_EQ(answer.kind, expected) << each.decision.decided_by;
  }
}

void one_round(Store& store, const std::string& thread) {
  std::atomic<int> sent{0};
  Graph<Letter> letters = letter_graph(sent);
  Program program(store, letters);
  StartOptions options;
  options.thread = ThreadId(thread);
  Letter letter;
  letter.text = "Dear Sir";
  auto paused =
      block_on(*program.loop, program.runtime->start(letters, std::move(letter), options)).value();
  ASSERT_TRUE(paused.approval);

  std::vector<Decider> deciders(kDeciders);
  std::vector<std::thread> threads;
  std::atomic<int> ready{0};
  for (std::size_t i = 0; i < kDeciders; ++i) {
    deciders[i].decision = decision_of(i);
    threads.emplace_back(decide, std::ref(store), letters, paused.approval->interrupt,
                         std::ref(ready), std::ref(deciders[i]));
  }
  for (std::thread& each : threads) each.join();

  const DecisionResult* winner = nullptr;
  const Decision* decision = nullptr;
  expect_one_winner(deciders, winner, decision);
  ASSERT_NE(winner, nullptr);
  EXPECT_EQ(sent, decision->approved ? 1 : 0);
  EXPECT_EQ(winner->view.row.outcome, decision->approved ? "sent" : "rejected");
  auto records = program.runtime->records(default_tenant(), UserId("local"));
  auto saved = block_on(*program.loop, records->get<SentLetter>(thread)).value();
  ASSERT_EQ(saved.has_value(), decision->approved);
  std::string text = decision->edited ? *decision->edited->as_string() : "Dear Sir";
  if (saved) {
    EXPECT_EQ(saved->text, text);
  }

  CheckScope scope;
  scope.graphs = {letters.definition()};
  scope.collections = {std::string(SentLetter::collection)};
  auto report = block_on(*program.loop, check_store(store, std::move(scope))).value();
  for (const Violation& each : report.violations) ADD_FAILURE() << each.rule << each.message;
}

TEST(ConcurrentDecisions, SixtyFourThreadsOnTheMemoryStoreHaveOneWinner) {
  auto clock = system_clock();
  auto random = system_random();
  auto store = open_memory_store(*clock, *random);
  for (int round = 0; round < 4; ++round) one_round(*store, "thread " + std::to_string(round));
}

TEST(ConcurrentDecisions, SixtyFourThreadsOnSqliteHaveOneWinner) {
  auto clock = system_clock();
  auto random = system_random();
  conformance::TemporaryFolder folder;
  auto store = open_sqlite_store(folder.file("store.db"), *clock, *random).value();
  for (int round = 0; round < 2; ++round) one_round(*store, "thread " + std::to_string(round));
}

}  // namespace
}  // namespace belay
