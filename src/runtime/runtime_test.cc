#include "belay/runtime.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/testing.h"
#include "tests/support/runtime_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct Runs : RuntimeFixture {};

TEST_F(Runs, ALinearGraphCommitsOncePerNodeAndOnceToBegin) {
  auto view = start_mail("calm").value();
  EXPECT_EQ(view.row.status, RunStatus::completed);
  EXPECT_EQ(view.row.outcome, "sent");
  EXPECT_EQ(view.row.node, "end");
  EXPECT_EQ(view.row.seq, 3u);  // input, write, send: "calm" needs no review
  EXPECT_EQ(*view.state["draft"].as_string(), "Dear calm");
}

TEST_F(Runs, AThreadIdIsRandomWhereNoneIsGiven) {
  auto first = start_mail("calm").value();
  auto second = start_mail("calm").value();
  EXPECT_NE(first.row.thread, second.row.thread);
  EXPECT_EQ(first.row.thread.text.size(), 36u);
  EXPECT_EQ(first.row.thread.text[14], '4');
}

TEST_F(Runs, AFailedModelIsTriedAgainAfterABackoff) {
  model.fails(error(ErrorCode::unavailable, "busy")).fails(error(ErrorCode::unavailable, "busy"));
  auto view = start_mail("calm").value();
  EXPECT_EQ(view.row.status, RunStatus::completed);
  EXPECT_EQ(view.row.retry_count, 2);
  auto waited = clock.now() - began;
  EXPECT_GE(waited, 800ms * 2 + 800ms * 4);
  EXPECT_LE(waited, 1200ms * 2 + 1200ms * 4);
}

TEST_F(Runs, ANodeThatTakesTooLongIsStoppedAndCountsAsFailed) {
  model.takes(1h);
  auto view = start_mail("calm").value();
  EXPECT_EQ(view.row.status, RunStatus::failed);
  EXPECT_EQ(view.row.error_code, "unavailable");
  EXPECT_THAT(view.row.error, HasSubstr("took longer than its 30000 ms"));
  EXPECT_LT(clock.now() - began, 3 * 31s + 20s);
}

TEST_F(Runs, ARunThatWorksTooLongEndsThenAndThere) {
  model.takes(20s);
  StartOptions options;
  options.run.timeout = 5s;
  auto view = start_mail("calm", options).value();
  EXPECT_EQ(view.row.status, RunStatus::failed);
  EXPECT_EQ(view.row.error_code, "exhausted");
  EXPECT_EQ(clock.now() - began, 5s);
}

TEST_F(Runs, WaitingForAPersonIsNotWork) {
  StartOptions options;
  options.run.timeout = 5s;
  auto paused = start_mail("urgent", options).value();
  clock.move(23h);
  auto answer = decide(paused, approve()).value();
  EXPECT_EQ(answer.view.row.status, RunStatus::completed);
}

TEST_F(Runs, AnExceptionOfANodeBecomesAnError) {
  model.replies_with([](const ModelRequest&) -> Result<std::string> {
    return error(ErrorCode::invalid, "This model can't write mails.");
  });
  auto view = start_mail("calm").value();
  EXPECT_EQ(view.row.status, RunStatus::failed);
  EXPECT_EQ(view.row.error, "This model can't write mails.");
  EXPECT_EQ(view.row.error_code, "invalid");
  EXPECT_EQ(view.row.node, "write");
}

TEST_F(Runs, ABugThatThrowsFailsTheRunNotTheProcess) {
  model.replies_with(
      [](const ModelRequest&) -> Result<std::string> { throw std::out_of_range("at"); });
  auto view = start_mail("calm").value();
  EXPECT_EQ(view.row.status, RunStatus::failed);
  EXPECT_THAT(view.row.error, HasSubstr("threw: at"));
}

