// Measures a collection of 100,000 records on SQLite: saves, and pages of an ordered index,
// compared with hand-written SQL on the same tables.

#include <sqlite3.h>

#include <cstdio>
#include <cstdlib>

#include "belay/collection.h"
#include "belay/runtime.h"
#include "bench/machine.h"
#include "bench/options.h"
#include "bench/pages.h"

namespace {

using namespace belay;
using namespace belay::bench;

constexpr int records = 100'000;
constexpr int per_commit = 100;
constexpr int pages = 1'000;
constexpr int per_page = 100;

struct Entry {
  static constexpr std::string_view collection = "entries";
  static constexpr bool is_of_tenant = true;
  std::string id{};
  std::int64_t number = 0;
  std::string text{};
  std::string key() const { return id; }
  static auto indexed() { return std::tuple(); }
  static auto ordered() { return std::tuple{ordered_index("number", &Entry::number)}; }
};

Entry entry(int i) {
  Entry made;
  made.id = "entry " + std::to_string(1'000'000 + i);
  made.number = (i * 7'919LL) % records;  // each number once, in no order
  made.text = "The quick brown fox jumps over the lazy dog, number " + std::to_string(i) + ".";
  return made;
}

// Microseconds per record.
struct Times {
  double saves = 0;
  double reads = 0;
};

void save_all(World& world, Runtime& runtime, Times& times) {
  Span span;
  for (int i = 0; i < records; i += per_commit) {
    std::vector<RecordWrite> writes;
    for (int j = i; j < i + per_commit; ++j) {
      writes.push_back(value_or_exit(record_write(entry(j), UserId())));
    }
    value_or_exit(block_on(*world.loop, runtime.save(default_tenant(), std::move(writes))));
  }
  span.stop();
  times.saves = span.seconds * 1e6 / records;
}

void read_pages(World& world, Runtime& runtime, Times& times) {
  auto reader = runtime.records(default_tenant(), UserId("reader"));
  std::size_t count = 0;
  Span span;
  for (int i = 0; i < pages; ++i) {
    std::int64_t from = (i * 37LL) % (records - per_page);
    RecordSpan numbers = RecordSpan("number").from(from);
    numbers.limit(per_page);
    count +=
        value_or_exit(block_on(*world.loop, read_page<Entry>(*reader, numbers))).records.size();
  }
  span.stop();
  if (count != std::size_t{pages} * per_page) exit_with("A page was short.");
  times.reads = span.seconds * 1e6 / static_cast<double>(count);
}

Times of_belay(World& world, const std::string& path) {
  Times times;
  auto store = value_or_exit(open_sqlite_store(path, *world.clock, *world.random));
  auto runtime = world.runtime(*store, line_of_nodes(Writes::text));
  save_all(world, *runtime, times);
  read_pages(world, *runtime, times);
  return times;
}

// Hand-written statements on the tables that Belay has created.
class HandWritten {
 public:
  explicit HandWritten(const std::string& path) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    check(sqlite3_open_v2(path.c_str(), &connection_, flags, nullptr));
    execute("PRAGMA synchronous = FULL");
    execute("INSERT OR IGNORE INTO tenants (name) VALUES ('default')");
  }
  HandWritten(const HandWritten&) = delete;
  HandWritten& operator=(const HandWritten&) = delete;
  ~HandWritten() {
    for (sqlite3_stmt* each : {old_, put_, index_, page_}) sqlite3_finalize(each);
    sqlite3_close(connection_);
  }

  Times run() {
    Times times;
    Span saves;
    for (int i = 0; i < records; i += per_commit) {
      execute("BEGIN IMMEDIATE");
      for (int j = i; j < i + per_commit; ++j) save(entry(j));
      execute("COMMIT");
    }
    saves.stop();
    times.saves = saves.seconds * 1e6 / records;
    std::size_t count = 0;
    Span reads;
    for (int i = 0; i < pages; ++i) count += read((i * 37LL) % (records - per_page));
    reads.stop();
    times.reads = reads.seconds * 1e6 / static_cast<double>(count);
    return times;
  }

 private:
  static void check(int code) {
    if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW) {
      exit_with("SQLite: " + std::string(sqlite3_errstr(code)));
    }
  }
  void execute(const char* sql) {
    check(sqlite3_exec(connection_, sql, nullptr, nullptr, nullptr));
  }
  sqlite3_stmt* prepared(sqlite3_stmt*& statement, const char* sql) {
    if (!statement) check(sqlite3_prepare_v2(connection_, sql, -1, &statement, nullptr));
    sqlite3_reset(statement);
    return statement;
  }
  static void bind(sqlite3_stmt* to, int place, const std::string& text) {
    sqlite3_bind_text(to, place, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
  }

  void save(const Entry& made) {
    std::string value = detail::sort_value(made.number);
    std::string envelope = json_envelope(value_or_exit(encode_json(made)));
    sqlite3_stmt* old = prepared(
        old_,
        "DELETE FROM records WHERE tenant_id = 1 AND collection = 'entries' AND user_id = ''"
        " AND key = ?1 RETURNING indexed, version");
    bind(old, 1, made.id);
    check(sqlite3_step(old));
    sqlite3_stmt* put =
        prepared(put_,
                 "INSERT INTO records (tenant_id, collection, user_id, key, envelope, indexed, seq,"
                 " updated_at, version) VALUES (1, 'entries', '', ?1, ?2,"
                 " json_array(json_array('order:number', ?3)), 0, 1, 1)");
    bind(put, 1, made.id);
    sqlite3_bind_blob(put, 2, envelope.data(), static_cast<int>(envelope.size()), SQLITE_TRANSIENT);
    bind(put, 3, value);
    check(sqlite3_step(put));
    sqlite3_stmt* index =
        prepared(index_,
                 "INSERT INTO record_index (tenant_id, collection, user_id, field, value, key)"
                 " VALUES (1, 'entries', '', 'order:number', ?1, ?2)");
    bind(index, 1, value);
    bind(index, 2, made.id);
    check(sqlite3_step(index));
  }

  std::size_t read(std::int64_t from) {
    sqlite3_stmt* page = prepared(
        page_,
        "SELECT r.key, r.envelope FROM record_index i CROSS JOIN records r ON r.tenant_id ="
        " i.tenant_id AND r.collection = i.collection AND r.user_id = i.user_id AND r.key = i.key"
        " WHERE i.tenant_id = 1 AND i.collection = 'entries' AND i.user_id = ''"
        " AND i.field = 'order:number' AND i.value >= ?1 ORDER BY i.value, i.key LIMIT ?2");
    std::string value = detail::sort_value(from);
    bind(page, 1, value);
    sqlite3_bind_int(page, 2, per_page);
    std::vector<Entry> found;
    while (sqlite3_step(page) == SQLITE_ROW) {
      auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(page, 1));
      std::string envelope(static_cast<const char*>(sqlite3_column_blob(page, 1)), bytes);
      Value value_of = value_or_exit(parse_json(value_or_exit(json_in_envelope(envelope))));
      found.push_back(value_or_exit(decode_json<Entry>(value_of)));
    }
    return found.size();
  }

