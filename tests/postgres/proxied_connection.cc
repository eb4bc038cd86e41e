#include "tests/postgres/proxied_connection.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace belay::postgres_tests {
namespace {

constexpr std::size_t kPartBytes = 64 * 1024;

bool can_read(int file) {
  pollfd asked{file, POLLIN, 0};
  return ::poll(&asked, 1, 0) > 0;
}

// On loopback, if a peer does not read for this long, it has ended or is about to.
bool send_all(int file, std::string_view bytes) {
  constexpr int send_max_ms = 10'000;
  while (!bytes.empty()) {
    ssize_t sent = ::send(file, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
      continue;
    }
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
    pollfd writable{file, POLLOUT, 0};
    if (::poll(&writable, 1, send_max_ms) == 0) return false;
  }
  return true;
}

// Returns the received data; an empty text at the end of the stream.
std::string receive_part(int file) {
  std::string part(kPartBytes, '\0');
  ssize_t count = ::recv(file, part.data(), part.size(), 0);
  part.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return part;
}

// Returns the text up to the next byte 0, and removes both.
std::string_view take_text(std::string_view& body) {
  std::size_t end = std::min(body.find('\0'), body.size());
  std::string_view text = body.substr(0, end);
  body.remove_prefix(std::min(end + 1, body.size()));
  return text;
}

// Returns the statement of a Parse message.
std::string_view statement_of(std::string_view parse_message) {
  std::string_view body = parse_message.substr(std::min<std::size_t>(5, parse_message.size()));
  take_text(body);
  return take_text(body);
}

// Returns the Parse message of an unnamed statement that fails with the SQLSTATE. It keeps the
// types of the parameters, which are not used.
std::string failing(std::string_view parse_message, const std::string& sqlstate) {
  std::string_view body = parse_message.substr(5);
  take_text(body);
  take_text(body);
  std::string nul(1, '\0');
  return wire_message('P', nul + "DO $$ BEGIN RAISE EXCEPTION 'told to' USING ERRCODE = '" +
                               sqlstate + "'; END $$" + nul + std::string(body));
}

}  // namespace

void ProxiedConnection::add_to(std::vector<pollfd>& files, int& timeout,
                               const ProxyFaults& faults) const {
  short wanted = faults.swallows ? 0 : POLLIN;
  // poll() ignores negative descriptors: half open, not even the end of the connection is detected.
  files.push_back({faults.swallows || is_held_ ? -1 : client_, wanted, 0});
  files.push_back({faults.swallows ? -1 : server_, wanted, 0});
  if (replies_.empty()) return;
  auto left = std::chrono::ceil<std::chrono::milliseconds>(replies_.front().due - Clock::now());
  int milliseconds = std::max(0, static_cast<int>(left.count()));
  timeout = timeout < 0 ? milliseconds : std::min(timeout, milliseconds);
}

bool ProxiedConnection::move(const ProxyFaults& faults, ProxyCounts& counts) {
  if (client_ < 0) return false;
  if (faults.swallows) return true;
  if (!is_held_ && can_read(client_) && !move_to_server(faults, counts)) return false;
  if (can_read(server_) && !move_to_client(faults, counts)) return false;
  while (!replies_.empty() && replies_.front().due <= Clock::now()) {
    std::string bytes = std::move(replies_.front().bytes);
    replies_.pop_front();
    if (pass_on(bytes, client_, to_client_, faults.bytes_to_client)) continue;
    return strike(faults, counts);
  }
  return true;
}

void ProxiedConnection::cut(ProxyCounts& counts) {
  if (client_ < 0) return;
  close_both(++counts.cuts % 2 == 0);
}

bool ProxiedConnection::strike(const ProxyFaults& faults, ProxyCounts& counts) {
  if (!faults.holds) {
    cut(counts);
    return false;
  }
  if (!std::exchange(is_held_, true)) ++counts.held;
  return true;
}

const std::string* ProxiedConnection::named_by(const WireMessage& message) const {
  if (message.type == 'P') return &message.bytes;
  if (message.type != 'B') return nullptr;
  std::string_view body = message.body();
  take_text(body);  // the portal
  auto found = prepared_.find(take_text(body));
  return found == prepared_.end() ? nullptr : &found->second;
}

void ProxiedConnection::notice(const WireMessage& message, const ProxyFaults& faults) {
  if (message.type == 0) {
    std::uint32_t code = wire_number(message.body());
    if (code == kWireTls || code == kWireGss) from_server_.expect_letter();
  }
  if (message.type == 'P') {
    std::string_view body = message.body();
    std::string name(take_text(body));
    if (!name.empty()) prepared_[name] = message.bytes;
  }
  const std::string* parse = named_by(message);
  std::string_view statement = message.type == 'Q' ? message.body()
                               : parse             ? statement_of(*parse)
                                                   : std::string_view();
  if (statement.find(faults.marker) != std::string_view::npos) has_marker_ = true;
  bool is_given = faults.given.empty() ||
                  (message.type == 'B' && message.bytes.find(faults.given) != std::string::npos);
  if (has_marker_ && is_given) writes_ = true;
}

