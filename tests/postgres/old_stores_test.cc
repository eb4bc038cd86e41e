// The PostgreSQL databases of older versions, restored from dumps.

#include <gtest/gtest.h>

#include "store/postgres/migrations.h"
#include "tests/corpus/old_stores.h"
#include "tests/postgres/postgres_server.h"

namespace belay::corpus {
namespace {

using postgres_tests::PostgresServer;

class PostgresDatabase final : public StorePlace {
 public:
  ~PostgresDatabase() override {
    auto dropped = server_.sql("DROP DATABASE " + database_ + " WITH (FORCE)");
    EXPECT_TRUE(dropped.ok()) << dropped.error().message;
  }
  std::string name() const override { return server_.url(database_, "pool=2"); }
  void restore(const std::string& contents) override {
    auto restored = server_.sql(contents, database_);
    EXPECT_TRUE(restored.ok()) << restored.error().message;
  }
  std::string schema() const override {
    return server_.value("SELECT max(version) FROM belay.migrations", database_);
  }

 private:
  PostgresServer& server_ = postgres_tests::shared_server();
  const std::string database_ = server_.create_database();
};

}  // namespace

const OldStoreKind& old_store_kind() {
  static const OldStoreKind kind{.prefix = "postgres-schema-",
                                 .ending = ".sql.zst",
                                 .first_schema = 1,
                                 .newest_schema = postgres::migrations().size(),
                                 .row_seals_since = 5,
                                 .other_files = {},
                                 .new_place = []() -> std::unique_ptr<StorePlace> {
                                   return std::make_unique<PostgresDatabase>();
                                 }};
  return kind;
}

}  // namespace belay::corpus
