// Every request that changes something, sent twice at the same time to two servers on one store,
// and again later, also after both have been started anew: each time the same final answer, and one
// effect. Which requests there are is read from the servers' own description, so a new one that is
// missing here fails.

#include <gtest/gtest.h>
#include <signal.h>

#include <set>

#include "tests/cli/served.h"

namespace belay::cli::tests {
namespace {

struct Sent {
  std::string method = "POST";
  std::string path;
  std::string body = "{}";
  std::vector<net::HttpHeader> headers = {};
};

// One request: how it is made ready, and what is answered.
struct Case {
  std::string operation;
  std::function<Sent(Served&)> prepare;
  std::set<int> statuses = {200};  // at first
  std::set<int> again = {200};     // and of what is sent again
  // Members of the answer that may differ: what a later look has to tell.
  std::set<std::string> except = {};
};

Value without(Value document, const std::set<std::string>& members) {
  // Of the time that passes, and of who was first.
  static const std::set<std::string> always{"updatedAt", "workedMs", "createdAt", "answer",
                                            "message",   "title",    "status"};
  Value::Object* object = document.as_object();
  if (!object) return document;
  bool is_problem = object->contains("code") && object->contains("detail");
  for (const std::string& name : always) {
    if (name != "status" || is_problem) object->erase(name);
  }
  for (const std::string& name : members) object->erase(name);
  for (auto& [name, member] : *object) member = without(std::move(member), members);
  return document;
}

class CliSentAgain : public ::testing::Test {
 protected:
  static constexpr const char* kDay = "2026-11-21";

  void SetUp() override {
    for (World* each : {&world, &elsewhere}) {
      ASSERT_EQ(each->run({"notes", "import", "-"}, note_line(kDay, hard_day())).code, 0);
    }
    start_servers();
  }
  void start_servers() {
    one = std::make_unique<Served>(world.setting);
    other = std::make_unique<Served>(world.setting);
    ASSERT_TRUE(one->is_up() && other->is_up());
  }

  static net::HttpRequest request_to(Served& served, const Sent& sent) {
    net::HttpRequest request;
    request.method = sent.method;
    request.url = served.url(sent.path);
    request.headers = sent.headers;
    request.body = sent.body;
    if (!sent.body.empty()) request.headers.push_back({"Content-Type", "application/json"});
    return request;
  }
  static Task<Result<std::vector<Got>>> both(net::HttpClient& client, Executor& executor,
                                             net::HttpRequest first, net::HttpRequest second) {
    Completion<Got> here;
    std::function<void(Got)> told = [here](Got got) { here.complete(std::move(got)); };
    auto task = exchange(client, std::move(first));
    Spawned running = spawn<Got>(executor, std::move(task), std::move(told));
    std::vector<Got> got(2);
    got[1] = co_await exchange(client, std::move(second));
    got[0] = co_await here;
    co_return std::move(got);
  }
  std::vector<Got> send_to_both(const Sent& sent) {
    auto task = both(one->client(), one->loop(), request_to(*one, sent), request_to(*other, sent));
    return block_on(one->loop(), std::move(task)).value();
  }
  // How many rows each table has, but for the processes that live.
  std::string rows() {
    std::string text;
    Value store = one->get("/api/store").json();
    for (const Value& table : *store["tables"].as_array()) {
      std::string name = tests::text(table["name"]);
      if (name != "sessions") text += name + " " + to_json(table["rows"]) + "\n";
    }
    return text;
  }

  // A thread that waits for a person.
  static std::string paused(Served& served, const std::string& name) {
    Got begun = served.post("/api/agents/daily-audit", R"({"date":")" + std::string(kDay) +
                                                           R"(","threadId":")" + name + "\"}");
    EXPECT_EQ(begun.status, 202) << begun.body;
    return name;
  }
  static std::string record(const std::string& collection, const std::string& more) {
    return R"({"date":"2026-11-20",)" + (collection == "notes" ? R"("content":"Slept.")" : more) +
           "}";
  }

  World world;
  World elsewhere;  // another store
  std::unique_ptr<Served> one;
  std::unique_ptr<Served> other;

