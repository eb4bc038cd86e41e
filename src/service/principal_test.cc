// One service for several principals: their tenants, their permissions, and the names in which they
// act.

#include "tests/support/principals.h"

#include <gmock/gmock.h>

#include "engine/run_options.h"
#include "service/json_encode.h"
#include "tests/support/service_fixture.h"

namespace belay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A local program of another tenant.
Principal program_of(std::string tenant) {
  Principal who;
  who.tenant = TenantId(std::move(tenant));
  return who;
}

Principal decider(std::string name) { return holder_of_key(std::move(name), Permission::decide); }

struct Principals : ServiceFixture {
  // Starts an order for the user of `who`: its run waits for an approval, and has a message.
  RunView order_of(const Principal& who, const std::string& thread, const std::string& item) {
    StartRun wanted = order(thread, item);
    if (!who.user.empty()) wanted.user = who.user;
    return wait(service_->start(who, std::move(wanted))).value();
  }
  void save(const Principal& who, const std::string& user, const std::string& text) {
    RecordWrite record;
    record.collection = "notes";
    record.user = UserId(user);
    record.key = "first";
    record.json = "{\"text\":\"" + text + "\"}";
    ASSERT_TRUE(wait(service_->save_records(who, {record})).ok());
  }
  Result<std::vector<RecordRow>> notes(const Principal& who, const std::string& user) {
    RecordFilter filter;
    filter.collection = "notes";
    return wait(records_of(*service_, who, UserId(user))->find(std::move(filter)));
  }
  std::vector<std::string> threads_of(const Principal& who) {
    std::vector<std::string> names;
    for (const ListedThread& each : wait(service_->threads(who, {})).value()) {
      names.push_back(each.thread.thread.text);
    }
    return names;
  }
  std::vector<std::string> approvals_of(const Principal& who) {
    std::vector<std::string> names;
    for (const ApprovalRow& each : wait(service_->approvals(who, {})).value()) {
      names.push_back(each.thread.text);
    }
    return names;
  }
  template <typename T>
  std::optional<ErrorCode> code_of(Task<Result<T>> task) {
    auto answer = wait(std::move(task));
    if (answer.ok()) return std::nullopt;
    return answer.error().code;
  }
  Result<DecisionResult> decide(const Principal& who, const RunView& run, Decision decision) {
    return wait(service_->decide(who, run.approval->interrupt, std::move(decision)));
  }
};

Decision approved_by(std::string name) {
  Decision decision;
  decision.approved = true;
  decision.decided_by = std::move(name);
  return decision;
}

// Each of them may read everything of its tenant.
struct TwoTenants : Principals {
  TwoTenants() {
    here_ = order_of(north_, "of-north", "a hat");
    there_ = order_of(south_, "of-south", "a scarf");
    save(north_, "local", "north");
    save(south_, "local", "south");
    QueueChange change{.name = "slow", .paused = true};
    EXPECT_TRUE(wait(service_->change_queue(south_, std::move(change))).ok());
  }

  const Principal north_ = program_of("north");
  const Principal south_ = program_of("south");
  // The holder of a key to all data of its tenant.
  const Principal chief_ = holder_of_key("chief", Permission::administer, TenantId("north"));
  RunView here_;
  RunView there_;
};

TEST_F(TwoTenants, ListTheirOwnThreadsRunsAndApprovals) {
  for (const Principal& who : {north_, chief_}) {
    EXPECT_THAT(threads_of(who), ElementsAre("of-north"));
    EXPECT_THAT(approvals_of(who), ElementsAre("of-north"));
    std::vector<RunRow> runs = wait(service_->runs(who, {})).value();
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_EQ(runs[0].run, here_.row.run);
    EXPECT_EQ(runs[0].tenant, north_.tenant);
    EXPECT_EQ(wait(service_->standing(who, {})).value().open.size(), 1u);
  }
  EXPECT_THAT(threads_of(south_), ElementsAre("of-south"));
  EXPECT_THAT(approvals_of(south_), ElementsAre("of-south"));
  EXPECT_THAT(threads_of(local_program), IsEmpty()) << "a third tenant";
  EXPECT_THAT(approvals_of(local_program), IsEmpty());
}

