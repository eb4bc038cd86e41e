#include "store/postgres/address.h"

#include <libpq-fe.h>

#include <algorithm>
#include <charconv>
#include <memory>

namespace belay::postgres {
namespace {

Error refuse(const std::string& why) {
  return error(ErrorCode::invalid,
               "Invalid PostgreSQL URL of the store: " + why +
                   ". Write postgresql://USER:PASSWORD@HOST:PORT/DATABASE?schema=belay.");
}

bool is_schema_name(std::string_view name) {
  auto is_fit = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && name.size() <= 63 && !(name[0] >= '0' && name[0] <= '9') &&
         !name.starts_with("pg_") && std::all_of(name.begin(), name.end(), is_fit);
}

Result<std::int64_t> number_in(std::string_view name, std::string_view text, std::int64_t least,
                               std::int64_t most) {
  std::int64_t number = 0;
  auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size() || number < least ||
      number > most) {
    return refuse("its option " + std::string(name) + " is not a number from " +
                  std::to_string(least) + " to " + std::to_string(most));
  }
  return number;
}

// Stores an option of Belay in `address`; returns false for any other option.
Result<bool> take_option(std::string_view name, const std::string& value, Address& address) {
  if (name == "schema") {
    if (!is_schema_name(value)) {
      return refuse(
          "its schema can contain a-z, 0-9 and _ only, and must not begin with a digit or pg_");
    }
    address.schema = value;
    return true;
  }
  if (name == "pool") {
    BELAY_TRY(std::int64_t pool, number_in(name, value, 1, 100));
    address.pool = static_cast<std::size_t>(pool);
    return true;
  }
  if (name == "session_expiry") {
    BELAY_TRY(std::int64_t expiry, number_in(name, value, 300, 3'600'000));
    address.session_expiry = std::chrono::milliseconds(expiry);
    return true;
  }
  if (name == "patience") {
    BELAY_TRY(std::int64_t patience, number_in(name, value, 0, 3'600'000));
    address.patience = std::chrono::milliseconds(patience);
    return true;
  }
  if (name == "pooler") {
    if (value != "detect" && value != "yes" && value != "no") {
      return refuse("its option pooler is not detect, yes or no");
    }
    address.pooler = value == "yes" ? Pooler::yes : value == "no" ? Pooler::no : Pooler::detect;
    return true;
  }
  return false;
}

// Returns the URL without Belay's options, and stores these in `address`.
Result<std::string> without_options(const std::string& url, Address& address) {
  std::size_t question = url.find('?');
  if (question == std::string::npos) return url;
  std::string left = url.substr(0, question);
  char before = '?';
  for (std::size_t begin = question + 1; begin <= url.size();) {
    std::size_t end = std::min(url.find('&', begin), url.size());
    std::string option = url.substr(begin, end - begin);
    std::size_t equals = std::min(option.find('='), option.size());
    std::string value = equals < option.size() ? option.substr(equals + 1) : "";
    BELAY_TRY(bool is_ours, take_option(option.substr(0, equals), value, address));
    if (!is_ours && !option.empty()) left += std::exchange(before, '&') + option;
    begin = end + 1;
  }
  return left;
}

std::string value_of(const Address& address, std::string_view keyword, std::string otherwise) {
  for (const auto& [name, value] : address.parameters) {
    if (name == keyword) return value;
  }
  return otherwise;
}

void set_unless_given(Address& address, std::string keyword, std::string value) {
  if (value_of(address, keyword, "").empty()) {
    address.parameters.emplace_back(std::move(keyword), std::move(value));
  }
}

}  // namespace

bool is_postgres_url(std::string_view text) {
  return text.starts_with("postgresql://") || text.starts_with("postgres://");
}

Result<Address> address_from(const std::string& url) {
  if (!is_postgres_url(url)) return refuse("it does not begin with postgresql://");
  if (url.find('\0') != std::string::npos) return refuse("it contains a byte 0");
  Address address;
  BELAY_TRY(std::string plain, without_options(url, address));
  char* message = nullptr;
  std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> options(
      PQconninfoParse(plain.c_str(), &message), PQconninfoFree);
  std::unique_ptr<char, void (*)(void*)> owned_message(message, PQfreemem);
  // Not libpq's message: it can contain a part of the URL, and thus of the password.
  if (!options) return refuse("libpq does not support it, or one of its options");
  for (const PQconninfoOption* option = options.get(); option->keyword; ++option) {
    if (option->val) address.parameters.emplace_back(option->keyword, option->val);
  }
  std::string host = value_of(address, "host", value_of(address, "hostaddr", "its default host"));
  std::string port = value_of(address, "port", "");
  address.shown = "PostgreSQL at " + host + (port.empty() ? "" : ":" + port) + "/" +
                  value_of(address, "dbname", value_of(address, "user", ""));
  // After a failover another host is the primary: connect to the host that accepts writes.
  bool has_several = host.find(',') != std::string::npos || port.find(',') != std::string::npos;
  if (has_several) set_unless_given(address, "target_session_attrs", "read-write");
  set_unless_given(address, "application_name", "belay");
  set_unless_given(address, "client_encoding", "UTF8");
  set_unless_given(address, "connect_timeout", "10");
  // If the server's machine is lost, this is detected within 15 seconds.
  set_unless_given(address, "tcp_user_timeout", "15000");
  set_unless_given(address, "keepalives_idle", "5");
  set_unless_given(address, "keepalives_interval", "3");
  set_unless_given(address, "keepalives_count", "3");
  return address;
}

}  // namespace belay::postgres
