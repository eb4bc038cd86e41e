#include "store/postgres/prepared_statements.h"

#include <algorithm>
#include <array>

#include "belay/ids.h"

namespace belay::postgres {
namespace {

constexpr std::string_view written_schema = "belay.";

std::string text_in_schema(std::string_view sql, const std::string& name) {
  std::string text(sql);
  if (name + "." == written_schema) return text;
  std::string schema = "\"" + name + "\".";
  for (std::size_t at = text.find(written_schema); at != std::string::npos;
       at = text.find(written_schema, at + schema.size())) {
    text.replace(at, written_schema.size(), schema);
  }
  return text;
}

// Those of every transaction, except for its end: that must not fail for the lack of a name.
bool is_frequent(std::string_view text) {
  static constexpr std::array<std::string_view, 7> frequent{
      "SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "BEGIN", "SET LOCAL"};
  return std::any_of(frequent.begin(), frequent.end(),
                     [&](std::string_view word) { return text.starts_with(word); });
}

std::string name_of(std::string_view text, const std::vector<std::uint32_t>& types) {
  std::string all(text);
  for (std::uint32_t type : types) all += " " + std::to_string(type);
  return "belay_" + to_hex(sha256(all)).substr(0, 40);
}

}  // namespace

PreparedStatements::Pointer PreparedStatements::use(std::string_view sql) {
  auto found = by_text_.find(sql);
  if (found == by_text_.end()) return add(sql);
  by_age_.splice(by_age_.begin(), by_age_, found->second);
  Pointer statement = by_age_.front();
  ++statement->uses;
  return statement;
}

PreparedStatements::Pointer PreparedStatements::add(std::string_view sql) {
  if (by_age_.size() >= statements_max) forget_oldest();
  auto statement = std::make_shared<Statement>();
  statement->key = sql;
  statement->text = text_in_schema(sql, schema_);
  statement->uses = 1;
  by_age_.push_front(statement);
  by_text_.emplace(statement->key, by_age_.begin());
  return statement;
}

void PreparedStatements::forget_oldest() {
  Pointer oldest = std::move(by_age_.back());
  by_text_.erase(oldest->key);
  by_age_.pop_back();
  if (oldest->is_prepared) forgotten_.push_back(oldest->name);
}

bool PreparedStatements::takes_name(Statement& statement, const std::vector<std::uint32_t>& types) {
  if (statement.is_prepared) return statement.types == types;
  if (statement.uses < 2 || !is_frequent(statement.text)) return false;
  statement.types = types;
  return true;
}

// A name that was dropped here, and that the server still keeps, has the same text and types.
bool PreparedStatements::must_prepare(Statement& statement) {
  ++executions_;
  if (statement.is_prepared) return false;
  statement.name = name_of(statement.text, statement.types);
  statement.is_prepared = true;
  return std::erase(forgotten_, statement.name) == 0;
}

void PreparedStatements::note_unprepared(Statement& statement) {
  statement.is_prepared = false;
  // It might have been dropped here in the meantime.
  std::erase(forgotten_, statement.name);
}

std::vector<std::string> PreparedStatements::take_forgotten() {
  return std::exchange(forgotten_, {});
}

void PreparedStatements::forget_all() {
  forgotten_.clear();
  for (const Pointer& statement : by_age_) statement->is_prepared = false;
}

bool PreparedStatements::take_renewal(std::chrono::steady_clock::time_point now) {
  const bool is_old = executions_ > 0 && now - renewed_at_ > plan_age_max;
  if (executions_ < renewal_at_ && !is_old) return false;
  if (executions_ >= renewal_at_) renewal_at_ = std::min(2 * renewal_at_, renewal_max);
  executions_ = 0;
  renewed_at_ = now;
  return true;
}

}  // namespace belay::postgres
