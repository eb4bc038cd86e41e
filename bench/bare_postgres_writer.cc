#include "bench/bare_postgres_writer.h"

#include <algorithm>

#include "bench/pages.h"

namespace belay::bench {
namespace {

using postgres::Type;

constexpr std::string_view move_statement =
    "UPDATE belay.runs r SET status = u.status, reason = u.reason, outcome = u.outcome,"
    " error_code = u.error_code, error = u.error, seq = u.seq, epoch = u.epoch,"
    " session_id = u.session_id, checkpoint_id = u.checkpoint_id, node = u.node,"
    " retry_count = u.retry_count, worked_ms = u.worked_ms, updated_at = u.updated_at,"
    " due_at = u.due_at, lost_claims = u.lost_claims"
    " FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)"
    " AS u (tenant, run_id, status, reason, outcome, error_code, error, seq, epoch, session_id,"
    " checkpoint_id, node, retry_count, worked_ms, updated_at, due_at, lost_claims)"
    " WHERE r.tenant = u.tenant AND r.run_id = u.run_id";

postgres::Table moved_runs() {
  return {move_statement,
          {Type::text, Type::uuid, Type::text, Type::text, Type::text, Type::text, Type::text,
           Type::number, Type::number, Type::uuid, Type::uuid, Type::text, Type::number,
           Type::number, Type::instant, Type::instant, Type::number}};
}

void add_run(postgres::Table& moved, const RunRow& run) {
  moved.add(run.tenant.text, run.run, run.status, run.reason, run.outcome, run.error_code,
            run.error, run.seq, run.epoch, postgres::or_null(run.session), run.checkpoint, run.node,
            run.retry_count, run.worked_ms, run.updated_at, postgres::or_null(run.due_at),
            run.lost_claims);
}

}  // namespace

BarePostgresWriter::BarePostgresWriter(const std::string& url, const RecordedRuns& runs,
                                       std::size_t in_flight) {
  auto address = value_or_exit(postgres::address_from(url));
  connection_ = value_or_exit(postgres::Connection::open(address));
  for (std::size_t first = 0; first < runs.size(); first += in_flight) {
    std::size_t last = std::min(first + in_flight, runs.size());
    for (std::size_t step = 0; step < runs[first].size(); ++step) {
      Transaction& transaction = transactions_.emplace_back();
      transaction.moved.push_back(moved_runs());
      for (std::size_t run = first; run < last; ++run) {
        const Commit& commit = runs[run].at(step);
        if (commit.run_guard->seq == 0) {
          if (commit.rows.thread) transaction.rows.add_thread(*commit.rows.thread);
          transaction.rows.add_run(*commit.rows.run);
          transaction.rows.add_start(*commit.rows.run);
        } else {
          add_run(transaction.moved.front(), *commit.rows.run);
        }
        transaction.rows.add_children(commit, commit.rows);
      }
    }
  }
}

void BarePostgresWriter::write_all() {
  for (const Transaction& transaction : transactions_) {
    connection_->send("BEGIN");
    transaction.moved.front().send(*connection_);
    transaction.rows.send(*connection_);
    connection_->send("COMMIT");
    value_or_exit(connection_->sync());
  }
}

}  // namespace belay::bench