TEST_F(TwoTenants, FindNothingOfEachOther) {
  ThreadId theirs("of-south");
  RunId run = there_.row.run;
  EventOptions events;
  events.thread = theirs;
  ForkOptions fork;
  fork.from = theirs;
  constexpr ErrorCode absent = ErrorCode::not_found;
  for (const Principal& who : {north_, chief_}) {
    EXPECT_EQ(code_of(service_->thread(who, theirs)), absent);
    EXPECT_EQ(code_of(service_->run_of(who, theirs)), absent);
    EXPECT_EQ(code_of(service_->status(who, theirs, std::nullopt)), absent);
    EXPECT_EQ(code_of(service_->status(who, theirs, 1)), absent);
    EXPECT_EQ(code_of(service_->run(who, run)), absent);
    EXPECT_EQ(code_of(service_->runs(who, {.thread = theirs})), absent);
    EXPECT_EQ(code_of(service_->history(who, {.thread = theirs})), absent);
    EXPECT_EQ(code_of(service_->calls(who, {.thread = theirs})), absent);
    EXPECT_EQ(code_of(service_->export_run(who, theirs, std::nullopt)), absent);
    EXPECT_EQ(code_of(service_->replay(who, theirs, std::nullopt)), absent);
    EXPECT_EQ(code_of(service_->wait_for(who, theirs, std::nullopt)), absent);
    EXPECT_EQ(code_of(service_->preview(who, fork)), absent);
    EXPECT_EQ(code_of(service_->approval(who, "of-south", {})), absent);
    EXPECT_EQ(code_of(service_->approval_of(who, theirs, {})), absent);
    EXPECT_EQ(code_of(service_->messages(who, {.thread = theirs})), absent);
  }
}

TEST_F(TwoTenants, ChangeNothingOfEachOther) {
  ThreadId theirs("of-south");
  ForkOptions fork;
  fork.from = theirs;
  constexpr ErrorCode absent = ErrorCode::not_found;
  std::string message = message_id(wait(service_->messages(south_, {})).value().rows.at(0));
  for (const Principal& who : {north_, chief_}) {
    EXPECT_EQ(code_of(service_->resume(who, theirs)), absent);
    EXPECT_EQ(code_of(service_->cancel(who, theirs, "ana", "", std::nullopt)), absent);
    EXPECT_EQ(code_of(service_->fork(who, fork)), absent);
    EXPECT_EQ(code_of(service_->edit_thread(who, theirs, {.title = "mine"})), absent);
    EXPECT_EQ(code_of(service_->delete_thread(who, theirs)), absent);
    EXPECT_EQ(code_of(service_->preserve(who, theirs, true)), absent);
    auto decided = decide(who, there_, approved_by("ana"));
    ASSERT_FALSE(decided.ok());
    EXPECT_EQ(decided.error().code, absent);
    EXPECT_EQ(code_of(service_->give_up_message(who, message)), absent);
  }
  RunView now = wait(service_->status(south_, theirs, std::nullopt)).value();
  EXPECT_EQ(now.row.status, RunStatus::paused);
  EXPECT_EQ(now.row.seq, there_.row.seq);
}

TEST_F(TwoTenants, HaveTheirOwnRecordsMessagesAndQueues) {
  for (const auto& [who, text] : {std::pair(north_, "north"), std::pair(south_, "south")}) {
    auto rows = notes(who, "local").value();
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].json, std::string("{\"text\":\"") + text + "\"}");
    EXPECT_EQ(wait(service_->messages(who, {})).value().rows.size(), 1u);
  }
  EXPECT_THAT(to_json(wait(service_->queues(south_, std::nullopt)).value()),
              ::testing::HasSubstr("slow"));
  EXPECT_THAT(to_json(wait(service_->queues(north_, std::nullopt)).value()),
              ::testing::Not(::testing::HasSubstr("slow")));
  EXPECT_THAT(notes(local_program, "local").value(), IsEmpty());
}

TEST_F(TwoTenants, MayUseTheSameNames) {
  order_of(north_, "shared", "a hat");
  order_of(south_, "shared", "a scarf");
  Value hat = wait(service_->status(north_, ThreadId("shared"), std::nullopt)).value().state;
  Value scarf = wait(service_->status(south_, ThreadId("shared"), std::nullopt)).value().state;
  EXPECT_EQ(hat["item"], Value("a hat"));
  EXPECT_EQ(scarf["item"], Value("a scarf"));
  ThreadId shared("shared");
  EXPECT_TRUE(wait(service_->cancel(south_, shared, "ana", "", std::nullopt)).ok());
  EXPECT_EQ(wait(service_->run_of(north_, shared)).value().status, RunStatus::paused);
}

