#pragma once
// store/postgres/row_batch.h - the rows of a transaction's commits, as one statement per table.
//
// Does not evaluate guards: the caller has done so, or does so in the same transaction. Rows are
// written in the order in which they were added; rows with the same key, which one statement cannot
// write, are divided among several statements.
//
// Threading: one thread at a time.

#include <set>
#include <string>

#include "belay/store.h"
#include "store/postgres/table.h"

namespace belay::postgres {

// Batches of rows for one table; no batch contains a key twice.
class Rounds {
 public:
  Rounds(std::string_view statement, std::initializer_list<Type> types)
      : statement_(statement), types_(types) {}
  // Returns the batch for the next row of this key: the one after the last batch that contains the
  // key. The rows of a key are therefore written in the order of the calls.
  Table& table_for(const std::string& key);
  void send(Connection& connection) const {
    for (const Round& round : rounds_) round.table.send(connection);
  }

 private:
  struct Round {
    Table table;
    std::set<std::string> keys;
  };
  std::string_view statement_;
  std::vector<Type> types_;
  std::vector<Round> rounds_;
};

class RowBatch {
 public:
  RowBatch();

  // For the new thread and run of a first commit.
  void add_thread(const ThreadRow& thread);
  void add_run(const RunRow& run);
  void add_start(const RunRow& run);
  // All rows of a commit, or of a pending write, except its thread, run and decision.
  void add_children(const Commit& commit, const CommitRows& rows);
  void add_records(const TenantId& tenant, const CommitRows& rows, Instant updated_at);
  void add_blobs(const TenantId& tenant, const CommitRows& rows);

  // Queues the statements. REQUIRES: a transaction.
  void send(Connection& connection) const;

 private:
  void add_checkpoint(const TenantId& tenant, const CheckpointRow& row, Table& table);
  void add_value(const TenantId& tenant, const RunId& run, const ValueRow& row);
  void add_work(const TenantId& tenant, const RunId& run, const CommitRows& rows);
  void add_approval(const ApprovalRow& row);
  void add_record(const TenantId& tenant, const RecordPut& put, const CommitRows& rows,
                  Instant updated_at);

  // A batch of records: deletes the old rows, then inserts the new ones.
  struct RecordRound {
    RecordRound();
    Table erased;
    Table written;
    Table indexed;
    std::set<std::string> keys;
  };

  Table threads_;
  Table runs_;
  Table starts_;
  Table checkpoints_;
  Table values_;
  Table thread_values_;
  Table events_;
  Table messages_;
  Table closed_;
  Table uncertain_;
  Table opened_;
  Table blob_puts_;
  Table blobs_;
  Rounds inner_checkpoints_;
  Rounds tasks_;
  Rounds effects_;
  std::vector<RecordRound> records_;
  std::set<std::string> put_blobs_;
};

}  // namespace belay::postgres
