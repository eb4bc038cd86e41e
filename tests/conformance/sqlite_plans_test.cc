// The plans of the statements that the SQLite store executes for threads with many ended runs:
// these must slow down nothing that is read at every start and poll.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <mutex>

#include "store/sqlite/sqlite_store.h"
#include "tests/conformance/store_suite.h"
#include "tests/conformance/temporary_folder.h"

namespace belay::conformance {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// The statements that read runs, by all connections of the process. SQLite passes no context to the
// function that it calls for a new connection.
struct ReadStatements {
  std::mutex mutex;
  std::vector<std::string> texts;
};
ReadStatements& read_statements() {
  static ReadStatements all;
  return all;
}

int add_statement(unsigned, void*, void* statement, void*) {
  std::string_view sql = sqlite3_sql(static_cast<sqlite3_stmt*>(statement));
  if (!sql.starts_with("SELECT r.") || sql.find("FROM runs r") == sql.npos) return 0;
  std::lock_guard lock(read_statements().mutex);
  read_statements().texts.emplace_back(sql);
  return 0;
}

int trace_connection(sqlite3* connection, char**, const sqlite3_api_routines*) {
  return sqlite3_trace_v2(connection, SQLITE_TRACE_STMT, add_statement, nullptr);
}

class SqlitePlans : public testing::Test {
 protected:
  SqlitePlans() { sqlite3_auto_extension(reinterpret_cast<void (*)()>(trace_connection)); }
  ~SqlitePlans() override { sqlite3_reset_auto_extension(); }

  void SetUp() override {
    auto opened = open_sqlite_store(path_, clock_, random_);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    store_ = *std::move(opened);
    call_ = std::make_unique<Caller>(*store_);
    RunScript first("first");
    call_->commit(first.first());
    call_->commit(first.next());
    RunScript second = first.later("second");
    call_->commit(second.first_in_thread());
    thread_ = first.row.thread;
  }

  // Returns the plan of the only statement that the read executes for runs.
  std::string plan_of(RunFilter filter) {
    {
      std::lock_guard lock(read_statements().mutex);
      read_statements().texts.clear();
    }
    call_->runs(std::move(filter));
    std::lock_guard lock(read_statements().mutex);
    EXPECT_EQ(read_statements().texts.size(), 1u);
    if (read_statements().texts.empty()) return "";
    return explained(read_statements().texts.front());
  }

  std::string explained(const std::string& query) const {
    sqlite3* file = nullptr;
    EXPECT_EQ(sqlite3_open_v2(path_.c_str(), &file, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
    std::string plan;
    auto add = [](void* to, int, char** columns, char**) {
      *static_cast<std::string*>(to) += std::string(columns[3]) + "\n";
      return 0;
    };
    std::string sql = "EXPLAIN QUERY PLAN " + query;
    EXPECT_EQ(sqlite3_exec(file, sql.c_str(), add, &plan, nullptr), SQLITE_OK) << query;
    sqlite3_close(file);
    return plan;
  }

  RunFilter of_thread() const {
    RunFilter filter;
    filter.tenant = default_tenant();
    filter.thread = thread_;
    filter.limit = 1;
    return filter;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path() + "/store.db";
  std::unique_ptr<Clock> owned_clock_ = system_clock();
  std::unique_ptr<Random> owned_random_ = system_random();
  Clock& clock_ = *owned_clock_;
  Random& random_ = *owned_random_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Caller> call_;
  ThreadId thread_;
};

TEST_F(SqlitePlans, TheCurrentRunOfAThreadIsFoundWithoutItsOtherRuns) {
  RunFilter filter = of_thread();
  filter.only_current = true;
  EXPECT_THAT(plan_of(filter), AllOf(HasSubstr("SEARCH r USING INTEGER PRIMARY KEY (rowid=?)"),
                                     HasSubstr("runs_unfinished (tenant_id=? AND thread_number=?)"),
                                     Not(HasSubstr("runs_of_thread"))));
}

TEST_F(SqlitePlans, TheRunsOfAThreadAreReadInTheOrderOfAnIndex) {
  RunFilter filter = of_thread();
  EXPECT_THAT(plan_of(filter), AllOf(HasSubstr("runs_of_thread (tenant_id=? AND thread_number=?"),
                                     Not(HasSubstr("TEMP B-TREE"))));
  filter.before = call_->runs(of_thread()).front().run;
  EXPECT_THAT(plan_of(filter),
              AllOf(HasSubstr("thread_number=? AND rowid<?"), Not(HasSubstr("TEMP B-TREE"))));
}

TEST_F(SqlitePlans, APageOfTheRunsThatHaveNotEndedBeginsInTheirIndex) {
  RunFilter filter;
  filter.tenant = default_tenant();
  filter.in_pages = true;
  EXPECT_THAT(plan_of(filter), AllOf(HasSubstr("SEARCH r USING INDEX runs_unfinished (tenant_id=?"),
                                     Not(HasSubstr("TEMP B-TREE"))));
  filter.after = call_->runs(filter).front().run;
  EXPECT_THAT(plan_of(filter), AllOf(HasSubstr("runs_unfinished (tenant_id=? AND thread_number>?)"),
                                     Not(HasSubstr("TEMP B-TREE"))));
}

TEST_F(SqlitePlans, APollFindsTheEarlierRunsOfAThreadByAnIndex) {
  RunFilter filter;
  filter.tenant = default_tenant();
  filter.due_by = clock_.now();
  filter.limit = 16;
  EXPECT_THAT(plan_of(filter),
              AllOf(HasSubstr("SEARCH r USING INDEX runs_due"),
                    HasSubstr("runs_unfinished (tenant_id=? AND thread_number=? AND rowid<?)")));
}

}  // namespace
}  // namespace belay::conformance
