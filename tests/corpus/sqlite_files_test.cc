// The SQLite files of older versions.

#include <gtest/gtest.h>

#include <fstream>

#include "store/sqlite/connection.h"
#include "store/sqlite/migrations.h"
#include "tests/conformance/temporary_folder.h"
#include "tests/corpus/old_stores.h"

namespace belay::corpus {
namespace {

class SqliteFile final : public StorePlace {
 public:
  std::string name() const override { return "sqlite:" + path_; }
  void restore(const std::string& contents) override {
    std::ofstream(path_, std::ios::binary) << contents;
  }
  std::string schema() const override {
    auto connection = sqlite::Connection::open(path_, sqlite::Connection::Mode::read_write);
    return std::to_string(connection.value()->number("PRAGMA user_version").value());
  }

 private:
  conformance::TemporaryFolder folder_;
  std::string path_ = folder_.file("store.db");
};

}  // namespace

const OldStoreKind& old_store_kind() {
  static const OldStoreKind kind{
      .prefix = "schema-",
      .ending = ".db.zst",
      .first_schema = 2,
      .newest_schema = sqlite::migrations().size(),
      .row_seals_since = 7,
      .other_files = {"schema-1.db"},  // tests/conformance/sqlite_old_files_test.cc opens it
      .new_place = []() -> std::unique_ptr<StorePlace> { return std::make_unique<SqliteFile>(); }};
  return kind;
}

}  // namespace belay::corpus
