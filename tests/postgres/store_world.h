#pragma once
// tests/postgres/store_world.h - a fixture with its own schema on the shared server
//
// Each store that it opens on the schema is like that of another machine.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/postgres/migrations.h"
#include "tests/conformance/store_suite.h"
#include "tests/postgres/fault_proxy.h"
#include "tests/postgres/postgres_stores.h"

namespace belay::postgres_tests {

class StoreWorld : public ::testing::Test {
 protected:
  using Opened = std::unique_ptr<Store>;

  std::string options(const std::string& more = "") const {
    return "schema=" + schema_ + "&pool=2" + (more.empty() ? "" : "&" + more);
  }
  std::string url(const std::string& more = "") const {
    return server_.url("postgres", options(more));
  }
  std::string url_at(int port, const std::string& more = "") const {
    return server_.url_at(port, "postgres", options(more));
  }
  // Uses the server's clock, as programs do.
  Result<Opened> try_open(const std::string& url) { return open_store(url, clock_, random_); }
  // Returns null and fails the test if the store cannot be opened.
  Opened open(const std::string& url) {
    auto opened = try_open(url);
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  // Returns the error of opening a store that must be rejected.
  Error refusal(const std::string& url) {
    auto opened = try_open(url);
    EXPECT_FALSE(opened.ok()) << "it was opened";
    return opened.ok() ? Error() : opened.error();
  }
  // Executes statements as the superuser; "belay." stands for the schema.
  void run_sql(std::string statements, const std::string& database = "postgres") {
    auto done = server_.sql(in_schema(std::move(statements)), database);
    EXPECT_TRUE(done.ok()) << done.error().message;
  }
  std::string sql_value(std::string statement) {
    return server_.value(in_schema(std::move(statement)));
  }
  std::string in_schema(std::string statements) const {
    constexpr std::string_view name = "belay.";
    for (std::size_t at = 0; (at = statements.find(name, at)) != std::string::npos;) {
      statements.replace(at, name.size(), schema_ + ".");
      at += schema_.size();
    }
    return statements;
  }

  // Creates the schema as a version of Belay before the third migration did; it must not exist yet.
  void make_second_schema() {
    run_sql("CREATE SCHEMA " + schema_);
    for (std::size_t version : {1, 2}) {
      run_sql(std::string(postgres::migrations()[version - 1].sql));
      note_migration(version, version);
    }
    // This version of Belay writes these columns in every schema: tests that imitate an older one
    // need them.
    for (std::size_t version : {4, 5, 9}) {
      run_sql(std::string(postgres::migrations()[version - 1].sql));
    }
    // Of the seventh only the tables: its view needs functions of the third.
    std::string threads(postgres::migrations()[6].sql);
    run_sql(threads.substr(0, threads.find("-- For the views")));
  }
  void note_migration(std::size_t version, std::size_t compatible_from) {
    const store::Migration& migration = postgres::migrations()[version - 1];
    run_sql("INSERT INTO belay.migrations (version, name, checksum, compatible_from) VALUES (" +
            std::to_string(version) + ", '" + std::string(migration.name) + "', '\\x" +
            to_hex(sha256(migration.sql)) + "', " + std::to_string(compatible_from) + ")");
  }

  PostgresServer& server_ = shared_server();
  conformance::TemporaryFolder folder_;  // the schema's name is derived from it
  const std::string schema_ = schema_for(folder_.path());
  conformance::StandingClock clock_;
  conformance::SeededRandom random_;
};

}  // namespace belay::postgres_tests
