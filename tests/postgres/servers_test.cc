// Tests of the servers and the proxy that the other tests of PostgreSQL use.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <list>
#include <sstream>

#include "tests/postgres/fault_proxy.h"
#include "tests/postgres/loopback.h"
#include "tests/postgres/pgbouncer.h"
#include "tests/postgres/postgres_server.h"
#include "tests/postgres/scripted_postgres.h"

namespace belay::postgres_tests {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// A plain client, like psql.
class Client {
 public:
  explicit Client(const std::string& url) : connection_(PQconnectdb(url.c_str()), PQfinish) {}
  bool is_connected() const { return PQstatus(connection_.get()) == CONNECTION_OK; }
  std::string error() const { return PQerrorMessage(connection_.get()); }
  // Returns the SQLSTATE; "lost" if the connection was lost; empty if it succeeded.
  std::string run(const std::string& statement) const {
    std::unique_ptr<PGresult, void (*)(PGresult*)> result(
        PQexecParams(connection_.get(), statement.c_str(), 0, nullptr, nullptr, nullptr, nullptr,
                     0),
        PQclear);
    ExecStatusType status = PQresultStatus(result.get());
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return "";
    const char* state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
    return is_connected() && state ? state : "lost";
  }
  // Sends the statements as one pipeline; returns whether the connection was lost meanwhile.
  bool loses_pipeline(const std::vector<std::string>& statements) const {
    constexpr int results_max = 100;
    PGconn* connection = connection_.get();
    if (PQenterPipelineMode(connection) != 1) return false;
    for (const std::string& each : statements) {
      PQsendQueryParams(connection, each.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0);
    }
    PQpipelineSync(connection);
    for (int i = 0; i < results_max && is_connected(); ++i) PQclear(PQgetResult(connection));
    return !is_connected();
  }
  int version() const { return PQserverVersion(connection_.get()); }

 private:
  std::unique_ptr<PGconn, void (*)(PGconn*)> connection_;
};

bool somebody_listens_at(int port) {
  int socket = connect_to_loopback(port);
  return socket >= 0 && ::close(socket) == 0;
}

class Servers : public ::testing::Test {
 protected:
  std::string with_table() {
    std::string database = server_.create_database();
    EXPECT_TRUE(server_.sql("CREATE TABLE numbers (number int)", database).ok());
    return database;
  }
  std::string rows(const std::string& database) {
    return server_.value("SELECT count(*) FROM numbers", database);
  }

