// Changes an encrypted SQLite file without the key: each column of each table, one at a time. A
// read either fails or returns unchanged data; the columns for which neither is true are listed
// here and in docs/storage.md.

#include <gmock/gmock.h>
#include <sqlite3.h>

#include <map>
#include <set>

#include "store/enum_names.h"
#include "tests/conformance/encrypted_stores.h"
#include "tests/conformance/told_run.h"

namespace belay::conformance {
namespace {

using testing::HasSubstr;

// Columns that can be changed and are then read as changed: no decision depends on them.
const std::set<std::string>& not_authenticated() {
  static const std::set<std::string> columns{
      "threads.preserve",
      "records.updated_at",
      "records.seq",
      "effects.created_at",
      "effects.updated_at",
      "effects.took_ms",
      // Of a done effect: its outcome might come from an earlier attempt.
      "effects.attempt",
      // The store itself makes this change if a run ends.
      "approvals.status = 'closed'",
      "effects.status = 'uncertain'",
  };
  return columns;
}

// Names and numbers by which rows are found: a row that was moved or whose position was cleared is
// not found, as if it had been removed; a store cannot detect a removed row.
bool is_place(const std::string& table, const std::string& column) {
  static const std::set<std::string> names{
      "tenant_id",         "number",          "records.collection",    "records.user_id",
      "threads.thread_id", "tasks.namespace", "checkpoints.namespace", "runs.run_id"};
  bool is_number = column.ends_with("_number");
  return is_number || table == "record_index" || names.contains(column) ||
         names.contains(table + "." + column);
}

class Forger {
 public:
  explicit Forger(const std::string& path) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &file_), SQLITE_OK);
    ask("PRAGMA synchronous = OFF");
  }
  ~Forger() { sqlite3_close(file_); }
  Forger(const Forger&) = delete;
  Forger& operator=(const Forger&) = delete;

  // Returns the rows as texts.
  std::vector<std::vector<std::string>> ask(const std::string& sql) {
    std::vector<std::vector<std::string>> rows;
    auto add = [](void* to, int count, char** columns, char**) {
      auto& row = static_cast<std::vector<std::vector<std::string>>*>(to)->emplace_back();
      for (int i = 0; i < count; ++i) row.emplace_back(columns[i] ? columns[i] : "null");
      return 0;
    };
    char* problem = nullptr;
    int code = sqlite3_exec(file_, sql.c_str(), add, &rows, &problem);
    problem_ = code == SQLITE_OK ? "" : std::string(problem);
    sqlite3_free(problem);
    return rows;
  }
  const std::string& problem() const { return problem_; }

 private:
  sqlite3* file_ = nullptr;
  std::string problem_;
};

struct Column {
  std::string table;
  std::string name;
  std::string type;
  std::string full() const { return table + "." + name; }
};

template <typename E>
std::vector<std::string> words_of() {
  std::vector<std::string> words;
  for (std::string_view name : store::enum_names<E>) words.push_back("'" + std::string(name) + "'");
  return words;
}

// Returns the changes for a column, as SQL over its old value.
std::vector<std::string> changes_of(const Column& column) {
  static const std::map<std::string, std::vector<std::string>> words{
      {"runs.status", words_of<RunStatus>()},
      {"checkpoints.status", words_of<RunStatus>()},
      {"checkpoints.kind", words_of<CommitKind>()},
      {"approvals.status", words_of<ApprovalStatus>()},
      {"channel_values.kind", words_of<WriteOp>()},
      {"thread_values.kind", words_of<WriteOp>()},
      {"tasks.status", words_of<TaskStatus>()},
      {"effects.status", words_of<EffectStatus>()},
      {"effects.effect_class", words_of<EffectClass>()},
      {"outbox.status", words_of<OutboxStatus>()},
  };
  auto known = words.find(column.full());
  if (known != words.end()) return known->second;
  const std::string& c = column.name;
  if (column.type == "INTEGER") return {"coalesce(" + c + ", 0) + 1"};
  if (column.type == "TEXT") return {"coalesce(" + c + ", '') || 'x'", "''"};
  // Changes an envelope: appends a byte, or removes all bytes.
  return {"CAST(coalesce(" + c + ", '') || 'x' AS BLOB)", "x''",
          "CAST(substr(" + c + ", 1, length(" + c + ") - 1) || 'z' AS BLOB)"};
}

class SqliteForged : public testing::Test {
 protected:
  SqliteForged() : inner_(open_sqlite_store(path_, clock_, random_).value()) {
    EncryptionOptions encryption = all_of_encryption();
    encryption.blob_above = 64u << 10;
    store_ = make_encrypted_store(*inner_, random_, std::move(encryption));
    told_ = std::make_unique<ToldRun>(*store_, "a");
    before_ = all_of(*store_, *told_).value();
  }

