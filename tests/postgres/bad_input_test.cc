// Messages of the real program about an unusable PostgreSQL, and its runs meanwhile: real servers,
// each with one fault.

#include <gmock/gmock.h>
#include <libpq-fe.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>

#include "cli/postgres_diagnostics.h"
#include "tests/cli/belay_process.h"
#include "tests/conformance/store_suite.h"
#include "tests/postgres/postgres_server.h"

namespace belay::postgres_tests {
namespace {

using namespace std::chrono_literals;
using cli::tests::Belay;
using cli::tests::Outcome;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Each test has its own server, because faults in its settings affect all databases.
class BadInput : public ::testing::Test {
 protected:
  BadInput() {
    world_.setting.binary = BELAY_SHOP_BINARY;
    use(owner_url());
  }
  std::string owner_url(const std::string& database = "postgres") const {
    return server_.url(database, "pool=2");
  }
  // Returns the URL of the role that has only the rights that a runtime needs.
  std::string runtime_url(const std::string& login = "runtime") const {
    return "postgresql://" + login + "@127.0.0.1:" + std::to_string(server_.port()) +
           "/postgres?pool=2&patience=300&session_expiry=1000";
  }
  void use(const std::string& url) { world_.setting.environment["BELAY_STORE"] = url; }
  void sql(const std::string& statements) {
    auto done = server_.sql(statements);
    ASSERT_TRUE(done.ok()) << statements << done.error().message;
  }
  void make_store_with_runtime_role() {
    use(owner_url());
    ASSERT_EQ(world_.run({"threads"}).code, 0);
    sql("CREATE ROLE runtime LOGIN; GRANT USAGE ON SCHEMA belay TO runtime;"
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA belay TO runtime;"
        "GRANT USAGE ON ALL SEQUENCES IN SCHEMA belay TO runtime");
  }
  // Returns the faults that doctor finds, with their advice, one per line.
  std::string found_wrong() {
    std::string lines;
    Value document = world_.run({"doctor", "--json"}).json();
    const auto* checks = document["checks"].as_array();
    if (!checks) return "no checks";
    for (const Value& check : *checks) {
      if (check["status"] == Value("ok")) continue;
      for (const char* member : {"name", "status", "detail", "advice"}) {
        lines += *check[member].as_string() + "|";
      }
      lines += "\n";
    }
    return lines;
  }
  // Returns the state of all relations in the schema.
  std::string tables() {
    return server_.value(
        "SELECT coalesce(string_agg(relname || ' ' || relfilenode || ' ' ||"
        " pg_relation_size(oid), ', ' ORDER BY relname), '') FROM pg_class"
        " WHERE relnamespace = 'belay'::regnamespace AND relname NOT LIKE 'sessions%'");
  }

