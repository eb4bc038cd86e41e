#include "bench/bare_writer.h"

#include <sqlite3.h>

#include "bench/pages.h"

namespace belay::bench {
namespace {

constexpr std::size_t batch_max = 64;
// The values of Belay's own writer.
constexpr int log_pages_idle_max = 1'000;
constexpr int log_pages_busy_max = 8'000;

void bind(sqlite3_stmt* statement, int place, const Bound& value) {
  if (auto number = std::get_if<long long>(&value)) {
    sqlite3_bind_int64(statement, place, *number);
  } else if (auto real = std::get_if<double>(&value)) {
    sqlite3_bind_double(statement, place, *real);
  } else if (auto text = std::get_if<std::string>(&value)) {
    sqlite3_bind_text64(statement, place, text->data(), text->size(), SQLITE_STATIC, SQLITE_UTF8);
  } else if (auto blob = std::get_if<Blob>(&value)) {
    sqlite3_bind_blob64(statement, place, blob->bytes.data(), blob->bytes.size(), SQLITE_STATIC);
  } else {
    sqlite3_bind_null(statement, place);
  }
}

bool begins_run(const WrittenTransaction& transaction) {
  for (const WrittenStatement& statement : transaction) {
    if (statement.sql.starts_with("INSERT INTO runs ")) return true;
  }
  return false;
}

}  // namespace

RecordedWork cut_into_runs(std::vector<WrittenTransaction> transactions) {
  RecordedWork work;
  for (WrittenTransaction& transaction : transactions) {
    if (begins_run(transaction)) work.runs.emplace_back();
    if (work.runs.empty()) {
      for (WrittenStatement& statement : transaction) work.before.push_back(std::move(statement));
    } else {
      work.runs.back().push_back(std::move(transaction));
    }
  }
  return work;
}

BareWriter::BareWriter(const std::string& path, const RecordedWork& work) : work_(work) {
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  if (sqlite3_open_v2(path.c_str(), &connection_, flags, nullptr) != SQLITE_OK) {
    exit_with("The bare writer cannot open " + path);
  }
  // The settings of Belay's own connections.
  execute(
      "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA temp_store = MEMORY;"
      "PRAGMA foreign_keys = OFF; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF");
  sqlite3_wal_hook(
      connection_,
      [](void* pages, sqlite3*, const char*, int count) {
        *static_cast<int*>(pages) = count;
        return SQLITE_OK;
      },
      &log_pages_);
  execute("BEGIN IMMEDIATE");
  execute(work_.before);
  execute("COMMIT");
  thread_ = std::thread([this] { serve(); });
}

BareWriter::~BareWriter() {
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  to_write_.notify_one();
  thread_.join();
  for (auto& [sql, statement] : compiled_) sqlite3_finalize(statement);
  sqlite3_close(connection_);
}

void BareWriter::write_all(std::size_t in_flight) {
  std::size_t begun = 0;
  std::size_t ended = 0;
  while (begun < in_flight && begun < work_.runs.size()) push({begun++, 0});
  while (ended < work_.runs.size()) {
    std::deque<Place> answers;
    {
      std::unique_lock lock(mutex_);
      written_.wait(lock, [this] { return !answers_.empty(); });
      answers.swap(answers_);
    }
    for (Place place : answers) {
      if (++place.next < work_.runs[place.run].size()) {
        push(place);
        continue;
      }
      ++ended;
      if (begun < work_.runs.size()) push({begun++, 0});
    }
  }
}

void BareWriter::push(const Place& place) {
  std::lock_guard lock(mutex_);
  queue_.push_back(place);
  if (queue_.size() == 1) to_write_.notify_one();
}

void BareWriter::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    to_write_.wait(lock, [this] { return is_stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    std::vector<Place> batch;
    while (!queue_.empty() && batch.size() < batch_max) {
      batch.push_back(queue_.front());
      queue_.pop_front();
    }
    lock.unlock();
    write_together(batch);
    lock.lock();
    bool was_empty = answers_.empty();
    answers_.insert(answers_.end(), batch.begin(), batch.end());
    if (was_empty) written_.notify_one();
    bool is_idle = queue_.empty();
    lock.unlock();
    move_log(is_idle);
    lock.lock();
  }
}

void BareWriter::write_together(const std::vector<Place>& batch) {
  execute("BEGIN IMMEDIATE");
  for (const Place& place : batch) execute(work_.runs[place.run][place.next]);
  execute("COMMIT");
}

void BareWriter::execute(const WrittenTransaction& transaction) {
  for (const WrittenStatement& each : transaction) {
    sqlite3_stmt* statement = compiled(each.sql);
    for (std::size_t i = 0; i < each.values.size(); ++i) {
      bind(statement, static_cast<int>(i) + 1, each.values[i]);
    }
    int code = sqlite3_step(statement);
    while (code == SQLITE_ROW) code = sqlite3_step(statement);
    if (code != SQLITE_DONE)
      exit_with(std::string("The bare writer: ") + sqlite3_errmsg(connection_));
    sqlite3_reset(statement);
  }
}

void BareWriter::execute(const std::string& sql) {
  if (sqlite3_exec(connection_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return;
  exit_with(sql + ": " + sqlite3_errmsg(connection_));
}

sqlite3_stmt* BareWriter::compiled(const std::string& sql) {
  sqlite3_stmt*& statement = compiled_[sql];
  if (!statement) {
    int size = static_cast<int>(sql.size()) + 1;
    int code = sqlite3_prepare_v3(connection_, sql.c_str(), size, SQLITE_PREPARE_PERSISTENT,
                                  &statement, nullptr);
    if (code != SQLITE_OK) exit_with(sql + ": " + sqlite3_errmsg(connection_));
  }
  return statement;
}

void BareWriter::move_log(bool is_idle) {
  if (log_pages_ <= (is_idle ? log_pages_idle_max : log_pages_busy_max)) return;
  execute("PRAGMA wal_checkpoint(PASSIVE)");
  log_pages_ = 0;
}

}  // namespace belay::bench
