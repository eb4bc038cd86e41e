// Runs that are claimed by another process, and forks, with the command line.

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "tests/cli/queue_retry.h"

namespace belay::cli::tests {
namespace {

class CliWorker : public ::testing::Test {
 protected:
  CliWorker() { world.setting.binary = BELAY_SHOP_BINARY; }
  Value state(const std::string& thread) { return world.run({"state", thread, "--json"}).json(); }
  Outcome enqueue(const std::string& thread, const Words& more = {}) {
    Words words = {"enqueue", "order", "--thread", thread, "--input", "item=hat", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return world.run(words);
  }
  World world;
};

TEST_F(CliWorker, TakesUpWhatWasQueued) {
  for (const char* thread : {"a", "b", "c"}) {
    Outcome queued = enqueue(thread);
    EXPECT_EQ(queued.code, 0) << queued.err;
    EXPECT_EQ(queued.json()["status"], Value("queued"));
  }
  Outcome worked = world.run({"worker", "--until-idle", "--json"});
  EXPECT_EQ(worked.code, 0) << worked.err;
  EXPECT_EQ(worked.json()["processed"], Value(3));
  EXPECT_EQ(worked.json()["takenUp"], Value(3));  // its former name
  for (const char* thread : {"a", "b", "c"}) EXPECT_EQ(state(thread)["status"], Value("paused"));
  EXPECT_EQ(world.run({"check"}).code, 0);
}

TEST_F(CliWorker, TakesOnlyFromItsQueuesAndNothingFromAPausedOne) {
  enqueue("a", {"--queue", "mails", "--priority", "3", "--concurrency-key", "shop"});
  enqueue("b");
  EXPECT_EQ(state("a")["queue"], Value("mails"));
  EXPECT_EQ(state("a")["priority"], Value(3));
  EXPECT_EQ(state("a")["concurrencyKey"], Value("shop"));
  EXPECT_TRUE(state("b")["queue"].is_null());
  Words idle = {"worker", "--until-idle", "--json", "--queue", "mails", "--queue", "other"};
  EXPECT_EQ(world.run({"queue", "pause", "mails"}).code, 0);
  EXPECT_EQ(world.run(idle).json()["processed"], Value(0));
  Value queues = world.run({"queue", "--json"}).json()["queues"];
  ASSERT_EQ(queues.as_array()->size(), 2u);
  EXPECT_EQ((*queues.as_array())[1]["name"], Value("mails"));
  EXPECT_EQ((*queues.as_array())[1]["paused"], Value(true));
  EXPECT_EQ((*queues.as_array())[1]["due"], Value(1));
  EXPECT_EQ(world.run({"queue", "drain", "mails"}).code, 0) << "nothing of it is at work";
  EXPECT_EQ(world.run({"queue", "resume", "mails"}).code, 0);
  EXPECT_EQ(world.run(idle).json()["processed"], Value(1));
  EXPECT_EQ(state("b")["status"], Value("queued"));
}

// Two workers see each time of the schedule, which is one a second; one is killed.
TEST_F(CliWorker, StartsTheRunsOfSchedulesOnce) {
  Words idle = {"scheduled", "worker", "--until-idle", "--json"};
  EXPECT_EQ(world.run(idle).json()["processed"], Value(0)) << "the schedule was not known before";
  auto ended = [&] {
    Value::Array threads;
    Value page = world.run({"scheduled", "threads", "--limit", "1000", "--json"}).json();
    if (const Value::Array* all = page["threads"].as_array()) threads = *all;
    std::erase_if(threads,
                  [](const Value& each) { return each["run"]["status"] != Value("completed"); });
    return threads;
  };
  auto wait_for = [&](std::size_t count) {
    for (int tries = 0; tries < 600 && ended().size() < count; ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    EXPECT_GE(ended().size(), count);
  };
  {
    Belay first({"scheduled", "worker"}, world.setting);
    Belay second({"scheduled", "worker"}, world.setting);
    wait_for(2);
    second.send(SIGKILL);
    second.finish();
    wait_for(ended().size() + 2);
    first.send(SIGTERM);
    EXPECT_EQ(first.finish().code, 0);
  }
  EXPECT_EQ(world.run(idle).code, 0);
  for (const Value& thread : ended()) {
    const std::string& name = *thread["threadId"].as_string();
    EXPECT_TRUE(name.starts_with("journey 20")) << name;
    Value runs = world.run({"scheduled", "history", name, "--json"}).json();
    EXPECT_EQ(runs["runs"].as_array()->size(), 1u) << to_json(runs);
  }
  EXPECT_EQ(world.run({"scheduled", "check"}).code, 0);
}

TEST_F(CliWorker, IsListedWhileItLives) {
  Belay worker({"worker"}, world.setting);
  ASSERT_TRUE(worker.waits_to_say("Worker started."));
  Value workers = world.run({"workers", "--json"}).json()["workers"];
  ASSERT_TRUE(workers.as_array());
  bool is_listed = false;
  for (const Value& each : *workers.as_array()) {
    bool is_it = each["processId"] == Value(static_cast<std::int64_t>(worker.process()));
    is_listed = is_listed || (is_it && each["alive"] == Value(true));
  }
  EXPECT_TRUE(is_listed) << to_json(workers);
}

TEST_F(CliWorker, OnlyWhatHasFailedGoesAgain) {
  enqueue("a");
  Outcome waiting = world.run({"queue", "retry", "a"});
  EXPECT_EQ(waiting.code, 4) << waiting.err;
  EXPECT_TRUE(waiting.says({"only a failed or quarantined run"})) << waiting.err;
}

TEST_F(CliWorker, AQuarantinedRunGoesAgainInAnotherThread) {
  expect_a_quarantined_run_goes_again(world);
}

TEST_F(CliWorker, AFailedRunGoesAgainInAnotherThread) {
  world.setting.binary.clear();
  expect_a_failed_run_goes_again(world);
}

TEST_F(CliWorker, QueuingAKeyAgainShowsHowItStands) {
  enqueue("a", {"--key", "k"});
  world.run({"worker", "--until-idle"});
  Outcome again = enqueue("a", {"--key", "k"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.json()["status"], Value("paused"));
  EXPECT_EQ(enqueue("a").code, 4) << "the thread is busy";
}

TEST_F(CliWorker, LeavesWhatIsToBeginLater) {
  EXPECT_EQ(enqueue("later", {"--after", "1h"}).code, 0);
  EXPECT_EQ(world.run({"worker", "--until-idle", "--json"}).json()["processed"], Value(0));
  EXPECT_EQ(state("later")["status"], Value("queued"));
  Outcome wrong = enqueue("wrong", {"--after", "soon"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_TRUE(wrong.says({"--after"})) << wrong.err;
}

TEST_F(CliWorker, ATermSignalDrainsIt) {
  Belay worker({"worker"}, world.setting);
  ASSERT_TRUE(worker.waits_to_say("Worker started."));
  EXPECT_EQ(enqueue("a").code, 0);
  ASSERT_TRUE(worker.waits_to_say("run.paused"));
  worker.send(SIGTERM);
  Outcome ended = worker.finish();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("Runs processed: 1."), std::string::npos) << ended.err;
  EXPECT_EQ(state("a")["status"], Value("paused"));
}

class CliDrain : public CliWorker {
 protected:
  void enqueue_journey(int seconds) {
    Outcome queued = world.run(
        {"enqueue", "journey", "--thread", "j", "--input", "seconds=" + std::to_string(seconds)});
    ASSERT_EQ(queued.code, 0) << queued.err;
  }
  // True if the journey has started, according to its record.
  bool is_under_way() {
    for (int look = 0; look < 200; ++look) {
      if (world.run({"calls", "j", "--json"}).out.find("intended") != std::string::npos)
        return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }
};

TEST_F(CliDrain, LetsARunningNodeEndAndBeSaved) {
  Belay worker({"worker"}, world.setting);
  ASSERT_TRUE(worker.waits_to_say("Worker started."));
  enqueue_journey(3);
  ASSERT_TRUE(is_under_way());
  worker.send(SIGTERM);
  ASSERT_TRUE(worker.waits_to_say("running nodes have 30.0 s to complete"));
  Outcome ended = worker.finish();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("info run.released agent=journey thread=j "), std::string::npos)
      << ended.err;
  EXPECT_EQ(ended.err.find("abandoned="), std::string::npos) << ended.err;
  Value left = state("j");
  EXPECT_EQ(left["status"], Value("queued"));
  EXPECT_EQ(left["currentNode"], Value("arrive")) << to_json(left);
  EXPECT_EQ(world.run({"worker", "--until-idle"}).code, 0);
  EXPECT_EQ(state("j")["status"], Value("completed"));
  EXPECT_EQ(state("j")["state"]["seen"], (Value(Value::Array{"drove 3", "there"})));
  EXPECT_EQ(world.run({"check"}).code, 0);
}

TEST_F(CliDrain, GivesUpWhatStillRunsAtItsDeadlineOrAtASecondSignalAndSaysSo) {
  for (bool is_second_signal : {false, true}) {
    SCOPED_TRACE(is_second_signal ? "a second signal" : "the deadline");
    World fresh;
    world.setting.environment["BELAY_STORE"] = fresh.setting.environment["BELAY_STORE"];
    Belay worker({"worker", "--drain-timeout", is_second_signal ? "10m" : "1s"}, world.setting);
    ASSERT_TRUE(worker.waits_to_say("Worker started."));
    enqueue_journey(600);
    ASSERT_TRUE(is_under_way());
    worker.send(SIGTERM);
    ASSERT_TRUE(worker.waits_to_say("to complete"));
    if (is_second_signal) worker.send(SIGINT);
    Outcome ended = worker.finish();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_NE(ended.err.find("abandoned=travel"), std::string::npos) << ended.err;
    EXPECT_EQ(state("j")["status"], Value("queued"));
    Value history = world.run({"history", "j", "--json"}).json();
    EXPECT_NE(to_json(history).find("release"), std::string::npos);
    // The next owner cannot detect whether it drove: a person decides.
    world.run({"worker", "--until-idle"});
    EXPECT_EQ(state("j")["status"], Value("paused"));
    EXPECT_EQ(world.run({"check"}).code, 0);
  }
  EXPECT_EQ(world.run({"worker", "--drain-timeout", "soon"}).code, 2);
}

TEST_F(CliDrain, AThirdSignalEndsAProcessWhoseNodeHoldsItsThread) {
  Belay worker({"worker"}, world.setting);
  ASSERT_TRUE(worker.waits_to_say("Worker started."));
  enqueue_journey(-1);
  ASSERT_TRUE(is_under_way());
  for (int i = 0; i < 3; ++i) {
    // Signals that are sent together might be delivered as one.
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    worker.send(SIGTERM);
  }
  EXPECT_EQ(worker.finish().code, 128 + SIGTERM);
}

TEST_F(CliWorker, ForgetsThreadsThatEndedLongAgo) {
  ASSERT_EQ(world.run({"run", "order", "--thread", "old", "--input", "item=hat"}).code, 3);
  ASSERT_EQ(world.run({"approvals", "reject", "old", "--by", "ana"}).code, 0);
  ASSERT_EQ(world.run({"run", "order", "--thread", "waits", "--input", "item=hat"}).code, 3);
  for (const char* keep : {"forever", "30d", "0h"}) {
    Belay worker({"worker", "--retention", keep}, world.setting);
    ASSERT_TRUE(worker.waits_to_say("Worker started."));
    ASSERT_EQ(enqueue("after " + std::string(keep)).code, 0);
    ASSERT_TRUE(worker.waits_to_say("run.paused"));
    worker.send(SIGTERM);
    ASSERT_EQ(worker.finish().code, 0);
    bool is_kept = keep != std::string_view("0h");
    EXPECT_EQ(world.run({"state", "old"}).code, is_kept ? 0 : 2) << keep;
    EXPECT_EQ(world.run({"state", "waits"}).code, 0) << keep;
  }
  EXPECT_EQ(world.run({"worker", "--retention", "soon"}).code, 2);
  EXPECT_EQ(world.run({"check"}).code, 0);
}

TEST_F(CliWorker, AForkGoesOnWithAnotherState) {
  Outcome begun =
      world.run({"run", "order", "--thread", "first", "--input", "item=hat", "--input", "count=2"});
  ASSERT_EQ(begun.code, 3) << begun.err;
  ASSERT_EQ(world.run({"approvals", "approve", "first", "--by", "ana"}).code, 0);

  Value preview = world.run({"fork", "first", "--at", "1", "--preview", "--json"}).json();
  EXPECT_EQ(preview["seq"], Value(1));
  EXPECT_EQ(preview["next"], Value(Value::Array{"confirm"}));
  EXPECT_EQ(preview["approvals"].as_array()->size(), 1u);

  Outcome forked = world.run(
      {"fork", "first", "--at", "1", "--edit", "item=cap", "--thread", "second", "--json"});
  EXPECT_EQ(forked.code, 3) << forked.err;
  EXPECT_EQ(forked.json()["state"]["item"], Value("cap"));
  ASSERT_EQ(world.run({"approvals", "approve", "second", "--by", "ana"}).code, 0);
  EXPECT_EQ(state("second")["state"]["receipt"], Value("2 x cap"));
  EXPECT_EQ(state("first")["state"]["receipt"], Value("2 x hat")) << "the other stays as it is";
  EXPECT_EQ(world.run({"check"}).code, 0);
}

TEST_F(CliWorker, AForkThatCannotBeIsRefusedWithItsReason) {
  ASSERT_EQ(world.run({"run", "order", "--thread", "first", "--input", "item=hat"}).code, 3);
  struct Case {
    Words words;
    Words says;
  };
  for (const Case& each : {
           Case{{"fork", "none"}, {"Unknown thread", "none"}},
           Case{{"fork", "first", "--at", "99"}, {"99"}},
           Case{{"fork", "first", "--at", "x"}, {"--at"}},
           Case{{"fork", "first", "--edit", "itm=cap"}, {"itm", "Did you mean \"item\"?"}},
           Case{{"fork", "first", "--edit", "count=many"}, {"--edit count", "integer"}},
           Case{{"fork", "first", "--thread", "first"}, {"first", "exists"}},
       }) {
    Outcome refused = world.run(each.words);
    EXPECT_TRUE(refused.code == 2 || refused.code == 4) << refused.code << refused.err;
    EXPECT_TRUE(refused.says(each.says)) << refused.err;
  }
}

}  // namespace
}  // namespace belay::cli::tests