  PostgresServer server_;
  cli::tests::World world_;
};

// A fault that occurs while a worker runs, and ends.
struct PassingFault {
  const char* name;
  std::vector<const char*> breaks;
  std::vector<const char*> mends;
  std::vector<const char*> told;   // by the worker; empty: only messages that it has printed before
  std::vector<const char*> found;  // by doctor; empty: tested elsewhere
};

const char* const kEndConnections =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'runtime'";

const std::vector<PassingFault>& passing_faults() {
  static const std::vector<PassingFault> all{
      {"a right is taken away",
       {"REVOKE INSERT ON belay.checkpoints FROM runtime"},
       {"GRANT INSERT ON belay.checkpoints TO runtime"},
       {"checkpoints", "GRANT SELECT, INSERT, UPDATE, DELETE"},
       {"schema|bad", "read and write checkpoints", "GRANT SELECT, INSERT, UPDATE, DELETE"}},
      {"the schema is closed",
       {"REVOKE USAGE ON SCHEMA belay FROM runtime"},
       {"GRANT USAGE ON SCHEMA belay TO runtime"},
       {"permission denied for schema", "GRANT"},
       {"schema|bad", "GRANT USAGE ON SCHEMA \"belay\" TO \"runtime\""}},
      {"the user may not log in",
       {"ALTER ROLE runtime NOLOGIN", kEndConnections},
       {"ALTER ROLE runtime LOGIN"},
       {"not permitted to log in", "ALTER ROLE"},
       {"store|bad", "not permitted to log in", "ALTER ROLE"}},
      {"the user's connections are spent",
       {"ALTER ROLE runtime CONNECTION LIMIT 0", kEndConnections},
       {"ALTER ROLE runtime CONNECTION LIMIT -1"},
       {"too many connections", "CONNECTION LIMIT"},
       {"store|bad", "too many connections", "pool="}},
      {"the server is set to read only",
       {"ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()",
        kEndConnections},
       {"ALTER SYSTEM RESET default_transaction_read_only", "SELECT pg_reload_conf()",
        kEndConnections},
       {"set to read only", "target_session_attrs"},
       {"schema|bad", "set to read only", "target_session_attrs"}},
      {"the server turns read only under its connections",
       {"ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()"},
       {"ALTER SYSTEM RESET default_transaction_read_only", "SELECT pg_reload_conf()"},
       {},
       {"schema|bad", "set to read only", "target_session_attrs"}},
      {"a table is gone",
       {"ALTER TABLE belay.events RENAME TO events_elsewhere"},
       {"ALTER TABLE belay.events_elsewhere RENAME TO events"},
       {"events", "a table is missing"},
       {"schema|bad", "lacks events", "restore it from a backup"}},
      {"the disk is full",
       {"CREATE FUNCTION belay.full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF"
        " current_user = 'runtime' THEN RAISE EXCEPTION 'could not extend file: No space left on"
        " device' USING ERRCODE = '53100'; END IF; RETURN NEW; END $$",
        "CREATE TRIGGER full_disk BEFORE INSERT ON belay.checkpoints FOR EACH ROW"
        " EXECUTE FUNCTION belay.full()"},
       {"DROP FUNCTION belay.full() CASCADE"},
       {"No space left on device", "make room on the server's disk"},
       {}},
  };
  return all;
}

TEST_F(BadInput, AWorkerSaysWhatToDoAndItsRunsWaitUntilItIsDone) {
  make_store_with_runtime_role();
  use(runtime_url());
  Belay worker({"worker"}, world_.setting);
  ASSERT_TRUE(worker.waits_to_say("Worker started."));
  int number = 0;
  for (const PassingFault& fault : passing_faults()) {
    SCOPED_TRACE(fault.name);
    std::string thread = "t" + std::to_string(++number);
    use(owner_url());
    ASSERT_EQ(world_.run({"queue", "pause", "default"}).code, 0);
    nap(1'500ms);  // the worker detects it within a second
    ASSERT_EQ(world_.run({"enqueue", "order", "--thread", thread, "--input", "item=hat"}).code, 0);
    std::size_t said_before = worker.said().size();
    for (const char* each : fault.breaks) sql(each);
    sql("SET TRANSACTION READ WRITE; UPDATE belay.queues SET paused = false");
    for (const char* words : fault.told) {
      ASSERT_TRUE(worker.waits_to_say(words)) << words << worker.said();
    }
    if (fault.told.empty()) {
      nap(1'500ms);  // the worker meets the fault meanwhile
    } else {
      EXPECT_THAT(worker.said().substr(said_before), HasSubstr(fault.told.back()));
    }
    use(runtime_url());
    std::string wrong = found_wrong();
    for (const char* words : fault.found) EXPECT_THAT(wrong, HasSubstr(words));
    EXPECT_THAT(server_.value("SELECT status FROM belay.runs WHERE thread_id = '" + thread + "'"),
                AnyOf("queued", "running"));
    for (const char* each : fault.mends) sql(each);
  }
  EXPECT_TRUE(wait_until(60s, [&] {
    return server_.value("SELECT count(*) FROM belay.runs WHERE status = 'paused'") ==
           std::to_string(number);
  })) << worker.said();
  worker.send(SIGTERM);
  Outcome ended = worker.finish();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(world_.run({"check"}).code, 0);
}

TEST_F(BadInput, AStoreThatIsNotWholeIsRefusedAndLeftAsItIs) {
  struct Case {
    const char* breaks;
    const char* mends;
    std::vector<std::string> says;
  };
  make_store_with_runtime_role();
  ASSERT_EQ(world_.run({"enqueue", "order", "--thread", "t", "--input", "item=hat"}).code, 0);
  sql("CREATE TABLE kept AS SELECT * FROM belay.migrations");
  const char* all_back =
      "DELETE FROM belay.migrations;"
      "INSERT INTO belay.migrations SELECT * FROM kept";
  for (const Case& each : {
           Case{"DELETE FROM belay.migrations", all_back, {"migration 1", "backup", "schema="}},
           Case{"DELETE FROM belay.migrations WHERE version = 1",
                all_back,
                {"migration 1", "backup", "schema="}},
           Case{"DELETE FROM belay.migrations WHERE version = 3",
                all_back,
                {"migration 3", "backup", "schema="}},
           Case{"UPDATE belay.migrations SET checksum = '\\x00' WHERE version = 1",
                all_back,
                {"different migration 1", "Use the Belay that created it"}},
           Case{"INSERT INTO belay.migrations (version, name, checksum, compatible_from)"
                " VALUES (99, 'later', '\\x00', 99)",
                all_back,
                {"supports up to", "Use a newer Belay"}},
           Case{"ALTER TABLE belay.outbox RENAME TO outbox_elsewhere",
                "ALTER TABLE belay.outbox_elsewhere RENAME TO outbox",
                {"lacks outbox", "backup", "schema="}},
       }) {
    SCOPED_TRACE(each.breaks);
    sql(each.breaks);
    std::string before = tables();
    Outcome refused = world_.run({"worker", "--until-idle"});
    EXPECT_EQ(refused.code, 6) << refused.err;
    EXPECT_TRUE(refused.says(each.says)) << refused.err;
    EXPECT_EQ(tables(), before);
    EXPECT_THAT(found_wrong(), HasSubstr("schema|"));
    EXPECT_EQ(tables(), before);
    sql(each.mends);
    EXPECT_EQ(server_.value("SELECT status FROM belay.runs"), "queued");
  }
  EXPECT_EQ(world_.run({"worker", "--until-idle"}).code, 0);
  EXPECT_EQ(server_.value("SELECT status FROM belay.runs"), "paused");
}

TEST_F(BadInput, AWrongPasswordAndADatabaseOfAnotherEncodingAreNamed) {
  sql("CREATE ROLE guarded LOGIN PASSWORD 'right-word'");
  use(runtime_url("guarded:wrong-word"));
  Outcome refused = world_.run({"threads"});
  EXPECT_EQ(refused.code, 6);
  EXPECT_TRUE(refused.says({"password", "user and password in the store's URL"})) << refused.err;
  std::string wrong = found_wrong();
  EXPECT_THAT(wrong, HasSubstr("store|bad|"));
  EXPECT_THAT(wrong, HasSubstr("check the user and password in the store's URL"));
  EXPECT_THAT(wrong + refused.err, Not(HasSubstr("wrong-word")));
  sql("CREATE DATABASE bytes ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0");
  use(owner_url("bytes"));
  refused = world_.run({"threads"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(refused.says({"SQL_ASCII", "ENCODING 'UTF8'"})) << refused.err;
  EXPECT_THAT(found_wrong(), HasSubstr("schema|bad|"));
  EXPECT_EQ(server_.value("SELECT count(*) FROM pg_namespace WHERE nspname = 'belay'", "bytes"),
            "0");
}

TEST_F(BadInput, AServerWhoseConnectionsOthersTookIsNamedAndComesBack) {
  PostgresServer small({.connections_max = 8});  // three of which are for superusers
  ASSERT_TRUE(small.sql("CREATE ROLE runtime SUPERUSER LOGIN").ok());
  std::string url = "postgresql://runtime@127.0.0.1:" + std::to_string(small.port()) +
                    "/postgres?pool=1&patience=300";
  use(url);
  EXPECT_EQ(world_.run({"threads"}).code, 0);
  ASSERT_TRUE(small.sql("ALTER ROLE runtime NOSUPERUSER").ok());
  ASSERT_TRUE(small.sql("GRANT ALL ON DATABASE postgres TO runtime").ok());
  std::vector<std::unique_ptr<PGconn, void (*)(PGconn*)>> others;
  for (int i = 0; i < 8; ++i)
    others.emplace_back(PQconnectdb(url.substr(0, url.find('?')).c_str()), PQfinish);
  Outcome refused = world_.run({"threads"});
  EXPECT_EQ(refused.code, 6);
  EXPECT_TRUE(refused.says({"max_connections"})) << refused.err;
  EXPECT_THAT(found_wrong(), HasSubstr("max_connections"));
  others.clear();
  EXPECT_TRUE(wait_until(60s, [&] { return world_.run({"threads"}).code == 0; }));
}

TEST_F(BadInput, AStandbyIsNamedAndOnceItIsPromotedRunsGoOnThere) {
  make_store_with_runtime_role();
  PostgresServer standby({.primary = &server_});
  use(standby.url("postgres", "pool=2&patience=0"));
  Outcome refused = world_.run({"worker", "--until-idle"});
  EXPECT_EQ(refused.code, 6);
  EXPECT_TRUE(refused.says({"it is a standby", "target_session_attrs=read-write"})) << refused.err;
  EXPECT_THAT(found_wrong(), HasSubstr("schema|bad|"));
  EXPECT_THAT(found_wrong(), HasSubstr("name the primary"));
  use("postgresql://belay@127.0.0.1:" + std::to_string(standby.port()) +
      ",127.0.0.1:" + std::to_string(server_.port()) +
      "/postgres?target_session_attrs=read-write&pool=2&session_expiry=1000");
  ASSERT_EQ(world_.run({"enqueue", "order", "--thread", "a", "--input", "item=hat"}).code, 0);
  Belay worker({"worker"}, world_.setting);
  ASSERT_TRUE(worker.waits_to_say("run.paused agent=order thread=a "));
  std::string end = server_.value("SELECT pg_current_wal_flush_lsn()");
  ASSERT_TRUE(wait_until(60s, [&] {
    return standby.value("SELECT pg_last_wal_replay_lsn() >= '" + end + "'") == "t";
  }));
  server_.stop(Stop::immediate);
  standby.promote();
  Outcome queued = world_.run({"enqueue", "order", "--thread", "b", "--input", "item=cap"});
  EXPECT_EQ(queued.code, 0) << queued.err;
  EXPECT_TRUE(worker.waits_to_say("run.paused agent=order thread=b ")) << worker.said();
  worker.send(SIGTERM);
  EXPECT_EQ(worker.finish().code, 0);
  EXPECT_EQ(standby.value("SELECT count(*) FROM belay.runs WHERE status = 'paused'"), "2");
  EXPECT_EQ(world_.run({"check"}).code, 0);
}

// A small file system, mounted in a mount namespace that ends with this process; only if that is
// permitted.
class SmallDisk {
 public:
  SmallDisk() {
    is_there_ = ::unshare(CLONE_NEWNS) == 0 &&
                ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                ::mount("belay", folder_.path().c_str(), "tmpfs", 0,
                        "size=32m,mode=0700,uid=65534,gid=65534") == 0;
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (is_there_) ::umount2(folder_.path().c_str(), MNT_DETACH);
  }
  bool is_there() const { return is_there_; }
  const std::string& path() const { return folder_.path(); }
  void fill() const {
    std::ofstream file(ballast(), std::ios::binary);
    while (file << std::string(4'096, 'x') << std::flush) {
    }
  }
  void make_room() const { std::filesystem::remove(ballast()); }

 private:
  std::string ballast() const { return folder_.path() + "/ballast"; }

  ServerFolder folder_;
  bool is_there_ = false;
};

// Returns text that cannot be compressed and does not fit into a page that already exists.
std::string much_text() {
  std::string text;
  conformance::SeededRandom random;
  while (text.size() < 100'000) text += std::to_string(random.bits());
  return text;
}

TEST_F(BadInput, ADiskThatIsFullIsNamedAndItsRunsGoOnOnceThereIsRoom) {
  SmallDisk disk;
  if (!disk.is_there()) GTEST_SKIP() << "a disk can't be mounted here";
  PostgresServer server;
  ASSERT_TRUE(server.sql("CREATE TABLESPACE small LOCATION '" + disk.path() + "'").ok());
  ASSERT_TRUE(server.sql("CREATE DATABASE small TABLESPACE small").ok());
  use(server.url("small", "pool=2&patience=300"));
  ASSERT_EQ(world_.run({"enqueue", "order", "--thread", "a", "--input", "item=hat"}).code, 0);
  disk.fill();
  std::string item = "item=" + much_text();
  Outcome refused = world_.run({"enqueue", "order", "--thread", "b", "--input", item});
  EXPECT_EQ(refused.code, 6);
  EXPECT_TRUE(refused.says({"No space left on device", "make room on the server's disk"}))
      << refused.err;
  EXPECT_EQ(server.value("SELECT count(*) FROM belay.runs", "small"), "1");
  EXPECT_EQ(server.value("SELECT count(*) FROM belay.threads", "small"), "1");
  EXPECT_THAT(found_wrong(), HasSubstr("make room on the server's disk"));
  disk.make_room();
  EXPECT_EQ(world_.run({"enqueue", "order", "--thread", "b", "--input", item}).code, 0);
  EXPECT_EQ(world_.run({"worker", "--until-idle"}).code, 0);
  EXPECT_EQ(server.value("SELECT count(*) FROM belay.runs WHERE status = 'paused'", "small"), "2");
  EXPECT_EQ(world_.run({"check"}).code, 0);
}

TEST_F(BadInput, DoctorSeesAClockThatIsHoursOff) {
  auto clock_finding = [&](Clock& clock) {
    for (const cli::Diagnostic& each : cli::diagnose_postgres(owner_url(), "", clock)) {
      if (each.name == "clock") return each;
    }
    return cli::Diagnostic();
  };
  std::unique_ptr<Clock> right = system_clock();
  EXPECT_EQ(clock_finding(*right).kind, cli::Diagnostic::Kind::good);
  conformance::StandingClock clock;
  for (std::chrono::hours off : {-3h, 3h}) {
    clock.advance(right->now() + off - clock.now());
    cli::Diagnostic wrong = clock_finding(clock);
    EXPECT_EQ(wrong.kind, cli::Diagnostic::Kind::bad) << wrong.detail;
    EXPECT_THAT(wrong.detail, HasSubstr(off > 0h ? "behind" : "ahead"));
    EXPECT_THAT(wrong.advice, HasSubstr("NTP"));
  }
}

}  // namespace
}  // namespace belay::postgres_tests
