#pragma once
// bench/bare_postgres_writer.h - minimal program that writes the same rows to PostgreSQL: recorded
// commits with one unnest() statement per table, many commits per transaction, in one round trip.
// No engine, no guards, no queue; the parameters are encoded before the measurement.

#include <vector>

#include "belay/store.h"
#include "store/postgres/connection.h"
#include "store/postgres/row_batch.h"

namespace belay::bench {

// The commits of runs, each run's in their order.
using RecordedRuns = std::vector<std::vector<Commit>>;

class BarePostgresWriter {
 public:
  // `url`: a database with an empty store. Encodes all transactions; each has the next commit of
  // `in_flight` runs.
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
