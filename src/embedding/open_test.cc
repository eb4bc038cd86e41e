// belay::open(): a program that embeds Belay.

#include "belay/open.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace belay {
namespace {

using testing::HasSubstr;

struct Order {
  std::string item{};
  std::string receipt{};
};

Graph<Order> order_graph() {
  GraphBuilder<Order> graph{"order"};
  graph.node("price",
             [](const Order& order, Context&) { return set(&Order::receipt, "1 " + order.item); });
  graph.approval("ask", &Order::receipt, {.question = "Buy it?"}).approved(end).rejected(end);
  graph.edge(start, "price").edge("price", "ask");
  return std::move(graph).build().value();
}

struct Question {
  std::string answer{};
};

Graph<Question> question_graph() {
  GraphBuilder<Question> graph{"question"};
  graph.node("answer", [](const Question&, Context& context) -> Task<Update<Question>> {
    auto reply = co_await context.model().complete("Hello?");
    co_return set(&Question::answer, std::move(reply).value());
  });
  graph.edge(start, "answer").edge("answer", end);
  return std::move(graph).build().value();
}

class OpenedStore : public ::testing::Test {
 protected:
  OpenedStore() {
    std::string form = (std::filesystem::temp_directory_path() / "belay-XXXXXX").string();
    folder_ = mkdtemp(form.data());
    name_ = "sqlite:" + folder_ + "/app.db";
  }
  ~OpenedStore() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::string folder_;
  std::string name_;
};

TEST_F(OpenedStore, ExecutesARunAndDecidesItInALaterExecution) {
  auto graph = order_graph();
  InterruptId asked;
  {
    auto belay = belay::open(name_).value();
    belay->add(graph);
    StartOptions options;
    options.thread = ThreadId("first");
    RunView run = belay->run(graph, Order{.item = "hat"}, std::move(options)).value();
    EXPECT_EQ(run.row.status, RunStatus::paused);
    ASSERT_TRUE(run.approval);
    asked = run.approval->interrupt;
  }
  auto belay = belay::open(name_).value();
  belay->add(graph);
  EXPECT_EQ(belay->resume(ThreadId("first")).value().row.status, RunStatus::paused);
  auto decided = belay->decide(asked, {.approved = true, .decided_by = "ana"});
  ASSERT_TRUE(decided.ok()) << decided.error().message;
  EXPECT_EQ(decided->view.row.status, RunStatus::completed);
  EXPECT_EQ(belay->status(ThreadId("first")).value().state["receipt"], Value("1 hat"));
}

TEST_F(OpenedStore, ExecutesQueuedRuns) {
  auto graph = order_graph();
  auto belay = belay::open("memory:").value();
  belay->add(graph);
  auto queued = belay->wait(belay->runtime().enqueue(graph, Order{.item = "hat"}, {}, Instant{}));
  ASSERT_TRUE(queued.ok());
  EXPECT_EQ(belay->work().value(), 1u);
  EXPECT_EQ(belay->status(queued->row.thread).value().row.status, RunStatus::paused);
}

TEST_F(OpenedStore, FailsARunThatNeedsAModelIfItHasNone) {
  auto graph = question_graph();
  auto belay = belay::open("memory:").value();
  belay->add(graph);
  RunView run = belay->run(graph, Question{}).value();
  EXPECT_EQ(run.row.status, RunStatus::failed);
  EXPECT_THAT(run.row.error, HasSubstr("OpenOptions::model"));
}

TEST_F(OpenedStore, ReportsToItsTelemetry) {
  auto graph = order_graph();
  auto metrics = make_metrics();
  OpenOptions options;
  options.telemetry.metrics = metrics.get();
  auto belay = belay::open("memory:", std::move(options)).value();
  belay->add(graph);
  ASSERT_TRUE(belay->run(graph, Order{.item = "hat"}).ok());
  EXPECT_THAT(metrics->text(), HasSubstr("belay_runs_started_total{agent=\"order\"} 1\n"));
  EXPECT_THAT(metrics->text(), HasSubstr("belay_approvals_requested_total{agent=\"order\"} 1\n"));
}

TEST_F(OpenedStore, IsEncryptedWithAKey) {
  std::string key = "k1:" + std::string(64, 'a');
  auto options_with_key = [&] {
    OpenOptions options;
    options.encryption.emplace();
    options.encryption->keys = KeyRing::from_text(key).value();
    return options;
  };
  auto graph = order_graph();
  {
    auto belay = belay::open(name_, options_with_key()).value();
    belay->add(graph);
    StartOptions start_options;
    start_options.thread = ThreadId("t");
    ASSERT_TRUE(belay->run(graph, Order{.item = "hat"}, std::move(start_options)).ok());
  }
  auto without = belay::open(name_).value();
  without->add(graph);
  EXPECT_FALSE(without->status(ThreadId("t")).ok());
  auto with = belay::open(name_, options_with_key()).value();
  with->add(graph);
  EXPECT_EQ(with->status(ThreadId("t")).value().state["item"], Value("hat"));
}

TEST_F(OpenedStore, IsRefusedUnderAnUnknownName) {
  auto refused = belay::open("mysql://user:secret@host/");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, testing::Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace belay