TEST_F(TwoTenants, CannotNameAnotherTenantInAnArgument) {
  StartRun wanted = order("smuggled", "a hat");
  wanted.tenant = south_.tenant;
  RunView started = wait(service_->start(north_, std::move(wanted))).value();
  EXPECT_EQ(started.row.tenant, north_.tenant);
  EventOptions events;
  events.tenant = south_.tenant;
  events.thread = ThreadId("of-south");
  EXPECT_EQ(code_of(service_->events(north_, std::move(events))), ErrorCode::not_found);
  ForkOptions fork;
  fork.tenant = south_.tenant;
  fork.from = ThreadId("of-south");
  EXPECT_EQ(code_of(service_->fork(north_, std::move(fork))), ErrorCode::not_found);
}

TEST_F(Principals, OfDifferentPermissionsAreServedAtOnce) {
  const Principal ana = holder_of_key("ana", Permission::run);
  const Principal bob = decider("bob");
  const Principal carl = holder_of_key("carl", Permission::administer);
  RunView of_ana = order_of(ana, "of-ana", "a hat");
  order_of(bob, "of-bob", "a scarf");
  // Each call begins before the previous one has ended.
  std::map<std::string, std::vector<std::string>> seen;
  std::vector<Spawned> reads;
  for (const Principal* who : {&ana, &bob, &carl}) {
    std::function<void(Result<std::vector<ListedThread>>)> threads = [&seen, who](auto found) {
      for (const ListedThread& each : *found) seen[who->key].push_back(each.thread.thread.text);
    };
    reads.push_back(spawn<Result<std::vector<ListedThread>>>(*loop_, service_->threads(*who, {}),
                                                             std::move(threads)));
  }
  EXPECT_THAT(approvals_of(ana), ElementsAre("of-ana"));
  EXPECT_EQ(approvals_of(bob).size(), 2u) << "and the approvals of others";
  EXPECT_EQ(approvals_of(carl).size(), 2u);
  EXPECT_THAT(seen["ana"], ElementsAre("of-ana"));
  EXPECT_THAT(seen["bob"], ElementsAre("of-bob"));
  EXPECT_EQ(seen["carl"].size(), 2u);
  EXPECT_EQ(code_of(service_->thread(bob, ThreadId("of-ana"))), ErrorCode::not_found);
  EXPECT_EQ(code_of(service_->workers(bob)), ErrorCode::forbidden);
  EXPECT_TRUE(wait(service_->workers(carl)).ok());
  DecisionResult made = decide(bob, of_ana, approved_by("bob")).value();
  EXPECT_TRUE(made.view.state.is_null()) << "the run belongs to another user";
}

TEST_F(Principals, WithAKeyActInTheNameOfItsUser) {
  RunView run = order_of(decider("ana"), "t", "a hat");
  Decision decision = approved_by("zoe");
  DecisionResult made = decide(decider("bob"), run, std::move(decision)).value();
  EXPECT_EQ(made.approval.decided_by, "bob");
  EXPECT_EQ(made.approval.on_behalf_of, "zoe");
  Decision as_boss = approved_by("bob");
  as_boss.roles = {"boss"};
  EXPECT_EQ(decide(decider("bob"), run, std::move(as_boss)).error().code, ErrorCode::forbidden);
  const Principal chief = holder_of_key("chief", Permission::administer);
  StartRun skips = order("skips", "a hat");
  skips.user = chief.user;
  skips.run.require_approval = false;
  EXPECT_EQ(code_of(service_->start(chief, skips)), ErrorCode::forbidden);
  Principal trusted = chief;
  trusted.may_skip_approvals = true;
  EXPECT_EQ(wait(service_->start(trusted, skips)).value().row.status, RunStatus::completed);
}

