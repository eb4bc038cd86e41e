#pragma once
// store/postgres/row_batch.h - all the rows of a transaction's commits, however many, as one
// statement a table.
//
// Guards are not judged here: whoever sends it has made sure, or makes sure in the same
// transaction, that every commit in it may be written. Rows are written in the order in which they
// were added; where one statement can't (the same key twice), there are several.
//
// Threading: one thread at a time.

#include <set>
#include <string>

#include "belay/store.h"
#include "store/postgres/table.h"

namespace belay::postgres {

// Tables of the same kind; no key is twice in one of them.
class Rounds {
 public:
  Rounds(std::string_view statement, std::initializer_list<Type> types)
      : statement_(statement), types_(types) {}
  // The table that the next row of this key goes to. A key belongs to the same table for good once
  // a later one has it: so the order of writes is that of the calls.
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

  // The new thread and run of a first commit.
  void add_thread(const ThreadRow& thread);
  void add_run(const RunRow& run);
  void add_start(const RunRow& run);
  // All but thread and run: what a commit that moves a run, or a pending write, brings along.
  void add_children(const Commit& commit, const CommitRows& rows);
  void add_records(const TenantId& tenant, const CommitRows& rows, Instant updated_at);
  void add_blobs(const TenantId& tenant, const CommitRows& rows);

  // Queues the statements. In a transaction.
  void send(Connection& connection) const;

 private:
  void add_checkpoint(const TenantId& tenant, const CheckpointRow& row, Table& table);
  void add_work(const TenantId& tenant, const CommitRows& rows);
  void add_approval(const ApprovalRow& row);
  void add_record(const TenantId& tenant, const RecordPut& put, const CommitRows& rows,
                  Instant updated_at);

  // Of one record, by turns: what is there goes, then the new one comes.
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
