// `belay upgrade --check` with real programs: the old one, and new ones that differ from it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>

#include "tests/cli/belay_process.h"
#include "tests/cli/served.h"

namespace belay::cli::tests {
namespace {

using ::testing::HasSubstr;

class UpgradeCheck : public testing::Test {
 protected:
  UpgradeCheck() {
    world_.setting.binary = BELAY_UPGRADED_BINARY;
    run({"run", "letter", "--thread", "waits", "--input", "text=Hello", "--input", "pages=2"});
    run({"enqueue", "letter", "--thread", "queued", "--input", "text=Hello"});
  }
  Outcome run(const Words& words) { return world_.run(words); }
  // Returns the path of a program of this version.
  std::string program(const std::string& version) {
    std::string path =
        world_.write("letter-" + version, "#!/bin/sh\nLETTER_VERSION=" + version +
                                              " exec " BELAY_UPGRADED_BINARY " \"$@\"\n");
    EXPECT_EQ(::chmod(path.c_str(), 0755), 0);
    return path;
  }
  Outcome check(const std::string& version, Words more = {}) {
    Words words{"upgrade", "--check", program(version)};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  Setting through(const Served& server) const {
    Setting remote = world_.setting;
    remote.environment.erase("BELAY_STORE");
    remote.environment["BELAY_SERVER"] = server.url("");
    return remote;
  }
  World world_;
};

TEST_F(UpgradeCheck, OfPoliciesAndTextsReportsThatEveryRunContinues) {
  for (std::string version : {"old", "retried"}) {
    Outcome checked = check(version, {"--json"});
    EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
    EXPECT_EQ(checked.json()["counts"]["continues"], Value(2)) << checked.out;
  }
  world_.setting.binary = program("retried");
  Outcome approved = run({"approvals", "approve", "waits", "--by", "ana"});
  EXPECT_EQ(approved.code, 0) << approved.err;
}

// The settings of the command are also those of the new program.
TEST_F(UpgradeCheck, PassesItsSettingsToTheNewProgram) {
  std::string store = world_.setting.environment["BELAY_STORE"];
  world_.setting.environment.erase("BELAY_STORE");
  world_.setting.environment["BELAY_SERVER"] = "http://127.0.0.1:1";
  Outcome checked = check("old", {"--json", "--store", store});
  EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
  EXPECT_EQ(checked.json()["counts"]["continues"], Value(2)) << checked.out;
}

TEST_F(UpgradeCheck, ReadsAnEncryptedStoreWithTheKeyOfTheSettingsFile) {
  std::string keys = world_.write("keys", "k1:" + std::string(64, 'a') + "\n");
  ::chmod(keys.c_str(), 0600);
  std::string store = "sqlite:" + world_.folder.file("encrypted.db");
  world_.setting.environment.erase("BELAY_STORE");
  std::string file = world_.write("letters.yaml", "store: " + store + "\nkey_file: " + keys + "\n");
  Words words{"enqueue", "letter", "--config", file, "--input", "text=Hello"};
  ASSERT_EQ(run(words).code, 0);
  Outcome checked = check("old", {"--json", "--config", file});
  EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
  EXPECT_EQ(checked.json()["counts"]["continues"], Value(1)) << checked.out;
}

TEST_F(UpgradeCheck, CallsTheUpgradeAndWritesNothing) {
  std::string before = world_.store_contents();
  Outcome checked = check("hooked", {"--json"});
  EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
  EXPECT_EQ(checked.json()["counts"]["migrates"], Value(2)) << checked.out;
  EXPECT_EQ(world_.store_contents(), before);
  world_.setting.binary = program("hooked");
  EXPECT_EQ(run({"approvals", "approve", "waits", "--by", "ana"}).code, 0);
  EXPECT_EQ(run({"state", "waits", "--json"}).json()["state"]["pages"], Value("2"));
}

TEST_F(UpgradeCheck, NamesTheChannelThatNeedsAHook) {
  Outcome checked = check("bare", {"--json"});
  EXPECT_EQ(checked.code, 1) << checked.err;
  EXPECT_EQ(checked.json()["counts"]["needs a hook"], Value(2)) << checked.out;
  const Value report = checked.json();
  const Value& first = report["runs"].as_array()->front();
  EXPECT_EQ(first["channel"], Value("pages"));
  EXPECT_THAT(*first["reason"].as_string(), HasSubstr("The channel \"pages\" was changed"));
  Outcome shown = check("bare");
  EXPECT_THAT(shown.out, HasSubstr("needs a hook: 2 runs"));
  EXPECT_THAT(shown.out, HasSubstr("channel pages"));
  world_.setting.binary = program("bare");
  EXPECT_EQ(run({"approvals", "approve", "waits", "--by", "ana"}).code, 2);
}

TEST_F(UpgradeCheck, NamesTheNodeThatStrandsARun) {
  Outcome checked = check("short", {"--json"});
  EXPECT_EQ(checked.code, 1) << checked.err;
  EXPECT_EQ(checked.json()["counts"]["stranded"], Value(1)) << checked.out;
  const Value report = checked.json();
  for (const Value& each : *report["runs"].as_array()) {
    if (each["threadId"] != Value("waits")) continue;
    EXPECT_EQ(each["node"], Value("review"));
  }
}

TEST_F(UpgradeCheck, OfAnotherProgramsStoreIsOneLine) {
  std::string before = world_.store_contents();
  Outcome checked = check("strange");
  EXPECT_EQ(checked.code, 2);
  EXPECT_TRUE(checked.says({"belongs to another program", "\"letter\"", "invoice"})) << checked.err;
  EXPECT_EQ(world_.store_contents(), before);
}

TEST_F(UpgradeCheck, RefusesWhatIsNoProgramOfBelay) {
  EXPECT_TRUE(run({"upgrade", "--check", "/bin/true"}).says({"no rehearsal"}));
  EXPECT_TRUE(run({"upgrade", "--check", "/bin/echo"}).says({"no rehearsal"}));
  EXPECT_TRUE(run({"upgrade", "--check", "/nowhere/letter"}).says({"cannot be started"}));
  EXPECT_TRUE(run({"upgrade"}).says({"--check"}));
  Setting remote;
  remote.binary = BELAY_UPGRADED_BINARY;
  Words words{"upgrade", "--check", "--server", "http://127.0.0.1:9"};
  EXPECT_TRUE(run_belay(words, remote).says({"on a server"}));
}

TEST_F(UpgradeCheck, NamesARunWhoseMaterialsAreRefusedWhichAConsentContinues) {
  Outcome checked = check("strict", {"--json"});
  EXPECT_EQ(checked.code, 1);
  EXPECT_EQ(checked.json()["counts"]["refused"], Value(2)) << checked.out;
  EXPECT_EQ(to_json(checked.json()["changedMaterials"]), R"(["letter: model"])");
  world_.setting.binary = program("strict");
  Outcome refused = run({"approvals", "approve", "waits", "--by", "ana"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(refused.says({"model", "--accept-changes"})) << refused.err;
  EXPECT_TRUE(run({"resume", "waits", "--by", "ana"}).says({"add --accept-changes"}));

  Outcome accepted = run({"resume", "waits", "--accept-changes", "--by", "ana"});
  EXPECT_EQ(accepted.code, 3) << "it still waits for a decision: " << accepted.err;
  EXPECT_EQ(run({"approvals", "approve", "waits", "--by", "ana"}).code, 0);
  EXPECT_EQ(run({"resume", "waits", "--accept-changes"}).code, 0) << "a repeated call";
  EXPECT_THAT(run({"history", "waits"}).out, HasSubstr("other materials than before: model"));
  Outcome spanish = run({"history", "waits", "--language", "es"});
  EXPECT_THAT(spanish.out, HasSubstr("otros materiales que antes: modelo"));
  EXPECT_THAT(spanish.out, HasSubstr("consentimiento"));

  Outcome fresh = run({"run", "letter", "--thread", "fresh", "--input", "text=Hello"});
  EXPECT_EQ(fresh.code, 3) << fresh.err;
  Outcome unchanged = run({"resume", "fresh", "--accept-changes"});
  EXPECT_EQ(unchanged.code, 2);
  EXPECT_TRUE(unchanged.says({"no changed materials"})) << unchanged.err;
  EXPECT_EQ(run({"check"}).code, 0);
}

TEST_F(UpgradeCheck, IsFollowedByAConsentThroughAServer) {
  world_.setting.binary = program("strict");
  Served server(world_.setting);
  ASSERT_TRUE(server.is_up());
  Setting remote = through(server);
  Outcome refused = run_belay({"resume", "queued"}, remote);
  EXPECT_EQ(refused.code, 2) << refused.out;
  Outcome accepted = run_belay({"resume", "queued", "--accept-changes", "--by", "ben"}, remote);
  EXPECT_EQ(accepted.code, 3) << accepted.err;
  Got again = server.post("/api/threads/queued/resume", R"({"acceptChanges":true})");
  EXPECT_EQ(again.status, 202) << again.body;
  Got nameless = server.post("/api/threads/queued/resume", R"({"by":"ana"})");
  EXPECT_EQ(nameless.status, 422) << nameless.body;
  Outcome events = run_belay({"tail", "queued", "--json"}, remote);
  EXPECT_THAT(events.out, HasSubstr("\"ben\"")) << events.err;
}

// The server does not claim the run: its graph refuses the materials.
TEST_F(UpgradeCheck, ShowsARunWhoseProcessIsGoneThroughAServerToo) {
  Setting halting = world_.setting;
  halting.environment["BELAY_TEST_PAUSE_AT_COMMIT"] = "2";
  Belay running({"run", "letter", "--thread", "gone", "--input", "text=Hello"}, halting);
  ASSERT_TRUE(running.waits_to_say("paused before commit 2")) << running.said();
  running.send(SIGKILL);
  running.finish();
  world_.setting.binary = program("strict");
  EXPECT_THAT(run({"state", "gone"}).out, HasSubstr("running: its process is gone"));
  Served server(world_.setting);
  ASSERT_TRUE(server.is_up());
  Outcome remote = run_belay({"state", "gone"}, through(server));
  EXPECT_EQ(remote.out, run({"state", "gone"}).out);
  EXPECT_THAT(remote.out, HasSubstr("running: its process is gone"));
}

// A run that cannot continue does not keep the others from being resumed.
TEST_F(UpgradeCheck, IsFollowedByAResumeOfAllRunsThatCanContinue) {
  for (std::string thread : {"first", "second"}) {
    Setting halting = world_.setting;
    halting.environment["BELAY_TEST_PAUSE_AT_COMMIT"] = "2";
    Belay running({"run", "letter", "--thread", thread, "--input", "text=Hello"}, halting);
    ASSERT_TRUE(running.waits_to_say("paused before commit 2")) << running.said();
    running.send(SIGKILL);
    running.finish();
  }
  world_.setting.binary = program("strict");
  Outcome refused = run({"resume", "--all", "--json"});
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_EQ(refused.json()["failed"].as_array()->size(), 2u) << refused.out;
  world_.setting.binary = program("bare");
  Outcome gone = run({"resume", "--all", "--json"});
  EXPECT_EQ(gone.code, 0) << gone.err;
  EXPECT_EQ(gone.out, "{\"failed\":[],\"resumed\":[]}\n");
  world_.setting.binary = program("old");
  Outcome resumed = run({"resume", "--all", "--json"});
  EXPECT_EQ(resumed.json()["resumed"].as_array()->size(), 2u) << resumed.out << resumed.err;
}

TEST_F(UpgradeCheck, ShowsARunWhoseCodeIsGoneAsSuch) {
  world_.setting.binary = program("bare");
  Outcome status = run({"status", "--json"});
  EXPECT_EQ(status.json()["codeGone"].as_array()->size(), 2u) << status.out;
  EXPECT_EQ(status.json()["queued"].as_array()->size(), 0u) << status.out;
  EXPECT_THAT(run({"status"}).out, HasSubstr("Code gone"));
  EXPECT_THAT(run({"threads"}).out, HasSubstr("code gone"));
  EXPECT_THAT(run({"threads", "show", "queued"}).out, HasSubstr("code gone"));
  EXPECT_THAT(run({"state", "queued"}).out, HasSubstr("code gone"));
  EXPECT_EQ(run({"state", "queued", "--json"}).json()["status"], Value("code_gone"));
  Outcome worked = run({"worker", "--until-idle"});
  EXPECT_EQ(worked.code, 0) << worked.err;
  {
    Belay worker({"worker"}, world_.setting);
    EXPECT_TRUE(worker.waits_to_say("run.code_gone")) << worker.said();
    EXPECT_EQ(run({"state", "queued", "--json"}).json()["status"], Value("code_gone"))
        << "the worker has declared that it cannot continue the run";
    worker.send(SIGTERM);
    worker.finish();
  }
  world_.setting.binary = program("old");
  EXPECT_EQ(run({"status", "--json"}).json()["codeGone"].as_array()->size(), 0u);
  EXPECT_EQ(run({"worker", "--until-idle"}).code, 0);
  EXPECT_EQ(run({"approvals", "approve", "queued", "--by", "ana"}).code, 0);
}

}  // namespace
}  // namespace belay::cli::tests
