// Long on purpose: a store and its file, as this and other programs see it.

// The SQLite store and its file: files that are rejected and left unchanged, data that is found
// after reopening, and the tables as another program sees them.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <sstream>

#include "store/sqlite/sqlite_store.h"
#include "tests/conformance/store_suite.h"

namespace belay::conformance {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string bytes_of(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

class SqliteFile : public testing::Test {
 protected:
  // Opens the store, calls `use`, and closes the store.
  void with_store(const std::function<void(Store&, Caller&)>& use) {
    auto opened = open_sqlite_store(path_, clock_, random_);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    Caller caller(**opened);
    use(**opened, caller);
  }

  void expect_refused(const std::string& path, ErrorCode code, const std::string& words) {
    auto opened = open_sqlite_store(path, clock_, random_);
    ASSERT_FALSE(opened.ok()) << path;
    EXPECT_EQ(opened.error().code, code) << opened.error().message;
    EXPECT_THAT(opened.error().message, HasSubstr(words));
    EXPECT_THAT(opened.error().message, testing::Not(HasSubstr("\n")));
  }

  // Returns the first column of each row of a query, as another program reads it.
  std::vector<std::string> ask(const std::string& sql) {
    sqlite3* file = nullptr;
    EXPECT_EQ(sqlite3_open(path_.c_str(), &file), SQLITE_OK);
    std::vector<std::string> answers;
    auto add = [](void* to, int, char** columns, char**) {
      static_cast<std::vector<std::string>*>(to)->push_back(columns[0] ? columns[0] : "null");
      return 0;
    };
    char* problem = nullptr;
    EXPECT_EQ(sqlite3_exec(file, sql.c_str(), add, &answers, &problem), SQLITE_OK) << problem;
    sqlite3_close(file);
    return answers;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.file("store.db");
  StandingClock clock_;
  SeededRandom random_;
};

TEST_F(SqliteFile, KeepsEverythingOverAReopening) {
  std::string before;
  RunScript script("a");
  with_store([&](Store&, Caller& call) {
    call.commit(script.first());
    call.commit(script.next());
    call.commit(script.ask(clock_.now() + std::chrono::hours(1)));
    call.commit(import_of({record_put("1", "{}", {{"date", "2025-11-22"}})}));
    before = call.all();
  });
  with_store([&](Store&, Caller& call) {
    EXPECT_EQ(call.all(), before);
    EXPECT_EQ(call.commit(script.decide(ApprovalStatus::approved)), CommitOutcome::applied);
  });
  EXPECT_THAT(ask("PRAGMA integrity_check"), testing::ElementsAre("ok"));
}

TEST_F(SqliteFile, NamesAParentOnlyWhereItIsNotTheCommitBefore) {
  RunScript script("a");
  with_store([&](Store&, Caller& call) {
    call.commit(script.first());
    for (int i = 0; i < 3; ++i) call.commit(script.next());
    EXPECT_THAT(ask("SELECT count(*) FROM checkpoints WHERE length(parent_id) > 0"),
                testing::ElementsAre("0"));
  });
  with_store([&](Store&, Caller& call) {
    call.commit(script.next());
    auto rows = call.checkpoints({default_tenant(), script.row.run});
    for (std::size_t i = 0; i + 1 < rows.size(); ++i) EXPECT_EQ(rows[i].parent, rows[i + 1].id);
  });
}

TEST_F(SqliteFile, TellsByItsVersionThatAnotherHasCommitted) {
  with_store([&](Store& one, Caller&) {
    with_store([&](Store& other, Caller& call) {
      auto before = one.change_token();
      ASSERT_TRUE(before);
      EXPECT_EQ(one.change_token(), before);
      call.commit(RunScript("t").first());
      EXPECT_NE(one.change_token(), before);
      auto after = one.change_token();
      EXPECT_EQ(one.change_token(), after);
      EXPECT_TRUE(other.change_token());
    });
  });
}

TEST_F(SqliteFile, IsOnlyItsUsersToRead) {
  with_store([&](Store&, Caller& call) {
    call.commit(RunScript("a").first());
    for (const char* end : {"", "-wal", "-shm"}) {
      struct stat status{};
      ASSERT_EQ(stat((path_ + end).c_str(), &status), 0) << end;
      EXPECT_EQ(status.st_mode & 0777u, 0600u) << end;
    }
  });
}

TEST_F(SqliteFile, RefusesPathsThatCannotBeAStore) {
  expect_refused("", ErrorCode::invalid, "sqlite:PATH");
  expect_refused(":memory:", ErrorCode::invalid, "memory:");
  expect_refused(folder_.path(), ErrorCode::invalid, "folder");
  expect_refused(folder_.file("no/such/folder.db"), ErrorCode::invalid, "Create the folder");
  expect_refused("/dev/null", ErrorCode::invalid, "not a regular file");
  std::ofstream(folder_.file("file")) << "x";
  expect_refused(folder_.file("file/store.db"), ErrorCode::invalid, "folder");
}

TEST_F(SqliteFile, IsOpenedByName) {
  EXPECT_TRUE(open_store("memory:", clock_, random_).ok());
  EXPECT_TRUE(open_store("sqlite:" + path_, clock_, random_).ok());
  for (const char* name : {"", "memory", "postgres:x", "store.db", "sqlite::memory:", "sqlite:"}) {
    auto opened = open_store(name, clock_, random_);
    ASSERT_FALSE(opened.ok()) << name;
    EXPECT_EQ(opened.error().code, ErrorCode::invalid);
  }
  EXPECT_THAT(open_store("x", clock_, random_).error().message,
              AllOf(HasSubstr("sqlite:PATH"), HasSubstr("memory:")));
}

TEST_F(SqliteFile, LeavesFilesAloneThatAreNotIts) {
  std::ofstream(path_) << "Dear diary, this is no database at all, but a text.\n";
  std::string before = bytes_of(path_);
  expect_refused(path_, ErrorCode::corrupt, "not a SQLite file");
  EXPECT_EQ(bytes_of(path_), before);

  std::filesystem::remove(path_);
  ask("CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)");
  before = bytes_of(path_);
  expect_refused(path_, ErrorCode::corrupt, "another program");
  EXPECT_EQ(bytes_of(path_), before);
}

TEST_F(SqliteFile, LeavesANewerVersionAlone) {
  with_store([](Store&, Caller& call) { call.commit(RunScript("a").first()); });
  ask("PRAGMA user_version = 99");
  ask("PRAGMA wal_checkpoint(TRUNCATE)");
  std::string before = bytes_of(path_);
  expect_refused(path_, ErrorCode::corrupt, "newer Belay");
  EXPECT_EQ(bytes_of(path_), before);
}

TEST_F(SqliteFile, RefusesAStoreMadeByAnotherMigrationOfTheSameNumber) {
  with_store([](Store&, Caller& call) { call.commit(RunScript("a").first()); });
  ask("UPDATE migrations SET checksum = zeroblob(32)");
  expect_refused(path_, ErrorCode::corrupt, "different migration 1");
}

TEST_F(SqliteFile, FindsDamageWhenItOpens) {
  with_store([](Store&, Caller& call) {
    for (int i = 0; i < 50; ++i) call.commit(RunScript(std::to_string(i)).first());
  });
  std::string whole = bytes_of(path_);
  auto write = [&](const std::string& bytes) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  };
  std::string damaged = whole;
  for (std::size_t page = 1; page < damaged.size() / 8192; ++page) {
    damaged.replace(page * 8192, 16, 16, '\xee');
  }
  write(damaged);
  expect_refused(path_, ErrorCode::corrupt, "damaged");
  EXPECT_EQ(bytes_of(path_), damaged);

  write(whole.substr(0, whole.size() / 2));
  expect_refused(path_, ErrorCode::corrupt, path_);
  EXPECT_EQ(bytes_of(path_), whole.substr(0, whole.size() / 2));

  write(whole.substr(0, 50));
  expect_refused(path_, ErrorCode::corrupt, path_);

  write(whole);
  with_store(
      [](Store&, Caller& call) { EXPECT_EQ(call.runs(RunFilter{default_tenant()}).size(), 50u); });
}

TEST_F(SqliteFile, StartsAnewInAnEmptyFileAndAfterAMakerThatWasKilled) {
  std::ofstream(path_).flush();
  with_store([](Store&, Caller& call) {
    EXPECT_EQ(call.commit(RunScript("a").first()), CommitOutcome::applied);
  });
  std::filesystem::remove(path_);
  ask("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL");
  with_store([](Store&, Caller& call) {
    EXPECT_EQ(call.commit(RunScript("a").first()), CommitOutcome::applied);
  });
}

TEST_F(SqliteFile, FindsWhatOnlyTheLogHolds) {
  RunScript script("a");
  with_store([&](Store&, Caller& call) {
    call.commit(script.first());
    // Copies the files in the state that a killed process leaves: the WAL is not yet checkpointed
    // into the database file.
    for (const char* end : {"", "-wal"}) {
      std::filesystem::copy_file(path_ + end, folder_.file(std::string("copy") + end));
    }
  });
  path_ = folder_.file("copy");
  EXPECT_GT(bytes_of(path_ + "-wal").size(), 0u);
  with_store([&](Store&, Caller& call) {
    EXPECT_EQ(bytes_of(path_ + "-wal").size(), 0u) << "recovery ends with an empty log";
    EXPECT_EQ(call.run(script.row.run), script.row);
  });
}

TEST_F(SqliteFile, RefusesAFileThatItMayNotWriteOrRead) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  with_store([](Store&, Caller& call) { call.commit(RunScript("a").first()); });
  chmod(folder_.path().c_str(), 0755);
  auto refused_as_nobody = [&](mode_t file, mode_t folder, const std::string& words) {
    // The previous case might have left these files with another owner.
    for (const char* end : {"-wal", "-shm"}) std::filesystem::remove(path_ + end);
    chmod(path_.c_str(), file);
    chmod(folder_.path().c_str(), folder);
    pid_t child = fork();
    if (child == 0) {
      if (setgid(65534) != 0 || setuid(65534) != 0) _exit(3);
      auto opened = open_sqlite_store(path_, clock_, random_);
      bool as_expected = !opened.ok() && opened.error().code == ErrorCode::unavailable &&
                         opened.error().message.find(words) != std::string::npos;
      _exit(as_expected ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  };
  std::string before = bytes_of(path_);
  EXPECT_TRUE(refused_as_nobody(0600, 0755, "could not be read"));
  EXPECT_TRUE(refused_as_nobody(0644, 0755, "permissions") ||
              refused_as_nobody(0644, 0755, "read-only"));
  EXPECT_TRUE(refused_as_nobody(0644, 0777, "read-only"));
  EXPECT_TRUE(refused_as_nobody(0666, 0755, "permissions") ||
              refused_as_nobody(0666, 0755, "read-only"));
  EXPECT_EQ(bytes_of(path_), before);
}

TEST_F(SqliteFile, RecordsItsMigrations) {
  with_store([](Store&, Caller&) {});
  EXPECT_THAT(ask("SELECT name FROM migrations ORDER BY version"),
              testing::ElementsAre(
                  "0001_first", "0002_parallel_work", "0003_blob_puts", "0004_masked_digests",
                  "0005_queues", "0006_whose", "0007_row_seals", "0008_collections", "0009_threads",
                  "0010_agent_metrics", "0011_agent_usage", "0012_effect_durations"));
  EXPECT_THAT(ask("SELECT length(checksum) FROM migrations"), testing::Each("32"));
  EXPECT_THAT(ask("PRAGMA user_version"), testing::ElementsAre("12"));
  EXPECT_THAT(ask("PRAGMA application_id"), testing::ElementsAre(std::to_string(0x42454c59)));
  EXPECT_THAT(ask("PRAGMA page_size"), testing::ElementsAre("8192"));
  EXPECT_THAT(ask("PRAGMA journal_mode"), testing::ElementsAre("wal"));
}

TEST_F(SqliteFile, PutsTheTenantFirstInEveryKey) {
  with_store([](Store&, Caller&) {});
  // Tables of the store itself, which do not belong to a tenant.
  auto keys =
      ask("SELECT m.name || '.' || i.name || '=' || (SELECT name FROM pragma_index_info(i.name)"
          " WHERE seqno = 0) FROM sqlite_schema m, pragma_index_list(m.name) i"
          " WHERE m.type = 'table' AND m.name NOT IN ('tenants', 'sessions', 'migrations')");
  EXPECT_GE(keys.size(), 10u);
  EXPECT_THAT(keys, testing::Each(testing::EndsWith("=tenant_id")));
  EXPECT_THAT(ask("SELECT name FROM sqlite_schema WHERE sql LIKE '%WITHOUT ROWID%'"),
              testing::ElementsAre("record_index"));
}

TEST_F(SqliteFile, ShowsRunsAndCheckpointsAsViews) {
  RunScript script("a");
  with_store([&](Store&, Caller& call) {
    call.commit(script.first());
    call.commit(script.next());
    call.commit(script.ask(clock_.now()));
    call.commit(script.expire());
    call.commit(RunScript("b").first());
  });
  EXPECT_THAT(ask("SELECT thread_id || '|' || agent_type || '|' || status || '|' || output || '|'"
                  " || duration_ms || '|' || input || '|' || started_at || '|' || completed_at"
                  " FROM agent_execution_logs WHERE completed_at IS NOT NULL"),
              testing::ElementsAre("thread a|daily_auditor|completed|expired|5|"
                                   "{\"date\":\"2025-11-22\"}|2025-11-13T02:13:20.000000Z|"
                                   "2025-11-13T02:13:20.004000Z"));
  EXPECT_THAT(ask("SELECT status FROM agent_execution_logs WHERE completed_at IS NULL"
                  " AND duration_ms IS NULL AND retry_count = 0"),
              testing::ElementsAre("queued"));
  EXPECT_THAT(ask("SELECT node_id || seq || coalesce(state, '') FROM agent_checkpoints"
                  " WHERE thread_id = 'thread a' ORDER BY seq"),
              testing::ElementsAre("fetchNotes1{}", "analyzeNotes2{\"text\":\"afirst2\"}",
                                   "awaitingApproval3{\"text\":\"afirst2\"}",
                                   "end4{\"text\":\"afirst2\"}"));
  EXPECT_THAT(ask("SELECT id FROM agent_checkpoints WHERE thread_id = 'thread a' AND seq = 4"),
              testing::ElementsAre(script.row.checkpoint.text()));
  EXPECT_THAT(ask("SELECT DISTINCT run_id FROM agent_checkpoints WHERE thread_id = 'thread a'"),
              testing::ElementsAre(script.row.run.text()));
}

TEST_F(SqliteFile, ShowsTheStateOfTheThreadAtTheCheckpointsOfLaterRuns) {
  RunScript first("first");
  RunScript second = first.later("second");
  RunScript third = second.later("third");
  with_store([&](Store&, Caller& call) {
    call.commit(first.first());
    call.commit(first.next());
    call.commit(second.first_in_thread());
    call.commit(second.next_with({{"n"}, {"text"}, {"inner", WriteOp::set, 0, "in"}}));
    call.commit(second.next_with({{"text"}}));
    call.commit(third.first_in_thread());
    call.commit(third.next_with({{"n"}}));
  });
  std::string n = std::to_string(value_seq(second.row, 2) * 100);
  std::string text = std::to_string(value_seq(second.row, 3) * 100);
  std::string later = std::to_string(value_seq(third.row, 2) * 100);
  auto states_of = [&](const RunScript& run) {
    return ask("SELECT state FROM agent_checkpoints WHERE run_id = '" + run.row.run.text() +
               "' ORDER BY seq");
  };
  EXPECT_THAT(states_of(first), testing::ElementsAre("{}", "{\"text\":\"firstfirst2\"}"));
  EXPECT_THAT(states_of(second),
              testing::ElementsAre("{}", "{\"n\":[" + n + "],\"text\":[" + n + "]}",
                                   "{\"n\":[" + n + "],\"text\":[" + text + "]}"));
  EXPECT_THAT(states_of(third),
              testing::ElementsAre("{\"n\":[" + n + "],\"text\":[" + text + "]}",
                                   "{\"n\":[" + later + "],\"text\":[" + text + "]}"));
}

TEST_F(SqliteFile, AnswersTheQueriesOfItsDocumentation) {
  RunScript script("a");
  script.row.thread = ThreadId("my-thread");
  with_store([&](Store&, Caller& call) {
    call.commit(script.first());
    call.commit(script.next());
    call.commit(script.ask(clock_.now() + std::chrono::hours(1)));
    call.commit(import_of({record_put("1", "{}", {{"date", "2026-11-21"}})}));
    RunScript ended("b");
    call.commit(ended.first());
    call.commit(ended.ask(clock_.now()));
    call.commit(ended.expire());
  });
  std::string page = bytes_of(BELAY_SOURCE_DIR "/docs/storage.md");
  int queries = 0;
  std::size_t begin = page.find("```sql\n");
  for (; begin != std::string::npos; begin = page.find("```sql\n", begin)) {
    begin += 7;
    std::string query = page.substr(begin, page.find("```", begin) - begin);
    EXPECT_FALSE(ask(query).empty() && query.find("sessions") == std::string::npos) << query;
    ++queries;
  }
  EXPECT_GE(queries, 10);
}

TEST_F(SqliteFile, StaysSmallForAPausedThread) {
  auto used_bytes = [&] {
    std::string sum = ask("SELECT sum(pgsize - unused) FROM dbstat WHERE aggregate = FALSE")[0];
    long bytes = 0;
    std::from_chars(sum.data(), sum.data() + sum.size(), bytes);
    return bytes;
  };
  constexpr long threads = 200;
  with_store([](Store&, Caller&) {});
  long before = used_bytes();
  with_store([&](Store&, Caller& call) {
    for (int i = 0; i < threads; ++i) {
      RunScript script(std::to_string(i));
      script.row.thread = ThreadId(derived_uuid(std::to_string(i)).text());
      script.row.session = SessionId(derived_uuid("session"));
      call.commit(script.first());
      call.commit(script.next());
      call.commit(script.ask(clock_.now() + std::chrono::hours(1)));
    }
  });
  long each = (used_bytes() - before) / threads;
  RecordProperty("bytes_a_paused_thread", std::to_string(each));
  EXPECT_LT(each, 1'600);
}

}  // namespace
}  // namespace belay::conformance
