#include "tools/search_index.h"

#include <sqlite3.h>

#include "base/in_quotes.h"

namespace belay::tools {
namespace {

constexpr std::int64_t application_id = 0x42656c78;  // "Belx"
constexpr std::int64_t schema_version = 1;
constexpr std::size_t words_max = 32;
constexpr std::size_t word_bytes_max = 200;

// The rowids of a file's paragraphs are consecutive, so that they can be deleted as one range.
constexpr int paragraph_bits = 20;

std::int64_t first_row(std::int64_t file) { return file << paragraph_bits; }

void bind_text(sqlite3_stmt* statement, int at, std::string_view text) {
  // An empty view can have a null pointer, which SQLite would bind as null.
  const char* data = text.data() ? text.data() : "";
  sqlite3_bind_text64(statement, at, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

std::string column_text(sqlite3_stmt* statement, int column) {
  const unsigned char* text = sqlite3_column_text(statement, column);
  auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
  return text ? std::string(reinterpret_cast<const char*>(text), size) : std::string();
}

bool separates(char c) { return static_cast<unsigned char>(c) <= 0x20 || c == '"' || c == 0x7f; }

}  // namespace

std::string match_query(std::string_view words) {
  std::string query;
  std::size_t count = 0;
  while (count < words_max) {
    std::size_t begin = 0;
    while (begin < words.size() && separates(words[begin])) ++begin;
    words.remove_prefix(begin);
    if (words.empty()) break;
    std::size_t end = 0;
    while (end < words.size() && !separates(words[end])) ++end;
    // A longer word is not one of a text. It would also be cut within a character.
    if (end <= word_bytes_max) {
      query += (query.empty() ? "" : " OR ") + in_quotes(words.substr(0, end));
      ++count;
    }
    words.remove_prefix(end);
  }
  return query;
}

void SearchIndex::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

SearchIndex::~SearchIndex() { sqlite3_close_v2(handle_); }

Error SearchIndex::failure() const {
  std::string index =
      path_.empty() ? "The search index in memory" : "The search index " + in_quotes(path_);
  std::string detail = std::string(" (SQLite: ") + sqlite3_errmsg(handle_) + "). ";
  switch (sqlite3_errcode(handle_) & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return error(ErrorCode::unavailable,
                   index + " is used by another process" + detail +
                       "Use one file for each process, or an index in memory.");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return error(ErrorCode::corrupt, index + " is damaged, or is not an index" + detail +
                                           "Delete it if it is one: it is built again.");
    default:
      return error(ErrorCode::unavailable, index + " could not be opened, read or written" +
                                               detail + "Check its folder and the disk.");
  }
}

Result<Done> SearchIndex::execute(const char* sql) {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return failure();
  return Done{};
}

Result<SearchIndex::Statement> SearchIndex::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle_, sql, -1, &statement, nullptr) != SQLITE_OK) return failure();
  return Statement(statement);
}

// Executes a statement without rows, and resets it.
Result<Done> SearchIndex::finish(const Statement& statement) {
  int code = sqlite3_step(statement.get());
  if (code != SQLITE_DONE) return failure();
  sqlite3_reset(statement.get());
  return Done{};
}

Result<std::int64_t> SearchIndex::number(const char* sql) {
  BELAY_TRY(Statement statement, prepare(sql));
  int code = sqlite3_step(statement.get());
  if (code == SQLITE_DONE) return 0;
  if (code != SQLITE_ROW) return failure();
  return sqlite3_column_int64(statement.get(), 0);
}

Result<std::unique_ptr<SearchIndex>> SearchIndex::open(const std::string& path) {
  sqlite3* handle = nullptr;
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
  int code = sqlite3_open_v2(path.empty() ? ":memory:" : path.c_str(), &handle, flags, nullptr);
  auto index = std::make_unique<SearchIndex>(path, handle);
  if (code != SQLITE_OK) return index->failure();
  BELAY_CHECK(index->create());
  return index;
}

