// Several processes, or several stores in one process, on the same SQLite file.

#include <gmock/gmock.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "store/sqlite/sqlite_store.h"
#include "tests/conformance/store_suite.h"

namespace belay::conformance {
namespace {

// A child process that sends "ready" at a certain point and waits there. Must be created before the
// parent starts threads, because it forks.
class Child {
 public:
  enum class Waits { now, until_asked };
  // `work` runs in the child and returns the text that the parent reads, immediately or in said().
  explicit Child(const std::function<std::string()>& work, Waits waits = Waits::now) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(pipe(ends), 0);
    pid_ = fork();
    if (pid_ == 0) {
      std::string said = work() + "\n";
      if (write(ends[1], said.data(), said.size()) < 0) _exit(1);
      while (true) pause();
    }
    close(ends[1]);
    from_ = ends[0];
    if (waits == Waits::now) said();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { kill_it(); }

  const std::string& said() {
    if (from_ < 0) return said_;
    char byte = 0;
    while (::read(from_, &byte, 1) == 1 && byte != '\n') said_ += byte;
    close(std::exchange(from_, -1));
    return said_;
  }
  void kill_it() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
  int from_ = -1;
  std::string said_;
};

class SqliteProcesses : public testing::Test {
 protected:
  std::unique_ptr<Store> open() {
    auto opened = open_sqlite_store(folder_.file("store.db"), clock_, random_);
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    return opened.ok() ? *std::move(opened) : nullptr;
  }

