#include "store/postgres/connection.h"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <cstring>

#include "store/postgres/sqlstate_messages.h"

namespace belay::postgres {
namespace {

// Bounds of the time for which the server may send nothing, whatever the address's patience.
constexpr std::chrono::milliseconds shortest_wait{1'000};
constexpr std::chrono::milliseconds longest_wait_for_answer{30'000};
constexpr std::string_view hasty_connect_timeout = "2";  // seconds; the minimum of libpq

// The text in one line, at most 500 bytes of it.
std::string one_line(std::string_view text) {
  std::string line(text.substr(0, 500));
  std::replace(line.begin(), line.end(), '\n', ' ');
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::int64_t big_endian(const char* bytes, int length) {
  std::uint64_t number = 0;
  for (int i = 0; i < length; ++i) number = number << 8 | static_cast<std::uint8_t>(bytes[i]);
  return static_cast<std::int64_t>(number);
}

}  // namespace

Rows::Rows(pg_result* result) : result_(result) {}
void Rows::Clear::operator()(pg_result* result) const { PQclear(result); }

int Rows::count() const { return PQntuples(result_.get()); }
std::int64_t Rows::touched() const { return std::atoll(PQcmdTuples(result_.get())); }

bool Rows::is_null(int row, int column) const {
  return PQgetisnull(result_.get(), row, column) != 0;
}

std::string_view Rows::view(int row, int column) const {
  return {PQgetvalue(result_.get(), row, column),
          static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

std::int64_t Rows::number(int row, int column) const {
  std::string_view bytes = view(row, column);
  if (is_null(row, column) || bytes.size() > 8) return 0;
  if (bytes.size() == 4) return static_cast<std::int32_t>(big_endian(bytes.data(), 4));
  return big_endian(bytes.data(), static_cast<int>(bytes.size()));
}

std::uint64_t Rows::natural(int row, int column) const {
  return static_cast<std::uint64_t>(number(row, column));
}

bool Rows::boolean(int row, int column) const { return number(row, column) != 0; }

Instant Rows::instant(int row, int column) const {
  return is_null(row, column) ? Instant{} : instant_since_2000(number(row, column));
}

Uuid Rows::uuid(int row, int column) const {
  Uuid id;
  std::string_view bytes = view(row, column);
  if (bytes.size() == id.bytes.size()) std::memcpy(id.bytes.data(), bytes.data(), bytes.size());
  return id;
}

Digest Rows::digest(int row, int column) const {
  Digest digest{};
  std::string_view bytes = view(row, column);
  if (bytes.size() == digest.size()) std::memcpy(digest.data(), bytes.data(), bytes.size());
  return digest;
}

Result<std::unique_ptr<Connection>> Connection::open(const Address& address) {
  std::vector<const char*> keywords;
  std::vector<const char*> values;
  for (const auto& [keyword, value] : address.parameters) {
    keywords.push_back(keyword.c_str());
    values.push_back(value.c_str());
  }
  keywords.push_back(nullptr);
  values.push_back(nullptr);
  pg_conn* handle = PQconnectdbParams(keywords.data(), values.data(), 0);
  if (!handle) return error(ErrorCode::unavailable, "Not enough memory for a connection.");
  auto connection = std::make_unique<Connection>(address, handle);
  if (PQstatus(handle) != CONNECTION_OK) {
    std::string why = one_line(PQerrorMessage(handle));
    return error(ErrorCode::unavailable, "The store, " + address.shown +
                                             ", could not be reached: " + why + "; " +
                                             std::string(remedy_for_no_connection(why)) + ".");
  }
  if (PQsetnonblocking(handle, 1) != 0 || PQenterPipelineMode(handle) != 1) {
    return connection->lost();
  }
  // Discards the server's warnings: standard error belongs to the program.
  PQsetNoticeReceiver(handle, [](void*, const pg_result*) {}, nullptr);
  return connection;
}

Result<std::unique_ptr<Connection>> Connection::open(
    const Address& address, std::shared_ptr<const ShutdownDeadline> haste) {
  Address asked = address;
  for (auto& [name, value] : asked.parameters) {
    if (name == "connect_timeout" && haste->is_so()) value = hasty_connect_timeout;
  }
  BELAY_TRY(auto connection, open(asked));
  connection->heed(std::move(haste));
  return connection;
}

Connection::Connection(const Address& address, pg_conn* handle)
    : address_(address),
      handle_(handle),
      patience_(std::clamp(address.patience, shortest_wait, longest_wait_for_answer)),
      statements_(address.schema) {
  if (address.pooler == Pooler::no) naming_ = Naming::on;
  if (address.pooler == Pooler::yes) naming_ = Naming::off;
}

Connection::~Connection() { PQfinish(handle_); }

Result<std::vector<Rows>> Connection::sync() {
  state_.clear();
  is_statement_void_ = false;
  is_queue_empty_ = true;
  if (is_lost_ || is_refused_ || PQpipelineSync(handle_) != 1 || !flush()) return lost();
  std::vector<Rows> given;
  std::optional<Error> failed;
  while (true) {
    if (!receive()) return lost();
    pg_result* result = PQgetResult(handle_);
    if (!result) {  // a null pointer separates the results of two statements
      if (PQstatus(handle_) != CONNECTION_OK) return lost();
      continue;
    }
    Rows rows(result);
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_PIPELINE_SYNC) {
      if (sent_off_ == 0) {
        expected_.clear();
        break;
      }
      // The end of statements of an earlier send_off(): discard their results and errors.
      --sent_off_;
      given.clear();
      failed.reset();
      state_.clear();
      is_statement_void_ = false;
      continue;
    }
    Purpose purpose = take_purpose(rows, result);
    bool is_own = purpose != Purpose::answer && purpose != Purpose::preparation;
    if (is_own || (purpose == Purpose::preparation && status == PGRES_COMMAND_OK)) continue;
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
      given.push_back(std::move(rows));
    } else if (status != PGRES_PIPELINE_ABORTED && !failed) {
      failed = error_of(result);
    }
  }
  collect_notifications();
  if (failed) return *std::move(failed);
  return given;
}

void Connection::send_off() {
  if (is_lost_) return;
  is_queue_empty_ = true;
  bool is_sent = !is_refused_ && PQpipelineSync(handle_) == 1 && PQflush(handle_) >= 0;
  if (!is_sent) {
    (void)lost();
  } else {
    ++sent_off_;
  }
}

Result<Rows> Connection::query(std::string_view sql, const Parameters& parameters, Plan plan) {
  send(sql, parameters, plan);
  BELAY_TRY(std::vector<Rows> given, sync());
  return std::move(given.back());
}

Result<Rows> Connection::query_primary(std::string_view sql, const Parameters& parameters) {
  if (!tells_its_state_) send(asks_for_writes);
  send(sql, parameters);
  BELAY_TRY(std::vector<Rows> given, sync());
  BELAY_CHECK(check_primary(given.front()));
  return std::move(given.back());
}

// From version 14 on, servers report changes of these two settings with their next reply.
Result<Done> Connection::check_primary(const Rows& asked) {
  const char* standby = PQparameterStatus(handle_, "in_hot_standby");
  const char* read_only = PQparameterStatus(handle_, "default_transaction_read_only");
  bool is_standby = false, is_read_only = false;
  if (tells_its_state_) {
    is_standby = std::string_view(standby) == "on";
    is_read_only = std::string_view(read_only) == "on";
  } else {
    is_standby = asked.boolean(0, 0);
    is_read_only = asked.boolean(0, 1);
    tells_its_state_ = standby && read_only && asked.number(0, 2) == announced_process();
  }
  if (!is_standby && !is_read_only) return Done{};
  state_ = state_of_read_only;
  is_lost_ = true;
  return no_writes_at(address_, is_standby);
}

Result<Done> Connection::execute(std::string_view sql) {
  BELAY_CHECK(query(sql));
  return Done{};
}

void Connection::roll_back() {
  if (is_lost_ || PQtransactionStatus(handle_) == PQTRANS_IDLE) return;
  std::string before = state_;
  bool was_void = is_statement_void_;
  (void)execute("ROLLBACK");
  state_ = std::move(before);
  is_statement_void_ = was_void;
}

int Connection::announced_process() const { return PQbackendPID(handle_); }

int Connection::socket() const { return is_lost_ ? -1 : PQsocket(handle_); }

int Connection::server_version() const { return PQserverVersion(handle_); }

bool Connection::wait(Wanted wanted, std::chrono::milliseconds time) {
  pollfd sockets[2] = {{PQsocket(handle_), POLLIN, 0}, {-1, POLLIN, 0}};
  if (wanted == Wanted::writable_too) sockets[0].events |= POLLOUT;
  if (sockets[0].fd < 0) return false;
  if (haste_) sockets[1].fd = haste_->descriptor();
  while (true) {
    if (haste_ && haste_->is_so()) {
      time = std::min(time, ShutdownDeadline::patience);
      sockets[1].fd = -1;
    }
    int ready = poll(sockets, 2, static_cast<int>(time.count()));
    if (ready == 0) return false;
    if (sockets[0].revents != 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

// Reads while it writes: a server that cannot send its replies stops reading, and both would block.
bool Connection::flush() {
  while (true) {
    int left = PQflush(handle_);
    if (left == 0) return true;
    if (left < 0 || !wait(Wanted::writable_too, patience_)) return false;
    if (PQconsumeInput(handle_) != 1) return false;
  }
}

bool Connection::receive() {
  while (PQisBusy(handle_) != 0) {
    if (!wait(Wanted::readable, patience_)) return false;
    if (PQconsumeInput(handle_) != 1) return false;
  }
  return true;
}

Error Connection::lost() {
  is_lost_ = true;
  state_.clear();
  std::string why = one_line(PQerrorMessage(handle_));
  while (why.ends_with('.')) why.pop_back();
  if (why.empty()) why = "it did not respond in time";
  return error(ErrorCode::unavailable, "The connection to the store, " + address_.shown +
                                           ", is lost: " + why +
                                           ". Check the server and the network.");
}

Error Connection::error_of(const pg_result* result) {
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  if (!state) return lost();
  state_ = state;
  // The server reports this before it closes the connection.
  if (state_.starts_with("57P0") || state_.starts_with("08")) is_lost_ = true;
  // After a failover another server is, or will be, the primary: do not use this connection again.
  if (takes_no_writes()) is_lost_ = true;
  is_statement_void_ = note_void_statement(result);
  return error(is_statement_void_ ? ErrorCode::unavailable : code_of_state(state_),
               "The store, " + address_.shown +
                   ", refused: " + one_line(message ? message : "no reason given") + " (" + state_ +
                   "); " + std::string(remedy_for_state(state_)) + ".");
}

void Connection::collect_notifications() {
  while (PGnotify* notify = PQnotifies(handle_)) {
    notifications_.emplace_back(notify->relname);
    PQfreemem(notify);
  }
}

std::size_t Connection::wait_for_notifications(std::chrono::milliseconds time) {
  if (is_lost_) return 0;
  if (wait(Wanted::readable, time) && PQconsumeInput(handle_) != 1) (void)lost();
  collect_notifications();
  return notifications_.size();
}

std::vector<std::string> Connection::take_notifications() {
  return std::exchange(notifications_, {});
}

}  // namespace belay::postgres
