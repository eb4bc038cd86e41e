#pragma once
// bench/bare_postgres_writer.h - the least that writes the same rows on PostgreSQL: recorded
// commits as one unnest() statement a table, many commits a transaction, all in one round trip. No
// engine, no guards, no queue; the parameters are encoded before the clock starts.

#include <vector>

#include "belay/store.h"
#include "store/postgres/connection.h"
#include "store/postgres/row_batch.h"

namespace belay::bench {

// The commits of runs, each run's in their order.
using RecordedRuns = std::vector<std::vector<Commit>>;

class BarePostgresWriter {
 public:
  // `url` names a database with an empty store. Encodes all transactions: of `in_flight` runs each,
  // which are written step by step.
  BarePostgresWriter(const std::string& url, const RecordedRuns& runs, std::size_t in_flight);

  void write_all();

 private:
  struct Transaction {
    std::vector<postgres::Table> moved;
    postgres::RowBatch rows;
  };

  std::unique_ptr<postgres::Connection> connection_;
  std::vector<Transaction> transactions_;
};

}  // namespace belay::bench
