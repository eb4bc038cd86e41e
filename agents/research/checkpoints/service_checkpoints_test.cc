// Checkpoints through a service, as commands and routes use them: they belong to their owner.

#include <gtest/gtest.h>

#include "agents/research/checkpoints/checkpoint_store_fixture.h"
#include "agents/research/checkpoints/retention.h"
#include "service/local_service.h"
#include "tests/support/principals.h"

namespace belay::research {
namespace {

struct ServiceCheckpoints : ::testing::Test {
  std::unique_ptr<CheckpointRows> rows_of_owner(const std::string& caller,
                                                const std::string& owner) {
    Principal who = holder_of_key(caller, Permission::run);
    return checkpoint_rows(*service, std::move(who), UserId(owner));
  }

  CheckpointStore store{"memory:"};
  std::unique_ptr<Service> service = make_local_service({store.store(),
                                                         store.store(),
                                                         *store.runtime,
                                                         *store.loop,
                                                         store.clock,
                                                         store.random(),
                                                         {},
                                                         {},
                                                         {}});
};

TEST_F(ServiceCheckpoints, AreSavedRestoredAndRemoved) {
  auto rows = rows_of_owner("ana", "ana");
  AgentCheckpointer checkpointer(*rows, store.versions);
  for (std::size_t completed : {1u, 2u}) {
    AgentCheckpoint checkpoint = checkpoint_of("valuation", completed);
    store.wait(checkpointer.save(std::move(checkpoint), store.clock.now())).value();
  }
  auto restored = store.wait(checkpointer.restore("an-1", "valuation")).value();
  ASSERT_TRUE(restored.has_value());
  EXPECT_EQ(restored->checkpoint.completed_subtasks.size(), 2u);
  CheckpointRetention retention(*rows);
  EXPECT_EQ(store.wait(retention.preserve("an-1", store.clock.now())).value(), 1u);
  EXPECT_TRUE(store.wait(retention.succeeded("an-1", store.clock.now())).value().is_preserved);
  store.wait(retention.end_preservation("an-1")).value();
  Removal removal = store.wait(retention.succeeded("an-1", store.clock.now())).value();
  EXPECT_EQ(removal.checkpoints, 2u);
  EXPECT_EQ(store.wait(checkpointer.restore("an-1", "valuation")).value(), std::nullopt);
}

TEST_F(ServiceCheckpoints, OfAnotherUserDoNotExist) {
  auto own = rows_of_owner("ana", "ana");
  AgentCheckpointer checkpointer(*own, store.versions);
  AgentCheckpoint checkpoint = checkpoint_of("valuation", 2);
  store.wait(checkpointer.save(checkpoint, store.clock.now())).value();
  auto of_ben = rows_of_owner("ben", "ben");
  AgentCheckpointer reader(*of_ben, store.versions);
  EXPECT_EQ(store.wait(reader.restore("an-1", "valuation")).value(), std::nullopt);
  auto foreign = rows_of_owner("ben", "ana");
  AgentCheckpointer intruder(*foreign, store.versions);
  EXPECT_FALSE(store.wait(intruder.restore("an-1", "valuation")).ok());
  EXPECT_FALSE(store.wait(intruder.save(checkpoint, store.clock.now())).ok());
  CheckpointRetention retention(*foreign);
  EXPECT_FALSE(store.wait(retention.succeeded("an-1", store.clock.now())).ok());
  EXPECT_EQ(store.rows_in(AgentCheckpoint::collection).size(), 1u);
}

}  // namespace
}  // namespace belay::research
