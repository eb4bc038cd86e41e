// deploy/kubernetes/postgresql.yaml on a real server: the roles that it creates, the permitted
// connections, and a store that is opened with the URLs of config.yaml, over TLS.

#include <gmock/gmock.h>
#include <yaml-cpp/yaml.h>

#include "belay/testing.h"
#include "tests/conformance/store_suite.h"
#include "tests/postgres/postgres_server.h"

namespace belay::postgres_tests {
namespace {

using conformance::Caller;
using conformance::RunScript;
using ::testing::HasSubstr;

// Returns the ConfigMap of that name in a file of deploy/kubernetes.
YAML::Node map_of(const std::string& file, const std::string& name) {
  std::string path = std::string(BELAY_SOURCE_DIR) + "/deploy/kubernetes/" + file;
  for (const YAML::Node& root : YAML::LoadAllFromFile(path)) {
    bool is_it = root["kind"].as<std::string>() == "ConfigMap" &&
                 root["metadata"]["name"].as<std::string>() == name;
    if (is_it) return root["data"];
  }
  ADD_FAILURE() << path << " has no map named " << name;
  return YAML::Node();
}

// A self-signed certificate, created as in deploy/README.md.
struct Certificate {
  Certificate(const ServerFolder& folder, const std::string& name)
      : file(folder.file(name + ".crt")), key(folder.file(name + ".key")) {
    run_to_end({"/usr/bin/openssl", "req", "-x509", "-newkey", "rsa:3072", "-nodes", "-days",
                "3650", "-subj", "/CN=postgresql.belay.svc", "-addext",
                "subjectAltName=DNS:postgresql.belay.svc", "-keyout", key, "-out", file},
               folder.file(name + ".log"));
  }
  std::string file;
  std::string key;
};

void replace(std::string& text, const std::string& what, const std::string& by) {
  std::size_t at = text.find(what);
  ASSERT_NE(at, text.npos) << what << " in " << text;
  text.replace(at, what.size(), by);
}

class PostgresInCluster : public ::testing::Test {
 protected:
  ServerOptions options() const {
    // The test's own superuser connects over the socket, in addition to the rules of the file.
    std::string rules = "local all belay trust\n" + manifest_["pg_hba.conf"].as<std::string>();
    ServerOptions made;
    made.settings = "ssl = on\nssl_cert_file = '" + certificate_.file + "'\nssl_key_file = '" +
                    certificate_.key + "'\nhba_file = '" + folder_.write("pg_hba.conf", rules) +
                    "'\n";
    return made;
  }

  // As the image does with a new volume: creates the database, then executes the file with psql.
  void SetUp() override {
    ASSERT_TRUE(server_.sql("CREATE DATABASE belay").ok());
    std::string file = folder_.write("roles.sql", manifest_["roles.sql"].as<std::string>());
    run_to_end({"/usr/bin/env", "OWNER_PASSWORD=owner's word", "RUNTIME_PASSWORD=runtime-word",
                BELAY_POSTGRES_BIN "/psql", "-v", "ON_ERROR_STOP=1", "--no-psqlrc", "-h",
                server_.socket_folder(), "-p", std::to_string(server_.port()), "-U", "belay", "-d",
                "belay", "-f", file},
               folder_.file("psql.log"));
  }

  // Returns a URL of config.yaml with local values for the port, the address and the authority's
  // file.
  std::string url_of(const std::string& key, const std::string& password) const {
    std::string url = map_of("config.yaml", "belay")[key].as<std::string>();
    replace(url, ":5432/", ":" + std::to_string(server_.port()) + "/");
    replace(url, "/run/secrets/belay/ca.pem", certificate_.file);
    return url + "&hostaddr=127.0.0.1&patience=0&password=" + password;
  }
  std::unique_ptr<Store> open(const std::string& url) {
    auto opened = open_postgres_store(url, *clock_, random_);
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  std::string refusal(const std::string& url) {
    auto opened = open_postgres_store(url, *clock_, random_);
    EXPECT_FALSE(opened.ok());
    return opened.ok() ? "" : opened.error().message;
  }

  ServerFolder folder_;
  YAML::Node manifest_ = map_of("postgresql.yaml", "postgresql");
  Certificate certificate_{folder_, "tls"};
  PostgresServer server_{options()};
  std::unique_ptr<Clock> clock_ = system_clock();
  belay::testing::SeededRandom random_{1};
};

TEST_F(PostgresInCluster, TheOwnerMakesTheTablesAndARunIsKeptByTheRuntimeRoleOverTls) {
  ASSERT_NE(open(url_of("owner_store", "owner%27s%20word")), nullptr);
  auto store = open(url_of("runtime_store", "runtime-word"));
  ASSERT_NE(store, nullptr);
  ASSERT_TRUE(store->open_session().ok());
  Caller call(*store);
  RunScript script("in-cluster");
  EXPECT_EQ(call.commit(script.first()), CommitOutcome::applied);
  // Larger than one TLS record of 16 KiB.
  std::string large(100'000, 'x');
  EXPECT_EQ(
      call.commit(conformance::import_of({conformance::record_put("1", "\"" + large + "\"")})),
      CommitOutcome::applied);
  EXPECT_EQ(server_.value("SELECT count(*) FROM belay.runs", "belay"), "1");
  EXPECT_EQ(server_.value("SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)"
                          " WHERE usename = 'belay_runtime'"),
            "t");
  EXPECT_EQ(server_.value("SELECT rolconfig FROM pg_roles WHERE rolname = 'belay_runtime'"),
            "{idle_in_transaction_session_timeout=60s}");
}

TEST_F(PostgresInCluster, WhoeverComesWithoutTlsOrThePasswordOrAsTheSuperuserIsTurnedAway) {
  ASSERT_NE(open(url_of("owner_store", "owner%27s%20word")), nullptr);
  EXPECT_THAT(refusal(url_of("runtime_store", "another")), HasSubstr("password"));
  std::string plain = url_of("runtime_store", "runtime-word");
  replace(plain, "sslmode=verify-full", "sslmode=disable");
  EXPECT_THAT(refusal(plain), HasSubstr("no encryption"));
  std::string superuser = url_of("runtime_store", "runtime-word");
  replace(superuser, "belay_runtime@", "postgres@");
  EXPECT_THAT(refusal(superuser), HasSubstr("pg_hba.conf"));
}

TEST_F(PostgresInCluster, AServerThatSomebodyElseSignedOrThatHasAnotherNameIsNotTrusted) {
  Certificate other(folder_, "other");
  std::string url = url_of("owner_store", "owner%27s%20word");
  replace(url, certificate_.file, other.file);
  EXPECT_THAT(refusal(url), HasSubstr("certificate verify failed"));
  url = url_of("owner_store", "owner%27s%20word");
  replace(url, "postgresql.belay.svc", "elsewhere.belay.svc");
  EXPECT_THAT(refusal(url), HasSubstr("does not match host name"));
  EXPECT_EQ(server_.value("SELECT count(*) FROM pg_tables WHERE schemaname = 'belay'", "belay"),
            "0");
}

}  // namespace
}  // namespace belay::postgres_tests