TEST_F(Runs, AKnownThreadGoesOnOrGivesItsResult) {
  StartOptions options;
  options.thread = ThreadId("t");
  auto paused = start_mail("urgent", options).value();
  EXPECT_EQ(start_mail("urgent", options)->row.run, paused.row.run);
  decide(paused, approve()).value();
  auto again = start_mail("urgent", options).value();
  EXPECT_EQ(again.row.run, paused.row.run);
  EXPECT_EQ(again.row.status, RunStatus::completed);
  EXPECT_EQ(model.requests().size(), 1u);
}

TEST_F(Runs, AKnownThreadWithAnotherInputIsRefused) {
  StartOptions options;
  options.thread = ThreadId("t");
  start_mail("calm", options).value();
  EXPECT_EQ(start_mail("other", options).error().code, ErrorCode::invalid);
}

TEST_F(Runs, RecordsAreOfUsersThatThereCouldBe) {
  for (const std::string& bad : {std::string(), std::string(201, 'x'), std::string("a\tb")}) {
    RecordWrite write{"notes", UserId(bad), "1", "{}", {}, false};
    std::vector<RecordWrite> writes{write};
    auto saved = block_on(loop, runtime->save(default_tenant(), std::move(writes)));
    EXPECT_EQ(saved.error().code, ErrorCode::invalid);
    RecordFilter filter;
    filter.collection = "notes";
    auto found = block_on(loop, runtime->records(default_tenant(), UserId(bad))->find(filter));
    EXPECT_EQ(found.error().code, ErrorCode::invalid);
  }
}

TEST_F(Runs, AKnownThreadOfAnotherUserIsRefused) {
  StartOptions options;
  options.thread = ThreadId("t");
  options.user = UserId("ana");
  auto paused = start_mail("urgent", options).value();
  options.user = UserId("ben");
  auto refused = start_mail("urgent", options);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_THAT(refused.error().message, HasSubstr("belongs to another user"));
  EXPECT_EQ(start_mail("calm", options).error(), refused.error()) << "whatever its input is";
  options.user = UserId("ana");
  EXPECT_EQ(start_mail("urgent", options)->row.run, paused.row.run);
}

TEST_F(Runs, BadNamesAreRefusedAndNothingIsWritten) {
  for (std::string name : {std::string("a\nb"), std::string("\xff"), std::string(201, 'x')}) {
    StartOptions options;
    options.thread = ThreadId(name);
    EXPECT_EQ(start_mail("calm", options).error().code, ErrorCode::invalid);
  }
  StartOptions options;
  options.run.timeout = 0ms;
  EXPECT_EQ(start_mail("calm", options).error().code, ErrorCode::invalid);
  EXPECT_TRUE(all_runs().empty());
}

TEST_F(Runs, AnUnknownThreadSaysSo) {
  auto missing = block_on(loop, runtime->status(default_tenant(), ThreadId("nobody")));
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_THAT(missing.error().message, HasSubstr("Execution thread not found or expired"));
}

TEST_F(Runs, AThreadIdleForAWeekCantBeResumed) {
  auto paused = start_mail("urgent").value();
  clock.move(8 * 24h);
  auto late = block_on(loop, runtime->resume(default_tenant(), paused.row.thread));
  EXPECT_EQ(late.error().code, ErrorCode::not_found);
  EXPECT_TRUE(block_on(loop, runtime->status(default_tenant(), paused.row.thread)).ok());
}

TEST_F(Runs, AnOpenApprovalKeepsAThreadAliveForLonger) {
  StartOptions options;
  options.run.approval_expires = 30 * 24h;
  auto paused = start_mail("urgent", options).value();
  clock.move(20 * 24h);
  EXPECT_TRUE(block_on(loop, runtime->resume(default_tenant(), paused.row.thread)).ok());
}

