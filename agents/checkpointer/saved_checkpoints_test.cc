// Checkpoints, values and writes through a service, as the routes use them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/checkpointer/checkpointer_fixture.h"
#include "service/local_service.h"
#include "tests/conformance/temporary_folder.h"
#include "tests/support/principals.h"

namespace belay::checkpointer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::unique_ptr<Service> service_of_checkpoints(Store& store, Runtime& runtime, EventLoop& loop,
                                                Clock& clock, Random& random) {
  return make_local_service({store, store, runtime, loop, clock, random, {}, {}, {}});
}

constexpr const char* kMissingBlob = "1ef0c1a2-0000-6000-8000-000000000000";

class Checkpoints : public ::testing::TestWithParam<std::string> {
 protected:
  std::string store_name() const {
    return GetParam() == "memory" ? "memory:" : "sqlite:" + folder_.file("checkpoints.db");
  }
  std::vector<std::string> values(std::string thread, std::string id) {
    return value_texts(*store_.tuple(std::move(thread), std::move(id)));
  }
  std::vector<std::string> writes(std::string thread, std::string id) {
    return write_texts(store_.tuple(std::move(thread), std::move(id))->writes);
  }

  conformance::TemporaryFolder folder_;
  CheckpointerStore store_{store_name(), service_of_checkpoints};
};

INSTANTIATE_TEST_SUITE_P(Stores, Checkpoints, ::testing::Values("memory", "sqlite"),
                         [](const auto& store) { return store.param; });

TEST_P(Checkpoints, WithoutAnIdAreTheGreatestOfTheirNamespace) {
  PutBody child = put_of("t", "9");
  child.checkpointNs = "node:1|inner:2";
  for (PutBody body : {put_of("t", "2"), put_of("t", "3", "2"), put_of("t", "10", "3"), child}) {
    ASSERT_TRUE(store_.put(std::move(body)).ok());
  }
  EXPECT_EQ(store_.tuple("t")->checkpoint.checkpointId, "3");
  EXPECT_EQ(store_.tuple("t")->checkpoint.parentCheckpointId, "2");
  EXPECT_EQ(store_.tuple("t", {}, "node:1|inner:2")->checkpoint.checkpointId, "9");
  EXPECT_EQ(store_.tuple("t", "10")->checkpoint.checkpointId, "10");
  EXPECT_FALSE(store_.tuple("t", "4"));
  EXPECT_FALSE(store_.tuple("other"));
}

TEST_P(Checkpoints, HaveTheirNewValuesAndThoseOfTheirParent) {
  PutBody first = put_of("t", "1");
  add_channel(first, "a", "1", "QQ==");
  add_channel(first, "b", "1", "Qg==");
  add_channel(first, "c", "1", "");
  ASSERT_TRUE(store_.put(first).ok());
  PutBody second = put_of("t", "2", "1");
  add_channel(second, "a", "2", "QUE=");
  add_channel(second, "b", "1", std::nullopt);
  ASSERT_TRUE(store_.put(second).ok());
  EXPECT_THAT(values("t", "1"), ElementsAre("a=QQ==", "b=Qg=="));
  EXPECT_THAT(values("t", "2"), ElementsAre("a=QUE=", "b=Qg=="));
}

TEST_P(Checkpoints, WithAVersionThatTheirParentLacksAreRefusedUntilAllChannelsAreSent) {
  PutBody first = put_of("t", "1");
  add_channel(first, "a", "1", "QQ==");
  add_channel(first, "b", "1", "");
  ASSERT_TRUE(store_.put(first).ok());
  PutBody copy = put_of("t", "2", "1");
  add_channel(copy, "a", "2", std::nullopt);
  add_channel(copy, "b", "1", std::nullopt);
  EXPECT_EQ(store_.put(copy).error().code, ErrorCode::conflict);
  EXPECT_FALSE(store_.tuple("t", "2"));
  PutBody whole = put_of("t", "2", "1");
  add_channel(whole, "a", "2", "QUE=");
  add_channel(whole, "b", "1", std::nullopt);
  ASSERT_TRUE(store_.put(whole).ok());
  EXPECT_THAT(values("t", "2"), ElementsAre("a=QUE="));
}