  TemporaryFolder folder_;
  StandingClock clock_;
  SeededRandom random_;
};

// A boot ends all locks: if a process holds a lock with the same number now, it is a different
// process.
TEST_F(SqliteProcesses, ASessionOfAnotherBootIsDead) {
  auto first = open();
  auto second = open();
  SessionId session = *first->open_session();
  EXPECT_TRUE(*second->is_alive(session));
  sqlite3* file = nullptr;
  ASSERT_EQ(sqlite3_open(folder_.file("store.db").c_str(), &file), SQLITE_OK);
  const char* reboot = "UPDATE sessions SET boot_id = zeroblob(16)";
  EXPECT_EQ(sqlite3_exec(file, reboot, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(file);
  EXPECT_FALSE(*second->is_alive(session));
  EXPECT_TRUE(open() != nullptr) << "it tidies the sessions of the boot before";
  EXPECT_FALSE(*second->is_alive(session));
}

TEST_F(SqliteProcesses, TwoStoresOnOneFileFenceEachOther) {
  auto first = open();
  auto second = open();
  Caller one(*first);
  Caller two(*second);
  RunScript script("a");
  EXPECT_EQ(one.commit(script.first()), CommitOutcome::applied);
  EXPECT_EQ(two.run(script.row.run), script.row);
  RunScript rival = script;
  rival.become("rival");
  EXPECT_EQ(two.commit(rival.next()), CommitOutcome::applied);
  EXPECT_EQ(one.commit(script.next()), CommitOutcome::fenced);
  EXPECT_EQ(one.run(script.row.run), rival.row);
}

TEST_F(SqliteProcesses, SessionsOfOneStoreAreSeenByTheOther) {
  auto first = open();
  auto second = open();
  SessionId session = *first->open_session();
  SessionId other = *second->open_session();
  EXPECT_TRUE(*second->is_alive(session));
  EXPECT_TRUE(*first->is_alive(other));
  first->close_session(session);
  EXPECT_FALSE(*second->is_alive(session));
  EXPECT_TRUE(*second->is_alive(other));
  second.reset();
  EXPECT_FALSE(*first->is_alive(other)) << "it ends with its store";
}

TEST_F(SqliteProcesses, AKilledProcessesSessionIsDeadAtOnceAndItsCommitsAreThere) {
  RunScript script("a");
  Child child([&] {
    auto store = open();
    Caller call(*store);
    script.row.session = *store->open_session();
    std::string said = call.commit(script.first()) == CommitOutcome::applied
                           ? script.row.session.text()
                           : "not applied";
    (void)store.release();  // still open when the process is killed
    return said;
  });
  auto store = open();
  Caller call(*store);
  SessionId session(*uuid_from(child.said()));
  EXPECT_EQ(call.runs(RunFilter{default_tenant()}).at(0).session, session);
  EXPECT_TRUE(*store->is_alive(session));
  child.kill_it();
  EXPECT_FALSE(*store->is_alive(session));
  EXPECT_EQ(call.runs(RunFilter{default_tenant()}).at(0).session, session) << "still named";
}

// Changes that make a path lead to another file: the file is moved, removed or replaced.
class SqliteFileGone : public SqliteProcesses, public testing::WithParamInterface<int> {};

TEST_P(SqliteFileGone, NothingIsAcknowledgedThatNobodyWouldFind) {
  auto store = open();
  Caller call(*store);
  RunScript script("a");
  ASSERT_EQ(call.commit(script.first()), CommitOutcome::applied);
  std::string path = folder_.file("store.db");
  if (GetParam() == 0) std::filesystem::rename(path, folder_.file("moved.db"));
  if (GetParam() == 1) std::filesystem::remove(path);
  if (GetParam() == 2) {
    std::filesystem::copy_file(path, folder_.file("copy.db"));
    std::filesystem::rename(folder_.file("copy.db"), path);
  }
  auto refused = call.try_commit(script.next());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("moved, removed or replaced"));
  EXPECT_FALSE(store->accepts_commits()) << "its process ends, for others to have its runs";
}

INSTANTIATE_TEST_SUITE_P(How, SqliteFileGone, testing::Range(0, 3));

// A second name that is created while the store is open is harmless: no process opens the file by
// that name.
TEST_F(SqliteProcesses, AHardLinkThatIsMadeMeanwhileStopsNobody) {
  auto store = open();
  Caller call(*store);
  RunScript script("a");
  ASSERT_EQ(call.commit(script.first()), CommitOutcome::applied);
  std::filesystem::create_hard_link(folder_.file("store.db"), folder_.file("other.db"));
  EXPECT_EQ(call.commit(script.next()), CommitOutcome::applied);
  for (const char* name : {"store.db", "other.db"}) {
    auto refused = open_sqlite_store(folder_.file(name), clock_, random_);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  }
  std::filesystem::remove(folder_.file("other.db"));
  EXPECT_EQ(Caller(*open()).run(script.row.run), script.row);
}

// The kernel drops all of a process's locks on a file when the process closes any descriptor of it.
TEST_F(SqliteProcesses, ASecondStoreInTheProcessLeavesTheLocksOfTheFirst) {
  int go[2] = {-1, -1};
  ASSERT_EQ(pipe(go), 0);
  std::string log = folder_.file("store.db-wal");
  RunScript script("a");
  std::unique_ptr<Store> first;
  // Forked before there are threads; the child waits for a byte.
  auto open_and_close = [&] {
    char byte = 0;
    if (::read(go[0], &byte, 1) != 1) return std::string("no turn");
    // The last process that closes the file would checkpoint the WAL into it and remove the WAL.
    auto store = open();
    store.reset();
    return std::string("closed");
  };
  Child another(open_and_close, Child::Waits::until_asked);
  first = open();
  Caller call(*first);
  ASSERT_EQ(call.commit(script.first()), CommitOutcome::applied);
  auto second = open();
  second.reset();
  ASSERT_TRUE(std::filesystem::exists(log));
  ASSERT_EQ(write(go[1], "x", 1), 1);
  EXPECT_EQ(another.said(), "closed");
  EXPECT_TRUE(std::filesystem::exists(log)) << "the first store's commits go there";
  EXPECT_EQ(call.commit(script.next()), CommitOutcome::applied);
  EXPECT_EQ(Caller(*open()).run(script.row.run), script.row);
}

TEST_F(SqliteProcesses, StoresInOneFolderDoNotTakeOneAnothersSessionsForTheirs) {
  auto first = open();
  SeededRandom same_numbers;
  auto other = *open_sqlite_store(folder_.file("other.db"), clock_, same_numbers);
  SessionId session = *first->open_session();
  SeededRandom again;
  auto twin = *open_sqlite_store(folder_.file("twin.db"), clock_, again);
  EXPECT_EQ(*other->open_session(), *twin->open_session()) << "the same id, in two stores";
  auto second = open();
  EXPECT_TRUE(*second->is_alive(session));
  first.reset();
  EXPECT_FALSE(*second->is_alive(session)) << "though stores with sessions of that id live";
}

TEST_F(SqliteProcesses, DeadSessionsThatNoRunNamesArePruned) {
  for (int i = 0; i < 3; ++i) {
    auto store = open();
    EXPECT_TRUE(store->open_session().ok());
  }
  auto store = open();
  Caller call(*store);
  RunScript script("a");
  SessionId used = *store->open_session();
  SessionId alive = *store->open_session();
  script.row.session = used;
  call.commit(script.first());
  store->close_session(used);
  auto second = open();
  EXPECT_TRUE(*second->is_alive(alive)) << "a living one is not pruned";
  EXPECT_EQ(Caller(*second).run(script.row.run).session, used) << "nor one that a run names";
}

TEST_F(SqliteProcesses, ManyMayOpenANewFileAtOnce) {
  std::vector<std::unique_ptr<Child>> children;
  std::vector<std::thread> openers;
  std::atomic<int> applied = 0;
  for (int i = 0; i < 8; ++i) {
    openers.emplace_back([&, i] {
      auto store = open();
      if (!store) return;
      Caller call(*store);
      applied += call.commit(RunScript(std::to_string(i)).first()) == CommitOutcome::applied;
    });
  }
  for (std::thread& opener : openers) opener.join();
  EXPECT_EQ(applied, 8);
  EXPECT_EQ(Caller(*open()).runs(RunFilter{default_tenant()}).size(), 8u);
}

TEST_F(SqliteProcesses, OfEightDecisionsInEightStoresExactlyOneApplies) {
  RunScript script("a");
  {
    auto store = open();
    Caller call(*store);
    call.commit(script.first());
    call.commit(script.ask(clock_.now() + std::chrono::hours(1)));
  }
  std::atomic<int> applied = 0;
  std::vector<std::thread> deciders;
  for (int i = 0; i < 8; ++i) {
    deciders.emplace_back([&, i] {
      auto store = open();
      RunScript rival = script;
      rival.become(std::to_string(i));
      Caller call(*store);
      applied += call.commit(rival.decide(ApprovalStatus::approved)) == CommitOutcome::applied;
    });
  }
  for (std::thread& decider : deciders) decider.join();
  EXPECT_EQ(applied, 1);
}

TEST_F(SqliteProcesses, AProcessKilledBetweenCommitAndAnswerHasCommitted) {
  RunScript script("a");
  Commit sent = script.first();
  Child child([&] {
    int ends[2] = {-1, -1};
    if (pipe(ends) != 0) return std::string("no pipe");
    sqlite::SqliteStoreOptions options;
    options.at_commit = [&](std::uint64_t, bool after) {
      if (!after) return;
      (void)!write(ends[1], "x", 1);
      while (true) pause();  // durable, and never acknowledged
    };
    auto store = sqlite::open_sqlite_store(folder_.file("store.db"), clock_, random_, options);
    std::thread([&] { Caller(**store).commit(sent); }).detach();
    char byte = 0;
    (void)!::read(ends[0], &byte, 1);
    (void)store->release();
    // The frame must not be destroyed while the writer executes in it.
    std::string said = "durable\n";
    return said;
  });
  EXPECT_EQ(child.said(), "durable");
  child.kill_it();
  auto store = open();
  Caller call(*store);
  EXPECT_EQ(call.run(script.row.run), script.row);
  EXPECT_EQ(call.commit(sent), CommitOutcome::applied) << "sent again after the lost reply";
}

}  // namespace
}  // namespace belay::conformance