  sqlite3* connection_ = nullptr;
  sqlite3_stmt* old_ = nullptr;
  sqlite3_stmt* put_ = nullptr;
  sqlite3_stmt* index_ = nullptr;
  sqlite3_stmt* page_ = nullptr;
};

}  // namespace

int main(int count, char** arguments) {
  Options options = options_from(count, arguments);
  Workplace place(options.directory);
  std::printf("%s\n\n%d records in commits of %d; pages of %d. Microseconds per record.\n\n",
              description().c_str(), records, per_commit, per_page);
  std::printf("| round | saves | by hand | ratio | reads | by hand | ratio |\n");
  std::printf("|---|---|---|---|---|---|---|\n");
  std::vector<double> saves;
  std::vector<double> reads;
  for (int round = 1; round <= options.rounds; ++round) {
    World world;
    std::string path = place.path + "/" + std::to_string(round);
    Times belay = of_belay(world, path + ".db");
    {
      value_or_exit(open_sqlite_store(path + "-hand.db", *world.clock, *world.random));
    }
    Times hand = HandWritten(path + "-hand.db").run();
    saves.push_back(belay.saves / hand.saves);
    reads.push_back(belay.reads / hand.reads);
    std::printf("| %d | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |\n", round, belay.saves,
                hand.saves, saves.back(), belay.reads, hand.reads, reads.back());
  }
  std::printf("\nmedian ratio: saves %.2f, reads %.2f\n", median(saves), median(reads));
}