  std::vector<Column> columns() {
    std::vector<Column> found;
    auto rows = forger_.ask(
        "SELECT m.name, c.name, c.type FROM sqlite_schema m, pragma_table_info(m.name) c"
        " WHERE m.type = 'table' AND m.name NOT IN ('migrations', 'tenants', 'sessions')"
        " AND m.name NOT LIKE 'sqlite_%' ORDER BY 1, 2");
    for (const auto& row : rows) found.push_back({row.at(0), row.at(1), row.at(2)});
    return found;
  }

  // Changes a column of a row, expects that reads detect or ignore the change, and restores the
  // value.
  void expect_told(const Column& column, const std::string& row, const std::string& change) {
    std::string where = " WHERE rowid = " + row;
    forger_.ask("CREATE TEMP TABLE kept AS SELECT " + column.name + " AS old FROM " + column.table +
                where);
    forger_.ask("UPDATE " + column.table + " SET " + column.name + " = " + change + where);
    bool is_possible = forger_.problem().empty();
    Result<std::string> read = before_;
    if (is_possible) read = all_of(*store_, *told_);
    forger_.ask("UPDATE " + column.table + " SET " + column.name + " = (SELECT old FROM kept)" +
                where);
    ASSERT_EQ(forger_.problem(), "") << column.full();
    forger_.ask("DROP TABLE kept");
    if (!read.ok()) {
      bool is_damage =
          read.error().code == ErrorCode::corrupt || read.error().code == ErrorCode::invalid;
      EXPECT_TRUE(is_damage) << column.full() << ": " << read.error().message;
      ++told_count_;
      return;
    }
    bool is_listed = not_authenticated().contains(column.full()) ||
                     not_authenticated().contains(column.full() + " = " + change);
    EXPECT_TRUE(*read == before_ || is_listed) << column.full() << " = " << change;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.file("store.db");
  StandingClock clock_;
  SeededRandom random_;
  std::unique_ptr<Store> inner_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<ToldRun> told_;
  std::string before_;
  Forger forger_{path_};
  int told_count_ = 0;
};

TEST_F(SqliteForged, EachColumnIsToldOrChangesNothing) {
  std::set<std::string> seen;
  for (const Column& column : columns()) {
    seen.insert(column.full());
    if (is_place(column.table, column.name)) continue;
    for (const auto& row : forger_.ask("SELECT rowid FROM " + column.table)) {
      for (const std::string& change : changes_of(column)) {
        expect_told(column, row.at(0), change);
        if (HasFatalFailure()) return;
      }
    }
  }
  for (const std::string& listed : not_authenticated()) {
    EXPECT_TRUE(seen.contains(listed.substr(0, listed.find(' ')))) << listed;
  }
  EXPECT_EQ(all_of(*store_, *told_).value(), before_) << "all of it was put back";
  EXPECT_GT(told_count_, 300) << "most of what is stored is authenticated";
}

// A row of one run moved to another run: seals, envelopes and hashes name their row.
TEST_F(SqliteForged, ARowThatIsMovedToAnotherRunIsTold) {
  ToldRun other(*store_, "b");
  std::string both = all_of(*store_, *told_).value() + all_of(*store_, other).value();
  std::string from = "(SELECT min(run_number) FROM runs)";
  std::string numbers = "(SELECT max(run_number) FROM run_starts WHERE ordinal = 0)";
  for (const char* table :
       {"channel_values", "events", "tasks", "effects", "outbox", "approvals"}) {
    SCOPED_TRACE(table);
    std::string name = table;
    std::string copy = "CREATE TABLE kept AS SELECT * FROM " + name;
    forger_.ask(copy);
    forger_.ask("DELETE FROM " + name + " WHERE run_number <> " + from);
    forger_.ask("UPDATE " + name + " SET run_number = " + numbers);
    ASSERT_EQ(forger_.problem(), "");
    EXPECT_FALSE(all_of(*store_, other).ok());
    forger_.ask("DELETE FROM " + name);
    forger_.ask("INSERT INTO " + name + " SELECT * FROM kept");
    forger_.ask("DROP TABLE kept");
    ASSERT_EQ(all_of(*store_, *told_).value() + all_of(*store_, other).value(), both);
  }
  forger_.ask("UPDATE run_starts SET graph_number = (SELECT min(graph_number) FROM graphs)");
  EXPECT_FALSE(all_of(*store_, other).ok()) << "a run of one graph made one of another";
}

}  // namespace
}  // namespace belay::conformance