TEST_P(Checkpoints, WithoutAParentAreRefusedUntilAllChannelsAreSent) {
  PutBody body = put_of("t", "1");
  add_channel(body, "a", "1", std::nullopt);
  EXPECT_EQ(store_.put(body).error().code, ErrorCode::conflict);
  EXPECT_FALSE(store_.tuple("t"));
  PutBody whole = put_of("t", "1");
  add_channel(whole, "a", "1", "");
  ASSERT_TRUE(store_.put(whole).ok());
  EXPECT_THAT(values("t", "1"), IsEmpty());
  PutBody next = put_of("t", "2", "1");
  add_channel(next, "a", "1", std::nullopt);
  EXPECT_TRUE(store_.put(next).ok());
}

TEST_P(Checkpoints, OfTwoBranchesKeepDifferentValuesOfOneVersion) {
  ASSERT_TRUE(store_.put(put_of("t", "1")).ok());
  for (auto [id, data] : {std::pair("2", "QQ=="), std::pair("3", "Qg==")}) {
    PutBody branch = put_of("t", id, "1");
    add_channel(branch, "a", "2", data);
    ASSERT_TRUE(store_.put(branch).ok());
    PutBody next = put_of("t", id + std::string("x"), id);
    add_channel(next, "a", "2", std::nullopt);
    ASSERT_TRUE(store_.put(next).ok());
  }
  EXPECT_THAT(values("t", "2x"), ElementsAre("a=QQ=="));
  EXPECT_THAT(values("t", "3x"), ElementsAre("a=Qg=="));
}

TEST_P(Checkpoints, ThatAreSavedAgainReplaceTheirMetadataAndKeepTheirValues) {
  PutBody body = put_of("t", "1");
  add_channel(body, "a", "1", "QQ==");
  ASSERT_TRUE(store_.put(body).ok());
  body.blobs[0].value = json_value("Qg==");
  body.search = Value::object({{"step", 7}});
  ASSERT_TRUE(store_.put(body).ok());
  EXPECT_THAT(values("t", "1"), ElementsAre("a=QQ=="));
  EXPECT_EQ(store_.tuple("t")->checkpoint.search["step"], Value(7));
  EXPECT_EQ(store_.count<StoredCheckpoint>(), 1u);
}

TEST_P(Checkpoints, ReadAChangedValueWithItsBases) {
  PutBody first = put_of("t", "1");
  add_channel(first, "a", "1", "QUJD");
  ASSERT_TRUE(store_.put(first).ok());
  PutBody second = put_of("t", "2", "1");
  add_channel(second, "a", "2", "RA==");
  second.blobs[0].base = "1";
  second.blobs[0].baseCheckpointId = "1";
  second.blobs[0].head = 3;
  ASSERT_TRUE(store_.put(second).ok());
  EXPECT_THAT(values("t", "2"), ElementsAre("a=QUJDRA=="));
  second.checkpointId = "3";
  second.blobs[0].base = "7";
  EXPECT_EQ(store_.put(second).error().code, ErrorCode::conflict);
  EXPECT_FALSE(store_.tuple("t", "3"));
}

TEST_P(Checkpoints, RefuseAChainOfTooManyBases) {
  for (int version = 0; version <= kBaseDepthMax + 1; ++version) {
    std::string id = std::to_string(100 + version);
    PutBody body = put_of("t", id);
    add_channel(body, "a", id, "QQ==");
    if (version > 0)
      body.blobs[0].base = body.blobs[0].baseCheckpointId = std::to_string(99 + version);
    EXPECT_EQ(store_.put(body).ok(), version <= kBaseDepthMax) << version;
  }
}