// A statement with a name fails where it is executed: it must not fail under this name forever.
std::string ProxiedConnection::as_told(const WireMessage& message, const ProxyFaults& faults,
                                       ProxyCounts& counts) {
  if (faults.sqlstate.empty() || counts.failures >= faults.failures_max) return message.bytes;
  const std::string* parse = named_by(message);
  bool has_name = parse && (*parse)[5] != '\0';
  bool is_use = message.type == 'B' || !has_name;
  if (!parse || !is_use || statement_of(*parse).find(faults.marker) == std::string_view::npos) {
    return message.bytes;
  }
  ++counts.failures;
  std::string replaced = failing(*parse, faults.sqlstate);
  if (message.type == 'P') return replaced;
  std::string_view body = message.body();
  std::string portal(take_text(body));
  take_text(body);  // the name
  return replaced + wire_message('B', portal + std::string(2, '\0') + std::string(body));
}

bool ProxiedConnection::is_end_to_cut(const WireMessage& message, const ProxyFaults& faults,
                                      ProxyCounts& counts) {
  // In a pipeline, the server executes a COMMIT when it arrives, even if no Sync follows.
  bool is_commit = message.type == 'P' && statement_of(message.bytes).starts_with("COMMIT");
  bool is_end = message.type == 'S' || message.type == 'Q' ||
                (is_commit && faults.cut_at == CutAt::before_end);
  if (!is_end) return false;
  has_marker_ = false;
  if (!std::exchange(writes_, false)) return false;
  ++counts.writes;
  std::uint64_t so_far = counts.cuts_before_end + counts.cuts_after_end + counts.cuts_at_reply;
  return faults.cut_at != CutAt::nowhere && so_far < faults.cuts_max &&
         counts.writes % std::max<std::uint64_t>(faults.every, 1) == 0;
}

bool ProxiedConnection::move_to_server(const ProxyFaults& faults, ProxyCounts& counts) {
  std::string part = receive_part(client_);
  if (part.empty()) return false;
  from_client_.add(part);
  std::string bytes;
  bool is_cut = false;
  while (auto message = from_client_.next()) {
    notice(*message, faults);
    if (is_end_to_cut(*message, faults, counts)) {
      if (faults.cut_at == CutAt::before_end) {
        ++counts.cuts_before_end;
        is_cut = true;
        break;
      }
      drops_reply_ = faults.cut_at == CutAt::at_reply;
      is_cut = faults.cut_at == CutAt::after_end;
      if (is_cut) ++counts.cuts_after_end;
    }
    bytes += as_told(*message, faults, counts);
    if (is_cut) break;
  }
  if (pass_on(bytes, server_, to_server_, faults.bytes_to_server) && !is_cut) return true;
  return strike(faults, counts);
}

bool ProxiedConnection::move_to_client(const ProxyFaults& faults, ProxyCounts& counts) {
  std::string part = receive_part(server_);
  if (part.empty()) return false;
  from_server_.add(part);
  std::string bytes;
  while (auto message = from_server_.next()) {
    bool is_ready = message->type == 'Z';
    bool is_over = is_ready && message->body() == "I";
    if (is_over && drops_reply_) {
      ++counts.cuts_at_reply;
      drops_reply_ = false;
      return strike(faults, counts);
    }
    (drops_reply_ ? held_back_ : bytes) += message->bytes;
    // The transaction block continues: this was not its end, therefore the next one is checked.
    if (is_ready && drops_reply_) {
      drops_reply_ = false;
      writes_ = true;
      --counts.writes;
      bytes += std::exchange(held_back_, {});
    }
  }
  if (!bytes.empty()) replies_.push_back({Clock::now() + faults.delay, std::move(bytes)});
  return true;
}

bool ProxiedConnection::pass_on(std::string_view bytes, int to, std::uint64_t& passed,
                                const std::optional<std::uint64_t>& most) {
  bool fits = !most || passed + bytes.size() <= *most;
  if (!fits) bytes = bytes.substr(0, *most > passed ? *most - passed : 0);
  passed += bytes.size();
  return send_all(to, bytes) && fits;
}

void ProxiedConnection::close_both(bool reset) {
  for (int* file : {&client_, &server_}) {
    if (*file < 0) continue;
    linger at_once{1, 0};
    if (reset && file == &client_)
      ::setsockopt(*file, SOL_SOCKET, SO_LINGER, &at_once, sizeof(linger));
    ::close(*file);
    *file = -1;
  }
}

}  // namespace belay::postgres_tests