TEST_F(Runs, PastStatesCanBeRead) {
  auto paused = start_mail("urgent").value();
  auto begun = block_on(loop, runtime->status_at(default_tenant(), paused.row.thread, 1)).value();
  EXPECT_EQ(*begun.state["draft"].as_string(), "");
  auto written = block_on(loop, runtime->status_at(default_tenant(), paused.row.thread, 2)).value();
  EXPECT_EQ(*written.state["draft"].as_string(), "Dear urgent");
  EXPECT_TRUE(written.approvals.empty()) << "it is of a later commit";
  EXPECT_FALSE(written.approval);
  auto now =
      block_on(loop, runtime->status_at(default_tenant(), paused.row.thread, paused.row.seq));
  EXPECT_EQ(now.value().approvals.size(), 1u);
  auto missing = block_on(loop, runtime->status_at(default_tenant(), paused.row.thread, 9));
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
}

TEST_F(Runs, BeforeItsEndARunHadNoneOfWhatTheEndSays) {
  for (bool fails : {false, true}) {
    if (fails) model.fails(error(ErrorCode::invalid, "no such model"));
    RunView ended = start_mail("calm").value();
    ASSERT_EQ(ended.row.status, fails ? RunStatus::failed : RunStatus::completed);
    auto begun = block_on(loop, runtime->status_at(default_tenant(), ended.row.thread, 1)).value();
    EXPECT_EQ(begun.row.status, RunStatus::running);
    EXPECT_EQ(begun.row.error_code + begun.row.error, "");
    EXPECT_EQ(begun.row.outcome + begun.row.reason, "");
    auto now =
        block_on(loop, runtime->status_at(default_tenant(), ended.row.thread, ended.row.seq));
    EXPECT_EQ(now.value().row.error_code, fails ? "invalid" : "");
  }
}

TEST_F(Runs, TellsWhatHappensAfterItIsDurable) {
  model.fails(error(ErrorCode::unavailable, "busy"));
  start_mail("urgent").value();
  EXPECT_EQ(told,
            (std::vector<std::string>{"started write 1", "attempt_failed write 1",
                                      "started write 2", "finished write 2", "paused review 2"}));
}

TEST_F(Runs, ManyRunsGoOnBesideOneAnother) {
  model.takes(3s).then_always([](const ModelRequest&) { return std::string("Dear all"); });
  std::vector<Spawned> running;
  int completed = 0;
  for (int i = 0; i < 50; ++i) {
    running.push_back(spawn<Result<RunView>>(
        loop, runtime->start(graph, Mail{.topic = "calm " + std::to_string(i)}, StartOptions{}),
        [&](Result<RunView> view) {
          if (view.ok() && view->row.status == RunStatus::completed) ++completed;
        }));
  }
  loop.run();
  EXPECT_EQ(completed, 50);
  EXPECT_EQ(clock.now() - began, 3s);
  EXPECT_EQ(all_runs().size(), 50u);
}

TEST_F(Runs, WhatANodeSavesIsReadBackByKeyAndByMember) {
  auto view = start_mail("calm").value();
  auto records = runtime->records(default_tenant(), UserId("local"));
  auto sent = block_on(loop, records->get<SentMail>(view.row.thread.text)).value();
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->text, "Dear calm");
  EXPECT_EQ(block_on(loop, records->where(&SentMail::topic, std::string("calm"), 10))->size(), 1u);
  EXPECT_TRUE(block_on(loop, records->where(&SentMail::topic, std::string("x"), 10))->empty());
  auto stranger = runtime->records(default_tenant(), UserId("stranger"));
  EXPECT_FALSE(*block_on(loop, stranger->get<SentMail>(view.row.thread.text)));
}

TEST_F(Runs, ACycleThatNeverEndsIsStopped) {
  GraphBuilder<Mail> builder{"cycle"};
  builder.node("again", [](const Mail&, Context&) { return add(&Mail::rounds, 1); });
  builder.edge(start, "again");
  builder.branch("again", [](const Mail& mail) { return mail.rounds < 0; }, {"again", end});
  auto cycle = std::move(builder).build().value();
  runtime->add(cycle);
  auto view = block_on(loop, runtime->start(cycle, Mail{}, StartOptions{})).value();
  EXPECT_EQ(view.row.status, RunStatus::failed);
  EXPECT_EQ(view.row.error_code, "exhausted");
}

}  // namespace
}  // namespace belay
