// Changes an encrypted schema without the key: no column of any table contains text of a user, and
// readers detect a change of any column.

#include <set>

#include "store/enum_names.h"
#include "tests/conformance/encrypted_stores.h"
#include "tests/conformance/told_run.h"
#include "tests/postgres/store_world.h"

namespace belay::postgres_tests {
namespace {

using conformance::all_of;
using conformance::ToldRun;

// Columns that can be changed and are then read as changed: no decision depends on them.
const std::set<std::string>& not_authenticated() {
  static const std::set<std::string> columns{
      "threads.preserve", "records.updated_at", "records.seq",    "effects.created_at",
      "effects.took_ms",  "effects.updated_at", "effects.attempt"};
  return columns;
}

// Names and numbers by which rows are found: a row that was moved or whose position was cleared is
// not found, as if it had been removed; a store cannot detect a removed row.
bool is_place(const std::string& table, const std::string& column) {
  static const std::set<std::string> names{"tenant",
                                           "run_id",
                                           "checkpoints.namespace",
                                           "tasks.namespace",
                                           "records.collection",
                                           "records.user_id",
                                           "threads.thread_id",
                                           "thread_values.thread_id"};
  return column.ends_with("_number") || table == "record_index" || names.contains(column) ||
         names.contains(table + "." + column);
}

template <typename E>
std::vector<std::string> words_of() {
  std::vector<std::string> words;
  for (std::string_view name : store::enum_names<E>) {
    words.push_back("'" + std::string(name) + "'");
  }
  return words;
}

// Returns the changes for a column, as SQL over its old value.
std::vector<std::string> changes_of(const std::string& full, const std::string& type) {
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
  auto known = words.find(full);
  if (known != words.end()) return known->second;
  std::string column = full.substr(full.find('.') + 1);
  if (type == "bigint") return {"coalesce(" + column + ", 0) + 1"};
  if (type == "text") return {"coalesce(" + column + ", '') || 'x'", "''"};
  if (type == "uuid") return {"'00000000-0000-4000-8000-000000000001'::uuid"};
  if (type == "boolean") return {"NOT " + column};
  if (type.starts_with("timestamp")) {
    return {"coalesce(" + column + ", to_timestamp(0)) + interval '1 microsecond'"};
  }
  return {column + " || 'x'::bytea", "''::bytea"};
}

class PostgresSealedRows : public StoreWorld {
 protected:
  PostgresSealedRows() : inner_(open(url())) {
    EncryptionOptions encryption = conformance::all_of_encryption();
    encryption.blob_above = 64u << 10;
    store_ = make_encrypted_store(*inner_, random_, std::move(encryption));
    told_ = std::make_unique<ToldRun>(*store_, "a");
  }

  struct Column {
    std::string table;
    std::string name;
    std::string type;
    std::string full() const { return table + "." + name; }
  };
  std::vector<Column> columns() {
    std::string list = sql_value(
        "SELECT string_agg(c.table_name || ' ' || c.column_name || ' ' || c.data_type, ','"
        " ORDER BY c.table_name, c.column_name) FROM information_schema.columns c"
        " JOIN information_schema.tables t USING (table_schema, table_name)"
        " WHERE c.table_schema = '" +
        schema_ +
        "' AND t.table_type = 'BASE TABLE'"
        " AND c.table_name NOT IN ('migrations', 'sessions', 'daily_sums')");
    std::vector<Column> found;
    std::istringstream lines(list);
    for (std::string line; std::getline(lines, line, ',');) {
      std::istringstream words(line);
      Column column;
      words >> column.table >> column.name;
      std::getline(words >> std::ws, column.type);
      found.push_back(std::move(column));
    }
    return found;
  }

  std::unique_ptr<Store> inner_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<ToldRun> told_;
};

TEST_F(PostgresSealedRows, NothingThatAPersonWroteIsInAnyColumn) {
  std::string everything;
  std::set<std::string> tables;
  for (const Column& column : columns()) tables.insert(column.table);
  EXPECT_GE(tables.size(), 14u);
  for (const std::string& table : tables) {
    // As text, and for bytea as the bytes themselves.
    everything +=
        sql_value("SELECT coalesce(string_agg(x::text, ' '), '') FROM belay." + table + " x");
  }
  ASSERT_NE(everything.find(told_->script.row.thread.text), everything.npos);
  for (const std::string& word : told_->words) {
    std::string hex;
    for (char c : word) {
      constexpr std::string_view digits = "0123456789abcdef";
      hex += digits[static_cast<unsigned char>(c) >> 4];
      hex += digits[static_cast<unsigned char>(c) & 15];
    }
    EXPECT_EQ(everything.find(word), everything.npos) << word;
    EXPECT_EQ(everything.find(hex), everything.npos) << word;
  }
  for (const char* view : {"agent_checkpoints", "agent_execution_logs", "agent_metrics"}) {
    std::string shown = sql_value("SELECT coalesce(string_agg(x::text, ' '), '') FROM belay." +
                                  std::string(view) + " x");
    for (const std::string& word : told_->words) {
      EXPECT_EQ(shown.find(word), shown.npos) << view << ": " << word;
    }
  }
}

TEST_F(PostgresSealedRows, EachColumnIsToldOrChangesNothing) {
  const std::string before = all_of(*store_, *told_).value();
  std::set<std::string> seen;
  int told = 0;
  for (const Column& column : columns()) {
    seen.insert(column.full());
    if (is_place(column.table, column.name)) continue;
    std::string table = "belay." + column.table;
    for (const std::string& change : changes_of(column.full(), column.type)) {
      run_sql("CREATE TABLE belay.kept AS TABLE " + table);
      auto changed = server_.sql(
          in_schema("UPDATE " + table + " SET " + column.name + " = " + change), "postgres");
      if (changed.ok()) {
        auto read = all_of(*store_, *told_);
        told += !read.ok();
        bool is_listed = not_authenticated().contains(column.full());
        EXPECT_TRUE(!read.ok() || *read == before || is_listed) << column.full() << " = " << change;
      }
      run_sql("TRUNCATE " + table + "; INSERT INTO " + table +
              " OVERRIDING SYSTEM VALUE SELECT * FROM belay.kept; DROP TABLE belay.kept");
    }
  }
  for (const std::string& listed : not_authenticated())
    EXPECT_TRUE(seen.contains(listed)) << listed;
  EXPECT_EQ(all_of(*store_, *told_).value(), before) << "all of it was put back";
  EXPECT_GT(told, 100) << "most of what is stored is authenticated";
}

}  // namespace
}  // namespace belay::postgres_tests