TEST_P(Checkpoints, KeepTheFirstRegularWriteAndTheLastSpecialOne) {
  ASSERT_TRUE(store_.put(put_of("t", "1")).ok());
  ASSERT_TRUE(
      store_.write(writes_of("t", "1", "a", {{"x", "QQ=="}, {"__interrupt__", "QQ=="}})).ok());
  ASSERT_TRUE(
      store_
          .write(writes_of(
              "t", "1", "a",
              {{"x", "Qg=="}, {"__interrupt__", "Qg=="}, {"y", "Qw=="}, {"__interrupt__", "RA=="}}))
          .ok());
  EXPECT_THAT(writes("t", "1"), ElementsAre("a:__interrupt__=RA==", "a:x=QQ==", "a:y=Qw=="));
}

TEST_P(Checkpoints, AreSavedWithOneRecordOfValuesAndOneOfTheWritesOfACall) {
  PutBody body = put_of("t", "1");
  for (std::string channel : {"a", "b", "c"}) add_channel(body, channel, "1", "QQ==");
  ASSERT_TRUE(store_.put(body).ok());
  ASSERT_TRUE(store_.write(writes_of("t", "1", "w", {{"x", ""}, {"y", ""}, {"z", ""}})).ok());
  EXPECT_EQ(store_.count<StoredCheckpoint>(), 1u);
  EXPECT_EQ(store_.count<StoredValues>(), 1u);
  EXPECT_EQ(store_.count<StoredWrites>(), 1u);
  EXPECT_EQ(store_.count<StoredPart>(), 0u);
}

TEST_P(Checkpoints, AreSavedWithTheWritesOfTasks) {
  ASSERT_TRUE(store_.put(put_of("t", "1")).ok());
  ASSERT_TRUE(store_.write(writes_of("t", "1", "a", {{"x", "QQ=="}})).ok());
  PutBody body = put_of("t", "2", "1");
  body.tasks = {task_of("1", "a", {{"x", "Qg=="}, {"y", "Qw=="}}), task_of("1", "b", {{"x", ""}})};
  for (int time : {1, 2}) {
    ASSERT_TRUE(store_.put(body).ok()) << time;
    EXPECT_THAT(writes("t", "1"), ElementsAre("a:x=QQ==", "a:y=Qw==", "b:x=")) << time;
    EXPECT_TRUE(store_.tuple("t", "2")) << time;
  }
}

TEST_P(Checkpoints, ThatAreRefusedSaveNoWritesOfTasks) {
  const PutBody stored = put_of("t", "1");
  ASSERT_TRUE(store_.put(stored).ok());
  PutBody orphan = put_of("t", "3", "2");
  add_channel(orphan, "a", "1", std::nullopt);
  orphan.tasks = {task_of("1", "a", {{"x", "QQ=="}})};
  EXPECT_EQ(store_.put(orphan).error().code, ErrorCode::conflict);
  PutBody twice = put_of("t", "2", "1");
  twice.tasks = {task_of("1", "a", {{"x", "QQ=="}}), task_of("1", "a", {{"y", "QQ=="}})};
  EXPECT_EQ(store_.put(twice).error().code, ErrorCode::invalid);
  PutBody many = put_of("t", "2", "1");
  for (std::size_t i = 0; i <= kTasksOfPutMax; ++i) {
    many.tasks.push_back(task_of("1", std::to_string(i), {{"x", ""}}));
  }
  EXPECT_EQ(store_.put(many).error().code, ErrorCode::invalid);
  PutBody part = put_of("t", "2", "1");
  part.tasks = {task_of("1", "a", {{"x", ""}})};
  part.tasks[0].writes[0].value = TypedValue{"bytes", "", kMissingBlob, 1};
  EXPECT_EQ(store_.put(part).error().code, ErrorCode::not_found);
  PutBody nameless = put_of("t", "2", "1");
  nameless.tasks = {task_of("1", "", {{"x", ""}})};
  EXPECT_EQ(store_.put(nameless).error().code, ErrorCode::invalid);
  EXPECT_THAT(writes("t", "1"), IsEmpty());
  EXPECT_THAT(store_.ids({}), ElementsAre("1"));
  many.tasks.pop_back();
  EXPECT_TRUE(store_.put(many).ok());
  EXPECT_EQ(writes("t", "1").size(), kTasksOfPutMax);
}

