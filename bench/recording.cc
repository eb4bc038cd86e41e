#include "bench/recording.h"

#include <sqlite3.h>

#include <mutex>
#include <string_view>

#include "bench/options.h"
#include "bench/pages.h"

namespace belay::bench {
namespace {

struct Recorded {
  std::mutex mutex;
  bool is_on = false;
  std::vector<WrittenTransaction> transactions;
};

Recorded& recorded() {
  static Recorded all;
  return all;
}

std::string bytes_of_hex(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::strtol(std::string(digits.substr(i, 2)).c_str(), nullptr, 16));
  }
  return bytes;
}

// Returns the literal at the beginning of `text`, and removes it from `text`.
Bound literal_at(std::string_view& text) {
  if (text.starts_with("NULL")) {
    text.remove_prefix(4);
    return std::monostate();
  }
  if (text.starts_with("x'")) {
    std::size_t close = text.find('\'', 2);
    Blob blob{bytes_of_hex(text.substr(2, close - 2))};
    text.remove_prefix(close + 1);
    return blob;
  }
  if (text.starts_with('\'')) {
    std::string value;
    std::size_t i = 1;
    for (; i < text.size(); ++i) {
      if (text[i] == '\'' && (i + 1 == text.size() || text[i + 1] != '\'')) break;
      if (text[i] == '\'') ++i;
      value += text[i];
    }
    text.remove_prefix(i + 1);
    return value;
  }
  std::size_t length = text.find_first_not_of("+-.0123456789e");
  std::string number(text.substr(0, length));
  text.remove_prefix(number.size());
  if (number.empty()) exit_with("A recorded statement cannot be read at: " + std::string(text));
  if (number.find_first_of(".e") != number.npos) return number_in<double>(number).value_or(0);
  return number_in<long long>(number).value_or(0);
}

// Extracts the values of a statement. SQLite does not return bound values, but it expands a
// statement with them: they replace the question marks of `sql`.
std::vector<Bound> values_in(std::string_view sql, std::string_view written_out) {
  std::vector<Bound> values;
  for (char c : sql) {
    if (c == '?') {
      values.push_back(literal_at(written_out));
    } else if (written_out.starts_with(c)) {
      written_out.remove_prefix(1);
    } else {
      exit_with("A recorded statement cannot be read: " + std::string(sql));
    }
  }
  return values;
}

int on_statement(unsigned, void*, void* statement, void*) {
  auto* running = static_cast<sqlite3_stmt*>(statement);
  std::lock_guard lock(recorded().mutex);
  if (!recorded().is_on) return 0;
  std::string_view sql = sqlite3_sql(running);
  // Only writers begin with IMMEDIATE.
  if (sql.starts_with("BEGIN IMMEDIATE")) recorded().transactions.emplace_back();
  bool is_frame = sql.starts_with("BEGIN") || sql.starts_with("COMMIT");
  if (is_frame || sql.starts_with("PRAGMA") || sqlite3_stmt_readonly(running)) return 0;
  if (recorded().transactions.empty())
    exit_with("A write outside a transaction: " + std::string(sql));
  char* written_out = sqlite3_expanded_sql(running);
  recorded().transactions.back().push_back({std::string(sql), values_in(sql, written_out)});
  sqlite3_free(written_out);
  return 0;
}

int on_connection(sqlite3* connection, char**, const sqlite3_api_routines*) {
  return sqlite3_trace_v2(connection, SQLITE_TRACE_STMT, on_statement, nullptr);
}

}  // namespace

void Recording::watch_connections() {
  sqlite3_auto_extension(reinterpret_cast<void (*)()>(on_connection));
}

void Recording::start() {
  std::lock_guard lock(recorded().mutex);
  recorded().is_on = true;
}

std::vector<WrittenTransaction> Recording::stop() {
  sqlite3_reset_auto_extension();
  std::lock_guard lock(recorded().mutex);
  recorded().is_on = false;
  return std::exchange(recorded().transactions, {});
}

}  // namespace belay::bench