  PostgresServer& server_ = shared_server();
};

TEST_F(Servers, ARealServerAnswersOverTcpAndOverItsSocket) {
  EXPECT_TRUE(Client(server_.url()).is_connected());
  EXPECT_TRUE(Client(server_.socket_url()).is_connected());
  EXPECT_FALSE(
      Client("postgresql://guarded:wrong@127.0.0.1:" + std::to_string(server_.port()) + "/postgres")
          .is_connected());
}

TEST_F(Servers, WhatWasCommittedSurvivesAnImmediateRestart) {
  PostgresServer own;
  ASSERT_TRUE(own.sql("CREATE TABLE numbers AS SELECT 1 AS number").ok());
  Client client(own.url());
  pid_t before = own.pid();
  own.restart_immediately();
  EXPECT_NE(own.pid(), before);
  EXPECT_EQ(client.run("SELECT 1"), "lost");
  EXPECT_EQ(own.value("SELECT count(*) FROM numbers"), "1");
}

TEST_F(Servers, AStandbyTakesNoWrites) {
  PostgresServer standby({.is_standby = true});
  EXPECT_EQ(standby.value("SELECT pg_is_in_recovery()"), "t");
  EXPECT_EQ(Client(standby.url()).run("CREATE TABLE numbers (number int)"), "25006");
}

TEST_F(Servers, TheProxyCutsBeforeAnEndAfterItOrAtItsReply) {
  std::string database = with_table();
  FaultProxy proxy(server_.port());
  for (CutAt where : {CutAt::before_end, CutAt::at_reply}) {
    std::string before = rows(database);
    Client client(server_.url_at(proxy.port(), database));
    ASSERT_TRUE(client.is_connected()) << client.error();
    proxy.set({.cut_at = where});
    EXPECT_EQ(client.run("SELECT 1"), "") << "only what writes is cut";
    EXPECT_EQ(client.run("INSERT INTO numbers VALUES (1)"), "lost");
    proxy.heal();
    bool is_committed = where == CutAt::at_reply;
    EXPECT_EQ(rows(database) != before, is_committed);
  }
  EXPECT_EQ(proxy.counts().cuts_before_end, 1u);
  EXPECT_EQ(proxy.counts().cuts_at_reply, 1u);
  Client client(server_.url_at(proxy.port(), database));
  proxy.set({.cut_at = CutAt::after_end});
  EXPECT_EQ(client.run("INSERT INTO numbers VALUES (1)"), "lost");
  EXPECT_EQ(proxy.counts().cuts, 3u);
}

TEST_F(Servers, TheProxyCutsABlockAtTheReplyToItsCommit) {
  std::string database = with_table();
  FaultProxy proxy(server_.port());
  proxy.set({.cut_at = CutAt::at_reply});
  Client client(server_.url_at(proxy.port(), database));
  EXPECT_EQ(client.run("BEGIN"), "");
  EXPECT_EQ(client.run("INSERT INTO numbers VALUES (1)"), "");
  EXPECT_EQ(client.run("COMMIT"), "lost");
  EXPECT_EQ(rows(database), "1");
}

// As the store sends them: all statements of a transaction without waiting, with one Sync at the
// end.
TEST_F(Servers, TheProxyCutsAPipelineBeforeItsCommitAfterItOrAtItsReply) {
  std::string database = with_table();
  FaultProxy proxy(server_.port());
  for (CutAt where : {CutAt::before_end, CutAt::after_end, CutAt::at_reply}) {
    std::string before = rows(database);
    Client client(server_.url_at(proxy.port(), database));
    ASSERT_TRUE(client.is_connected()) << client.error();
    proxy.set({.cut_at = where});
    EXPECT_TRUE(client.loses_pipeline({"BEGIN", "INSERT INTO numbers VALUES (1)", "COMMIT"}));
    proxy.heal();
    if (where == CutAt::after_end) continue;  // the outcome is uncertain
    EXPECT_EQ(rows(database) != before, where == CutAt::at_reply);
  }
  ProxyCounts counts = proxy.counts();
  EXPECT_EQ(counts.writes, 3u);
  EXPECT_EQ(counts.cuts_before_end, 1u);
  EXPECT_EQ(counts.cuts_after_end, 1u);
  EXPECT_EQ(counts.cuts_at_reply, 1u);
}

TEST_F(Servers, TheProxyCutsAfterSoManyBytesAndRefusesAndSwallows) {
  FaultProxy proxy(server_.port());
  std::string url = server_.url_at(proxy.port(), "postgres", "connect_timeout=2");
  proxy.set({.bytes_to_client = 100});
  EXPECT_FALSE(Client(url).is_connected());
  proxy.set({.refuses = true});
  EXPECT_FALSE(Client(url).is_connected());
  proxy.set({.swallows = true});
  EXPECT_FALSE(Client(url).is_connected());
  proxy.set({.delay = 50ms});
  EXPECT_TRUE(Client(url).is_connected());
}

TEST_F(Servers, PgBouncerGivesTransactionsOfManyClientsAFewConnections) {
  std::string database = with_table();
  PgBouncer bouncer(server_, 2);
  std::list<Client> clients;
  for (int i = 0; i < 6; ++i) {
    clients.emplace_back(server_.url_at(bouncer.port(), database));
    ASSERT_TRUE(clients.back().is_connected()) << clients.back().error();
    EXPECT_EQ(clients.back().run("INSERT INTO numbers VALUES (1)"), "");
  }
  std::string count = server_.value("SELECT count(*) FROM pg_stat_activity WHERE datname = '" +
                                    database + "' AND pid <> pg_backend_pid()");
  EXPECT_THAT(count, ::testing::AnyOf("1", "2"));
  EXPECT_EQ(rows(database), "6");
}

TEST_F(Servers, AScriptedServerSaysWhatItIsTold) {
  ScriptedPostgres twelve({.version = "12.3"});
  Client client(twelve.url());
  ASSERT_TRUE(client.is_connected()) << client.error();
  EXPECT_EQ(client.version(), 120'003);
  EXPECT_EQ(client.run("SELECT 1"), "");
  ScriptedPostgres full({.sqlstate = "53100", .message = "could not extend file"});
  EXPECT_EQ(Client(full.url()).run("INSERT INTO numbers VALUES (1)"), "53100");
  EXPECT_EQ(full.statements(), 1);
  ScriptedPostgres busy({.sqlstate = "53300", .message = "too many", .refuses_connections = true});
  EXPECT_THAT(Client(busy.url()).error(), HasSubstr("too many"));
}

TEST_F(Servers, TheyEndWithATestThatIsKilled) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  pid_t child = ::fork();
  if (child == 0) {
    PostgresServer own;
    std::string told = std::to_string(own.port()) + " " + own.socket_folder();
    [[maybe_unused]] auto written = ::write(ends[1], told.data(), told.size());
    ::raise(SIGKILL);
  }
  ::close(ends[1]);
  std::array<char, 200> told{};
  ASSERT_GT(::read(ends[0], told.data(), told.size() - 1), 0);
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]);
  std::istringstream words(told.data());
  int port = 0;
  std::string folder;
  words >> port >> folder;
  EXPECT_TRUE(wait_until(60s, [&] { return !somebody_listens_at(port); }));
  EXPECT_TRUE(wait_until(60s, [&] { return !std::filesystem::exists(folder); }));
}

}  // namespace
}  // namespace belay::postgres_tests