TEST_P(Checkpoints, HaveTextsAsTheyWereSent) {
  PutBody body = put_of("t", "1");
  add_channel(body, "a", "1", "QQ==");
  body.blobs[0].value = TypedValue{"json", "", "", 0, "\"\u20ac \\u0000\""};
  ASSERT_TRUE(store_.put(body).ok());
  EXPECT_EQ(store_.tuple("t")->values.at(0).chain.at(0).value.text, body.blobs[0].value.text);
}

TEST_P(Checkpoints, ThatAreSavedAgainGetTheValuesThatTheyDidNotHave) {
  PutBody body = put_of("t", "1");
  add_channel(body, "a", "1", "QQ==");
  ASSERT_TRUE(store_.put(body).ok());
  body.blobs[0].value = json_value("Qg==");
  add_channel(body, "b", "1", "Qw==");
  ASSERT_TRUE(store_.put(body).ok());
  EXPECT_THAT(values("t", "1"), ElementsAre("a=QQ==", "b=Qw=="));
}

TEST_P(Checkpoints, HaveTheirWritesInTheOrderOfPathsAndTasks) {
  ASSERT_TRUE(store_.write(writes_of("t", "1", "b", {{"x", ""}}, "~2")).ok());
  ASSERT_TRUE(store_.write(writes_of("t", "1", "a", {{"x", ""}}, "~3")).ok());
  ASSERT_TRUE(store_.write(writes_of("t", "1", "c", {{"x", ""}, {"y", ""}})).ok());
  ASSERT_TRUE(store_.put(put_of("t", "1")).ok());
  EXPECT_THAT(writes("t", "1"), ElementsAre("c:x=", "c:y=", "b:x=", "a:x="));
}

TEST_P(Checkpoints, OfAnOldFormatHaveTheSendsOfTheirParent) {
  PutBody parent = put_of("t", "1");
  parent.format = 1;
  ASSERT_TRUE(store_.put(parent).ok());
  const std::string sends{kSendsChannel};
  ASSERT_TRUE(store_.write(writes_of("t", "1", "b", {{sends, "Qg=="}}, "~1")).ok());
  ASSERT_TRUE(store_.write(writes_of("t", "1", "a", {{sends, "QQ=="}, {"x", "eA=="}}, "~2")).ok());
  PutBody child = put_of("t", "2", "1");
  child.format = 3;
  ASSERT_TRUE(store_.put(child).ok());
  ASSERT_TRUE(store_.put(put_of("t", "3", "1")).ok());
  EXPECT_FALSE(store_.tuple("t", "1")->sends);
  EXPECT_FALSE(store_.tuple("t", "3")->sends);
  auto found = store_.tuple("t", "2")->sends;
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].data, "QQ==");
  EXPECT_EQ((*found)[1].data, "Qg==");
}

TEST_P(Checkpoints, WithAMissingPartAreNotSaved) {
  std::string blob = kMissingBlob;
  PutBody body = put_of("t", "1");
  add_channel(body, "a", "1", "QQ==");
  body.blobs[0].value = TypedValue{"bytes", "", blob, 2};
  Instant now = store_.clock.now();
  ASSERT_TRUE(store_.wait(put_part(store_.of("ana"), {"t", blob, 0, "QQ=="}, now)).ok());
  EXPECT_EQ(store_.put(body).error().code, ErrorCode::not_found);
  EXPECT_FALSE(store_.tuple("t"));
  ASSERT_TRUE(store_.wait(put_part(store_.of("ana"), {"t", blob, 1, "Qg=="}, now)).ok());
  ASSERT_TRUE(store_.put(body).ok());
  EXPECT_EQ(store_.tuple("t")->values.at(0).chain.at(0).value.parts, 2);
  EXPECT_EQ(store_.wait(read_part(store_.of("ana"), {"t", blob, 1})).value(), "Qg==");
}