Result<Done> SearchIndex::create() {
  BELAY_CHECK(execute("PRAGMA locking_mode = EXCLUSIVE"));
  BELAY_TRY(std::int64_t application, number("PRAGMA application_id"));
  BELAY_TRY(std::int64_t version, number("PRAGMA user_version"));
  BELAY_TRY(std::int64_t tables, number("SELECT count(*) FROM sqlite_schema"));
  if (tables > 0 && application != application_id) {
    return error(ErrorCode::invalid, "The file " + in_quotes(path_) +
                                         " is not a search index. Use another file for "
                                         "LocalSearchOptions::index.");
  }
  if (!path_.empty()) {
    BELAY_CHECK(execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL"));
  }
  // Acquires the lock, which locking_mode keeps.
  BELAY_CHECK(execute("BEGIN EXCLUSIVE"));
  if (tables > 0 && version != schema_version) {
    BELAY_CHECK(execute("DROP TABLE IF EXISTS paragraphs; DROP TABLE IF EXISTS files"));
    tables = 0;
  }
  if (tables == 0) {
    std::string sql =
        "CREATE TABLE files(id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE,"
        "  shown TEXT NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL) STRICT;"
        "CREATE VIRTUAL TABLE paragraphs USING fts5(text, line UNINDEXED,"
        "  tokenize = 'porter unicode61 remove_diacritics 2');"
        "PRAGMA application_id = " +
        std::to_string(application_id) +
        "; PRAGMA user_version = " + std::to_string(schema_version);
    BELAY_CHECK(execute(sql.c_str()));
  }
  return commit();
}

Result<std::map<std::string, IndexedFile>> SearchIndex::files() {
  BELAY_TRY(Statement statement, prepare("SELECT path, id, size, modified FROM files"));
  std::map<std::string, IndexedFile> files;
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(statement.get())) == SQLITE_ROW) {
    sqlite3_stmt* row = statement.get();
    IndexedFile file{sqlite3_column_int64(row, 1), sqlite3_column_int64(row, 2),
                     sqlite3_column_int64(row, 3)};
    files.emplace(column_text(row, 0), file);
  }
  if (code != SQLITE_DONE) return failure();
  return files;
}

Result<std::int64_t> SearchIndex::add(const std::string& path, const std::string& shown,
                                      const IndexedFile& file,
                                      const std::vector<Paragraph>& paragraphs) {
  BELAY_TRY(Statement row,
            prepare("INSERT INTO files(path, shown, size, modified) VALUES (?, ?, ?, ?)"));
  bind_text(row.get(), 1, path);
  bind_text(row.get(), 2, shown);
  sqlite3_bind_int64(row.get(), 3, file.size);
  sqlite3_bind_int64(row.get(), 4, file.modified);
  BELAY_CHECK(finish(row));
  std::int64_t id = sqlite3_last_insert_rowid(handle_);
  BELAY_TRY(Statement statement,
            prepare("INSERT INTO paragraphs(rowid, text, line) VALUES (?, ?, ?)"));
  std::int64_t next = first_row(id);
  for (const Paragraph& paragraph : paragraphs) {
    if (next - first_row(id) == paragraphs_max) break;
    sqlite3_bind_int64(statement.get(), 1, next++);
    bind_text(statement.get(), 2, paragraph.text);
    sqlite3_bind_int64(statement.get(), 3, paragraph.line);
    BELAY_CHECK(finish(statement));
  }
  return id;
}

Result<Done> SearchIndex::remove(std::int64_t id) {
  BELAY_TRY(Statement rows, prepare("DELETE FROM paragraphs WHERE rowid BETWEEN ? AND ?"));
  sqlite3_bind_int64(rows.get(), 1, first_row(id));
  sqlite3_bind_int64(rows.get(), 2, first_row(id) + paragraphs_max);
  BELAY_CHECK(finish(rows));
  BELAY_TRY(Statement file, prepare("DELETE FROM files WHERE id = ?"));
  sqlite3_bind_int64(file.get(), 1, id);
  return finish(file);
}

Result<std::vector<SearchHit>> SearchIndex::search(const std::string& match, int limit) {
  std::vector<SearchHit> hits;
  if (match.empty()) return hits;
  // FTS5 sorts by `rank` alone, and computes the snippets of the returned rows only.
  BELAY_TRY(Statement statement,
            prepare("SELECT f.shown, p.line, snippet(paragraphs, 0, '', '', '\u2026', 48)"
                    " FROM paragraphs p JOIN files f ON f.id = p.rowid >> 20"
                    " WHERE paragraphs MATCH ? ORDER BY rank LIMIT ?"));
  bind_text(statement.get(), 1, match);
  sqlite3_bind_int64(statement.get(), 2, limit);
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(statement.get())) == SQLITE_ROW) {
    sqlite3_stmt* row = statement.get();
    hits.push_back({column_text(row, 0), sqlite3_column_int64(row, 1), column_text(row, 2)});
  }
  if (code != SQLITE_DONE) return failure();
  return hits;
}

}  // namespace belay::tools
