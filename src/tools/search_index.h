#pragma once
// tools/search_index.h - a full-text index of paragraphs, in SQLite's FTS5.
//
// It is a cache of files: if it is damaged, it can be deleted. Threading: one thread at a time; an
// index file is used by one process at a time.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "belay/result.h"
#include "tools/paragraphs.h"

struct sqlite3;
struct sqlite3_stmt;

namespace belay::tools {

struct IndexedFile {
  std::int64_t id = 0;
  std::int64_t size = 0;
  std::int64_t modified = 0;  // ns since 1970
};

struct SearchHit {
  std::string file{};
  std::int64_t line = 0;
  std::string text{};  // the part of the paragraph that matches best
};

// Returns the FTS5 query for paragraphs that contain any of the words. Every word is quoted: none
// of FTS5's operators can occur outside of a literal. Empty if there is no word.
std::string match_query(std::string_view words);

class SearchIndex {
 public:
  // Paragraphs of one file; further ones are not indexed.
  static constexpr std::int64_t paragraphs_max = (std::int64_t{1} << 20) - 1;

  // Opens or creates the index; in memory if the path is empty.
  static Result<std::unique_ptr<SearchIndex>> open(const std::string& path);
  SearchIndex(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}
  SearchIndex(const SearchIndex&) = delete;
  SearchIndex& operator=(const SearchIndex&) = delete;
  ~SearchIndex();

  // By the path on the disk.
  Result<std::map<std::string, IndexedFile>> files();

  Result<Done> begin() { return execute("BEGIN IMMEDIATE"); }
  Result<Done> commit() { return execute("COMMIT"); }
  Result<Done> roll_back() { return execute("ROLLBACK"); }

  // Within a transaction. `shown` is the name in the results. Returns the id.
  Result<std::int64_t> add(const std::string& path, const std::string& shown,
                           const IndexedFile& file, const std::vector<Paragraph>& paragraphs);
  Result<Done> remove(std::int64_t id);

  // Returns the best matches, best first (bm25). REQUIRES: a query of match_query().
  Result<std::vector<SearchHit>> search(const std::string& match, int limit);

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

  Result<Done> create();
  Result<Done> execute(const char* sql);
  Result<std::int64_t> number(const char* sql);
  Result<Statement> prepare(const char* sql);
  Result<Done> finish(const Statement& statement);
  Error failure() const;

  std::string path_;
  sqlite3* handle_;
};

}  // namespace belay::tools