  std::vector<Case> cases();
  void add_record_cases(std::vector<Case>& all);
};

std::vector<Case> CliSentAgain::cases() {
  auto at = [](std::string path, std::string body = "{}") {
    return [=](Served&) { return Sent{"POST", path, body, {}}; };
  };
  auto on_paused = [](std::string name, std::string before, std::string after, std::string body) {
    return [=](Served& served) {
      return Sent{"POST", before + paused(served, name) + after, body, {}};
    };
  };
  const std::string input = R"({"input":{"date":"2026-11-21"},"threadId":"started"})";
  auto import = [this](Served&) {
    EXPECT_EQ(elsewhere.run({"run", "daily-audit", "--date", kDay, "--thread", "moved"}).code, 3);
    EXPECT_EQ(elsewhere.run({"approvals", "approve", "moved", "--by", "ana"}).code, 0);
    std::string file = elsewhere.run({"export", "moved"}).out;
    return Sent{"POST", "/api/threads/import", "{\"file\":" + file + "}", {}};
  };
  auto under_key = [](Served& served) {
    paused(served, "forked");
    return Sent{
        "POST", "/api/threads/forked/fork", R"({"seq":2})", {{"Idempotency-Key", "fork-1"}}};
  };
  std::vector<Case> all{
      {"startRun", at("/api/agents/daily_auditor/runs", input), {202}, {202}},
      {"startDailyAudit",
       [](Served&) {
         return Sent{"POST",
                     "/api/agents/daily-audit",
                     R"({"date":"2026-11-21"})",
                     {{"Idempotency-Key", "audit-1"}}};
       },
       {202},
       {202}},
      {"generateRoutine",
       at("/api/agents/generate-routine", R"({"date":"2026-11-21","threadId":"routine"})"),
       {202},
       {202}},
      {"forkThread", under_key, {202}, {202}},
      {"importThread", import, {201}, {201}},
      {"resumeThread", on_paused("resumed", "/api/threads/", "/resume", "{}"), {202}, {202}},
      {"cancelThread", on_paused("cancelled", "/api/threads/", "/cancel", "{}")},
      {"cancelAgent", on_paused("stopped", "/api/agents/cancel/", "", "{}")},
      {"replayThread", on_paused("replayed", "/api/threads/", "/replay", "{}")},
      {"decide",
       on_paused("decided", "/api/approvals/", "/decision", R"({"approved":true,"comment":"c"})")},
      {"approveThread", on_paused("approved", "/api/agents/approve/", "", R"({"approved":true})")},
      {"approveDailyAudit",
       on_paused("rejected", "/api/agents/daily-audit/", "/approve", R"({"approved":false})")},
      {"approveRoutine",
       [](Served& served) {
         Got begun = served.post("/api/agents/generate-routine",
                                 R"({"date":"2026-11-21","threadId":"planned"})");
         EXPECT_EQ(begun.status, 202) << begun.body;
         return Sent{"POST", "/api/agents/routine/planned/approve", R"({"approved":true})", {}};
       }},
      {"preserveThread",
       [](Served& served) {
         return Sent{"PUT", "/api/threads/" + paused(served, "kept") + "/preserved", "", {}};
       }},
      {"unpreserveThread",
       [](Served& served) {
         return Sent{"DELETE", "/api/threads/" + paused(served, "let") + "/preserved", "", {}};
       }},
      {"changeQueue", at("/api/queues/mails", R"({"paused":true,"runsMax":3})")},
      // Belay's own agents publish no messages: there is none to be moved, however often.
      {"retryMessage",
       at("/api/outbox/00000000-0000-4000-8000-000000000001/2/0/retry"),
       {404},
       {404}},
      {"giveUpMessage",
       at("/api/outbox/00000000-0000-4000-8000-000000000001/2/0/give-up"),
       {404},
       {404}},
      {"saveRecords",
       at("/api/records",
          R"({"records":[{"collection":"things","key":"k","json":"1","indexed":[],"erase":false}]})")},
      {"pruneStore", at("/api/store/prune", R"({"keepHours":1000})")},
      {"compactStore", at("/api/store/compact"), {200}, {200}, {"bytesBefore", "bytesAfter"}},
      // Between two looks others begin runs: what is found is the same, nothing.
      {"checkStore", at("/api/store/check"), {200}, {200}, {"runs", "checkpoints", "approvals"}},
  };
  add_record_cases(all);
  return all;
}

void CliSentAgain::add_record_cases(std::vector<Case>& all) {
  struct Kind {
    std::string plural, singular, content;
  };
  const Kind kinds[] = {
      {"notes", "Note", R"("content":"Slept.")"},
      {"summaries", "Summary", R"("summary":"Calm.")"},
      {"routines", "Routine", R"("activities":[])"},
  };
  for (const Kind& kind : kinds) {
    std::string path = "/api/" + kind.plural;
    auto body = [content = kind.content](const std::string& date) {
      return R"({"date":")" + date + "\"," + content + "}";
    };
    // A day, or of notes an id, of each case's own.
    auto key = [&](const std::string& day) {
      return kind.singular == "Note" ? "note-" + day : day;
    };
    all.push_back({"create" + kind.singular,
                   [=](Served&) { return Sent{"POST", path, body("2026-10-01"), {}}; },
                   {200, 201},
                   {200}});
    std::string replaced = path + "/" + key("2026-10-02");
    all.push_back({"replace" + kind.singular,
                   [=](Served&) { return Sent{"PUT", replaced, body("2026-10-02"), {}}; },
                   {200, 201},
                   {200}});
    std::string deleted = path + "/" + key("2026-10-03");
    all.push_back({"delete" + kind.singular,
                   [=](Served& served) {
                     EXPECT_EQ(served.send("PUT", deleted, body("2026-10-03")).status, 201);
                     return Sent{"DELETE", deleted, "", {}};
                   },
                   // One that is not there any more is not found (RFC 9110: the effect is one).
                   {204, 404},
                   {404}});
  }
}

