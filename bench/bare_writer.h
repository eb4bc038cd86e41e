#pragma once
// bench/bare_writer.h - minimal program that writes the same rows to SQLite: one thread takes
// recorded transactions from a queue, executes exactly their statements, commits all that wait
// together, and returns the results. No engine, no guards, no reads.

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "bench/recording.h"

struct sqlite3;
struct sqlite3_stmt;

namespace belay::bench {

// Recorded transactions by run; `before`: those before the first run.
struct RecordedWork {
  WrittenTransaction before;
  std::vector<std::vector<WrittenTransaction>> runs;
};
// Splits transactions by run: one that inserts into `runs` starts a run.
RecordedWork cut_into_runs(std::vector<WrittenTransaction> transactions);

class BareWriter {
 public:
  // `path`: a store that Belay has created, without rows. `work` must outlive this object.
  BareWriter(const std::string& path, const RecordedWork& work);
  ~BareWriter();
  BareWriter(const BareWriter&) = delete;
  BareWriter& operator=(const BareWriter&) = delete;

  // Writes all runs, at most `in_flight` at the same time. Each transaction of a run is written
  // after the previous one is durable.
  void write_all(std::size_t in_flight);

 private:
  struct Place {  // the next transaction of a run
    std::size_t run = 0;
    std::size_t next = 0;
  };

  void push(const Place& place);
  void serve();
  void write_together(const std::vector<Place>& batch);
  void execute(const WrittenTransaction& transaction);
  void execute(const std::string& sql);
  sqlite3_stmt* compiled(const std::string& sql);
  void move_log(bool is_idle);

  const RecordedWork& work_;
  sqlite3* connection_ = nullptr;
  std::unordered_map<std::string, sqlite3_stmt*> compiled_;  // the writing thread's
  int log_pages_ = 0;                                        // the writing thread's

  std::mutex mutex_;
  std::condition_variable to_write_;
  std::condition_variable written_;
  // Protected by mutex_.
  std::deque<Place> queue_;
  std::deque<Place> answers_;
  bool is_stopping_ = false;

  std::thread thread_;
};

}  // namespace belay::bench
