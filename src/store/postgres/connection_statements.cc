// Which statements of a connection have names, and the statements by which it keeps them in order;
// see connection.h.

#include <libpq-fe.h>

#include "store/postgres/connection.h"

namespace belay::postgres {

void Connection::send(std::string_view sql, const Parameters& parameters, Plan plan) {
  if (is_lost_) return;
  if (is_queue_empty_) look_after_statements();
  is_queue_empty_ = false;
  Parameters::View view = parameters.view();
  PreparedStatements::Pointer statement = statements_.use(sql);
  bool has_name = plan == Plan::kept && naming_ != Naming::off && !must_forget_all_ &&
                  statements_.takes_name(*statement, view.types);
  if (has_name && naming_ == Naming::unknown) {
    wants_names_ = true;
    has_name = false;
  }
  auto count = static_cast<int>(view.values.size());
  bool is_sent = true;
  if (has_name) {
    is_sent = prepare(statement) &&
              PQsendQueryPrepared(handle_, statement->name.c_str(), count, view.values.data(),
                                  view.lengths.data(), view.formats.data(), 1) == 1;
  } else {
    is_sent =
        PQsendQueryParams(handle_, statement->text.c_str(), count, view.types.data(),
                          view.values.data(), view.lengths.data(), view.formats.data(), 1) == 1;
  }
  if (!is_sent) is_refused_ = true;
  expected_.emplace_back();
}

bool Connection::prepare(const PreparedStatements::Pointer& statement) {
  if (!statements_.must_prepare(*statement)) return true;
  expected_.push_back({Purpose::preparation, statement});
  return PQsendPrepare(handle_, statement->name.c_str(), statement->text.c_str(),
                       static_cast<int>(statement->types.size()), statement->types.data()) == 1;
}

bool Connection::queue_own(const std::string& sql, Expected expected) {
  expected_.push_back(std::move(expected));
  return PQsendQueryParams(handle_, sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 1) == 1;
}

// They travel with the next statements, before a separate Sync: if one fails, no transaction of
// the caller fails with it, and they are no part of the caller's transaction. Hence not within an
// open one, where a failure would end it. A transaction whose ROLLBACK was sent off has ended.
void Connection::look_after_statements() {
  bool is_idle = sent_off_ > 0 || PQtransactionStatus(handle_) == PQTRANS_IDLE;
  if (!is_idle || naming_ == Naming::off) return;
  bool is_sent = true;
  std::size_t before = expected_.size();
  if (naming_ == Naming::unknown) {
    if (!wants_names_) return;
    is_sent = queue_own("SELECT pg_backend_pid()", {Purpose::process});
  } else if (std::exchange(must_forget_all_, false)) {
    statements_.forget_all();
    is_sent = queue_own("DEALLOCATE ALL", {Purpose::renewal});
  } else {
    for (std::string& name : statements_.take_forgotten()) {
      std::string sql = "DEALLOCATE " + name;
      is_sent = queue_own(sql, {Purpose::forgetting, nullptr, std::move(name)}) && is_sent;
    }
    if (statements_.take_renewal(std::chrono::steady_clock::now())) {
      is_sent = queue_own("DISCARD PLANS", {Purpose::renewal}) && is_sent;
    }
  }
  if (expected_.size() == before) return;
  if (!is_sent || PQpipelineSync(handle_) != 1) is_refused_ = true;
  ++sent_off_;
}

Connection::Purpose Connection::take_purpose(const Rows& rows, const pg_result* result) {
  if (expected_.empty()) return Purpose::answer;
  Expected expected = std::move(expected_.front());
  expected_.pop_front();
  ExecStatusType status = PQresultStatus(result);
  bool is_done = status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
  if (expected.purpose == Purpose::preparation && !is_done) {
    statements_.note_unprepared(*expected.prepared);
  }
  if (expected.purpose == Purpose::forgetting && !is_done) {
    if (status == PGRES_PIPELINE_ABORTED)
      statements_.note_kept(std::move(expected.forgotten));
    else
      note_void_statement(result);
  }
  if (expected.purpose == Purpose::process && is_done && naming_ == Naming::unknown) {
    bool is_direct = rows.number(0, 0) == announced_process();
    naming_ = is_direct ? Naming::on : Naming::off;
  }
  return expected.purpose;
}

// 26000: the name is missing. 42P05: it exists. The server was not reached directly after all, or a
// statement of another program has removed the names: they are prepared again once, then no more.
// 0A000 of this function of the server: the columns of a prepared statement have changed.
bool Connection::note_void_statement(const pg_result* result) {
  const char* field = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  std::string_view state = field ? field : "";
  const char* function = PQresultErrorField(result, PG_DIAG_SOURCE_FUNCTION);
  bool is_name = state == "26000" || state == "42P05";
  bool is_outdated =
      state == "0A000" && function && std::string_view(function) == "RevalidateCachedQuery";
  if (!(is_name || is_outdated) || naming_ != Naming::on) return false;
  must_forget_all_ = true;
  if (is_name && ++void_names_ > 1) naming_ = Naming::off;
  return true;
}

}  // namespace belay::postgres