TEST_F(CliSentAgain, EachRequestThatChangesSomethingHasOneFinalAnswerAndOneEffect) {
  std::set<std::string> described;
  Value description = one->get("/openapi.json").json();
  for (const auto& [path, methods] : *description["paths"].as_object()) {
    for (const auto& [method, operation] : *methods.as_object()) {
      if (method != "get") described.insert(text(operation["operationId"]));
    }
  }
  std::vector<Case> all = cases();
  std::set<std::string> played;
  for (const Case& each : all) played.insert(each.operation);
  ASSERT_EQ(played, described) << "each request that changes something is a case, and no other";

  std::vector<Sent> sent;
  std::vector<Value> finals;
  for (const Case& each : all) {
    SCOPED_TRACE(each.operation);
    sent.push_back(each.prepare(*one));
    std::vector<Got> got = send_to_both(sent.back());
    for (const Got& answer : got) {
      EXPECT_TRUE(each.statuses.contains(answer.status)) << answer.status << answer.body;
    }
    Value first = without(got[0].json(), each.except);
    Value second = without(got[1].json(), each.except);
    bool is_gone = got[0].status != got[1].status && each.again.contains(404);
    EXPECT_TRUE(is_gone || first == second) << to_json(first) << "\n" << to_json(second);
    finals.push_back(std::move(first));
  }
  std::string before = rows();
  auto send_all_again = [&](const std::string& when) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      SCOPED_TRACE(all[i].operation + " " + when);
      for (const Got& answer : send_to_both(sent[i])) {
        EXPECT_TRUE(all[i].again.contains(answer.status)) << answer.status << answer.body;
        if (all[i].again.contains(404)) continue;
        Value document = without(answer.json(), all[i].except);
        EXPECT_EQ(document, finals[i]) << to_json(document) << "\n" << to_json(finals[i]);
      }
    }
    EXPECT_EQ(rows(), before) << when;
  };
  send_all_again("later");
  one->process().send(SIGKILL);
  other->process().send(SIGTERM);
  other->process().finish();
  start_servers();
  send_all_again("after the servers were started anew");
  Outcome checked = world.run({"check"});
  EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
}

}  // namespace
}  // namespace belay::cli::tests