TEST_F(Principals, OfALocalProgramAreUnrestricted) {
  RunView run = order_of(holder_of_key("ana", Permission::run), "t", "a hat");
  Decision decision = approved_by("zoe");
  decision.on_behalf_of = "yan";
  decision.roles = {"boss"};
  DecisionResult made = decide(local_program, run, std::move(decision)).value();
  EXPECT_EQ(made.approval.decided_by, "zoe") << "as it is given";
  EXPECT_EQ(made.approval.on_behalf_of, "yan");
  EXPECT_EQ(made.view.row.status, RunStatus::completed);
  StartRun skips = order("skips", "a hat");
  skips.user = UserId("eve");
  skips.run.require_approval = false;
  RunView skipped = wait(service_->start(local_program, std::move(skips))).value();
  EXPECT_EQ(skipped.row.status, RunStatus::completed);
  EXPECT_EQ(threads_of(local_program).size(), 2u);
  ForkOptions fork;
  fork.from = ThreadId("skips");
  EXPECT_EQ(wait(service_->fork(local_program, std::move(fork))).value().row.user, UserId("eve"))
      << "a fork belongs to the user of its origin";
  save(local_program, "eve", "hers");
  EXPECT_EQ(notes(local_program, "eve").value().size(), 1u);
}

// The Agent Server sets this member of a configuration.
TEST_F(Principals, WithAKeyCannotNameAnotherUserAsTheCallerOfARun) {
  const std::string forged = R"({"configurable":{"langgraph_auth_user_id":"eve","x":1}})";
  auto stored = [&](const Principal& who, const std::string& thread) {
    StartRun wanted = order(thread, "a hat");
    if (!who.user.empty()) wanted.user = who.user;
    wanted.run.configuration = forged;
    RunView view = wait(service_->start(who, std::move(wanted))).value();
    return engine::options_from(view.row.options).value().configuration;
  };
  EXPECT_EQ(stored(decider("ana"), "of-ana"),
            R"({"configurable":{"langgraph_auth_user_id":"ana","x":1}})");
  EXPECT_EQ(stored(local_program, "of-program"), forged);
}

TEST_F(Principals, SaveOnlyTheirOwnRecordsWithAStart) {
  auto start_of = [&](const Principal& who, const char* user, const char* collection) {
    StartRun wanted = order("t", "a hat");
    if (!who.user.empty()) wanted.user = who.user;
    RecordWrite note;
    note.collection = collection;
    note.user = UserId(user);
    note.key = "first";
    note.json = R"({"text":"hers"})";
    wanted.records.push_back(std::move(note));
    return service_->start(who, std::move(wanted));
  };
  Principal ana = holder_of_key("ana", Permission::run);
  EXPECT_EQ(code_of(start_of(ana, "ben", "notes")), ErrorCode::not_found);
  EXPECT_EQ(code_of(start_of(local_program, "local", "steering_messages")), ErrorCode::invalid);
  EXPECT_THAT(threads_of(local_program), IsEmpty());
  ASSERT_TRUE(wait(start_of(ana, "ana", "notes")).ok());
  EXPECT_EQ(notes(ana, "ana").value().size(), 1u);
}

TEST_F(Principals, WithoutAKeyAndBelowAdministerAreRestricted) {
  order_of(local_program, "t", "a hat");
  Principal nobody;
  nobody.user = UserId("nobody");
  nobody.permission = Permission::read;
  EXPECT_THAT(threads_of(nobody), IsEmpty());
  EXPECT_EQ(code_of(service_->thread(nobody, ThreadId("t"))), ErrorCode::not_found);
  EXPECT_EQ(code_of(service_->statistics(nobody)), ErrorCode::forbidden);
}

// The caller of a start might be destroyed before its run has ended, and its principal with it.
TEST_F(Principals, NeedNotOutliveTheRunsThatTheyStart) {
  auto who = std::make_unique<Principal>(holder_of_key("ana", Permission::run));
  StartRun wanted = order("t", "a hat");
  wanted.user = who->user;
  Spawned start = spawn<Result<RunView>>(*loop_, service_->start(*who, std::move(wanted)),
                                         [](const Result<RunView>&) {});
  start.reset();
  who.reset();
  const Principal again = holder_of_key("ana", Permission::run);
  auto run = wait(service_->wait_for(again, ThreadId("t"), std::nullopt));
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->row.status, RunStatus::paused);
}

}  // namespace
}  // namespace belay