TEST_P(Checkpoints, WithBadNamesAreRefused) {
  EXPECT_FALSE(store_.put(put_of("", "1")).ok());
  EXPECT_FALSE(store_.put(put_of("t", "")).ok());
  EXPECT_FALSE(store_.put(put_of(std::string(kThreadBytesMax + 1, 'x'), "1")).ok());
  EXPECT_FALSE(store_.put(put_of("t", std::string(kCheckpointIdBytesMax + 1, 'x'))).ok());
  EXPECT_FALSE(store_.write(writes_of("t", "1", "", {})).ok());
  EXPECT_TRUE(store_.put(put_of(std::string(kThreadBytesMax, 'x'), std::string(200, 'y'))).ok());
  PutBody body = put_of("__proto__", "1");
  body.checkpointNs = "a\n\"'$;--|\u20ac";
  EXPECT_TRUE(store_.put(body).ok());
  EXPECT_TRUE(store_.tuple("__proto__", {}, body.checkpointNs));
}

TEST_P(Checkpoints, OfAnotherUserDoNotExist) {
  ASSERT_TRUE(store_.put(put_of("t", "1")).ok());
  EXPECT_THAT(store_.ids({}, "ben"), IsEmpty());
  Principal ben = holder_of_key("ben", Permission::run);
  EXPECT_FALSE(store_.wait(put_checkpoint(store_.as(ben, "ana"), put_of("t", "2"))).ok());
  EXPECT_FALSE(store_.wait(delete_thread(store_.as(ben, "ana"), {"t"})).ok());
  ASSERT_TRUE(store_.wait(delete_thread(store_.as(ben, "ben"), {"t"})).ok());
  EXPECT_THAT(store_.ids({}), ElementsAre("1"));
}

TEST_P(Checkpoints, AreListedByIdOverThreadsAndNamespaces) {
  PutBody child = put_of("t", "3");
  child.checkpointNs = "child";
  child.search = Value::object({{"source", "loop"}});
  for (PutBody body : {put_of("t", "1"), put_of("u", "2"), child, put_of("u", "4")}) {
    ASSERT_TRUE(store_.put(std::move(body)).ok());
  }
  EXPECT_THAT(store_.ids({}), ElementsAre("4", "3", "2", "1"));
  EXPECT_THAT(store_.ids({.threadId = "t"}), ElementsAre("3", "1"));
  EXPECT_THAT(store_.ids({.threadId = "t", .checkpointNs = ""}), ElementsAre("1"));
  EXPECT_THAT(store_.ids({.checkpointNs = ""}), ElementsAre("4", "2", "1"));
  EXPECT_THAT(store_.ids({.before = "3"}), ElementsAre("2", "1"));
  EXPECT_THAT(store_.ids({.threadId = "u", .checkpointNs = "", .before = "4"}), ElementsAre("2"));
  EXPECT_THAT(store_.ids({.threadId = "t", .checkpointId = "1"}), ElementsAre("1"));
  EXPECT_THAT(store_.ids({.threadId = "t", .checkpointId = "1", .before = "1"}), IsEmpty());
  EXPECT_THAT(store_.ids({.checkpointId = "2"}), ElementsAre("2"));
  EXPECT_THAT(store_.ids({.filter = child.search}), ElementsAre("3"));
  EXPECT_THAT(store_.ids({.limit = 1}), ElementsAre("4", "3", "2", "1"));
  EXPECT_FALSE(store_.wait(list_checkpoints(store_.of("ana"), {.limit = 0})).ok());
  EXPECT_FALSE(store_.wait(list_checkpoints(store_.of("ana"), {.filter = Value(1)})).ok());
}

}  // namespace
}  // namespace belay::checkpointer
