// Tests plain nodes with a protected dependency: an effect ends the call, and another one follows.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/crashing_store_fixture.h"

namespace belay {
namespace {

using ::testing::ElementsAre;

struct Notice {
  std::vector<std::string> log{};
};

// The commit of the effect's intent ends the first call of the node's function; only the second
// call counts, and stores each message, event and text once.
TEST_F(CrashingStoreFixture, APlainNodeBehindADependencyLeavesItsMessagesOnce) {
  int mails = 0;
  std::vector<std::uint64_t> chances;
  GraphBuilder<Notice> builder{"notice"};
  builder
      .node("send",
            [&](const Notice&, Context& context) {
              context.publish("news", Value("it goes out"));
              context.emit("told", Value(1));
              chances.push_back(context.random_bits());
              context.unkeyed_effect("smtp", {}, [&] { return ++mails; });
              context.unkeyed_effect("fax", {}, [&] { return ++mails; });
              return append(&Notice::log, "sent");
            })
      .depends_on("smtp");
  builder.edge(start, "send").edge("send", end);
  auto graph = std::move(builder).build().value();
  auto runtime = process(graph);
  runtime->protect("smtp", {});
  StartOptions options;
  options.thread = ThreadId("t");
  auto view = block_on(loop, runtime->start(graph, Notice{}, options)).value();
  ASSERT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_EQ(mails, 2);
  EXPECT_THAT(chances, ElementsAre(chances[0], chances[0], chances[0])) << "the same attempt";
  std::vector<std::string> left;
  std::function<Result<Done>(Snapshot&)> reader = [&](Snapshot& snapshot) -> Result<Done> {
    OutboxFilter outbox;
    outbox.tenant = default_tenant();
    outbox.run = view.row.run;
    BELAY_TRY(auto messages, snapshot.outbox(outbox));
    for (const OutboxRow& row : messages) left.push_back(row.topic);
    EventFilter events;
    events.tenant = default_tenant();
    events.run = view.row.run;
    BELAY_TRY(auto all, snapshot.events(events));
    for (const EventRow& row : all) {
      if (row.type == "custom") left.push_back(row.type);
    }
    return Done{};
  };
  ASSERT_TRUE(block_on(loop, read<Done>(store, std::move(reader))).ok());
  EXPECT_THAT(left, ElementsAre("news", "custom"));
}

}  // namespace
}  // namespace belay
