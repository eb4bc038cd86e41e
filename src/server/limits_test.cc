// Limits on the runs that requests start and on the wrong keys that they try. Permissions and wrong
// keys are checked from the head of a request, and so are starts that need no body for it.

#include <gtest/gtest.h>

#include <set>

#include "base/percent_encoding.h"
#include "server/client_address.h"
#include "server/login_limit.h"
#include "tests/support/api_fixture.h"

namespace belay::server {
namespace {

using namespace std::chrono_literals;

struct ApiLimits : ApiFixture {
  static std::string token_of(const std::string& name) {
    return "token-of-" + name + "-16-letters";
  }

  void with_keys(std::vector<std::string> names, Permission permission = Permission::run) {
    for (const std::string& name : names) {
      ApiKey key;
      key.name = name;
      key.permission = permission;
      key.token = sha256(token_of(name));
      options.keys.push_back(std::move(key));
    }
    api = make_api();
  }
  static http::Request from(std::string peer, const std::string& token, http::Request sent) {
    sent.peer = std::move(peer);
    if (!token.empty()) sent.headers.push_back({"Authorization", "Bearer " + token});
    return sent;
  }
  static http::Request start(std::string more = {}) {
    return request("POST", "/api/agents/mail/runs", R"({"input":{"topic":"calm"})" + more + "}");
  }
  // Returns the address of a route with replaced parameters.
  static std::string address(const Route& route) {
    std::string path = route.path;
    for (std::size_t open = path.find('{'); open != path.npos; open = path.find('{')) {
      path.replace(open, path.find('}') - open + 1, "nothing");
    }
    return path;
  }
  std::unique_ptr<std::optional<http::Response>> begin(http::Request sent, Spawned& task) {
    auto answer = std::make_unique<std::optional<http::Response>>();
    task = spawn<http::Response>(
        loop, api->answer(std::move(sent)),
        [at = answer.get()](http::Response response) { *at = std::move(response); });
    return answer;
  }
};

TEST_F(ApiLimits, OfEachRouteTheHeadAloneIsRefused) {
  with_keys({"reader"}, Permission::read);
  for (const Route& route : api->routes()) {
    auto head = request(route.method, address(route));
    head.headers.push_back({"Content-Length", "1048576"});
    auto refused = api->admit(head);
    ASSERT_TRUE(refused) << route.id << ": a megabyte of nobody's would be read";
    EXPECT_EQ(refused->status, route.permission == Permission::open ? 422 : 401) << route.id;
    auto reading = from("", token_of("reader"), head);
    refused = api->admit(reading);
    bool may = route.permission <= Permission::read && !route.body.is_null();
    EXPECT_EQ(refused.has_value(), !may) << route.id;
  }
  auto nowhere = request("POST", "/api/nowhere");
  EXPECT_EQ(api->admit(nowhere)->status, 404);
  auto other = request("PATCH", "/api/runs");
  EXPECT_EQ(api->admit(other)->status, 405);
}

TEST_F(ApiLimits, OnlyRoutesThatBeginRunsCountAsStarts) {
  options.starts.per_minute = 1;
  api = make_api();
  std::set<std::string> begin_runs;
  for (const Route& route : api->routes()) {
    if (route.begins_run) begin_runs.insert(route.id);
  }
  EXPECT_EQ(begin_runs,
            (std::set<std::string>{"startRun", "forkThread", "runSchedule", "backfillSchedule"}));
  ASSERT_EQ(send(start()).status, 200);
  for (const Route& route : api->routes()) {
    auto sent = request(route.method, address(route), route.body.is_null() ? "" : "{}");
    EXPECT_EQ(send(std::move(sent)).status == 429, route.begins_run) << route.id;
  }
}

TEST_F(ApiLimits, StartsAreCountedByUserAndByAddressAndTheAnswerNamesWhich) {
  options.starts.per_minute = 2;
  with_keys({"ana", "bob", "eve"});
  auto from_key = [&](std::string peer, std::string name) {
    return send(from(std::move(peer), token_of(name), start()));
  };
  EXPECT_EQ(from_key("10.0.0.1", "ana").status, 200);
  EXPECT_EQ(from_key("10.0.0.2", "ana").status, 200);
  auto user = from_key("10.0.0.3", "ana");
  EXPECT_EQ(user.status, 429);
  EXPECT_NE(text(user.body["detail"]).find("user \"ana\""), std::string::npos);
  EXPECT_EQ(user.header("Retry-After"), "30");
  EXPECT_EQ(from_key("10.0.0.1", "bob").status, 200);
  auto address = from_key("10.0.0.1", "eve");
  EXPECT_EQ(address.status, 429);
  EXPECT_NE(text(address.body["detail"]).find("address \"10.0.0.1\""), std::string::npos);
  EXPECT_EQ(from_key("10.0.0.9", "eve").status, 200) << "the refused one has taken nothing";
  clock.move(30s);
  EXPECT_EQ(from_key("10.0.0.1", "ana").status, 200);
}

TEST_F(ApiLimits, ARepeatedStartFindsItsRunWhateverTheLimit) {
  options.starts.per_minute = 2;
  api = make_api();
  auto of_key = [](const std::string& key) {
    auto sent = start();
    sent.headers.push_back({"Idempotency-Key", key});
    return sent;
  };
  auto fork = [](const std::string& more) {
    auto sent = request("POST", "/api/threads/t/fork", R"({"seq":1)" + more + "}");
    sent.headers.push_back({"Idempotency-Key", "f"});
    return sent;
  };
  ASSERT_EQ(send(start(R"(,"threadId":"t")")).status, 200);
  clock.move(1ms);
  Answered forked = send(fork(""));
  ASSERT_EQ(forked.status, 200) << to_json(forked.body);
  clock.move(40s);
  Answered first = send(of_key("k"));
  ASSERT_EQ(first.status, 200) << to_json(first.body);
  EXPECT_EQ(send(of_key("other")).status, 429);
  EXPECT_EQ(all_runs().size(), 3u) << "a refused start leaves nothing";
  for (int i = 0; i < 5; ++i) {
    clock.move(1ms);
    Answered again = send(of_key("k"));
    EXPECT_EQ(again.status, 200) << to_json(again.body);
    EXPECT_EQ(again.body["runId"], first.body["runId"]);
    EXPECT_EQ(send(fork("")).body["runId"], forked.body["runId"]);
    EXPECT_EQ(send(fork(R"(,"preview":true)")).status, 200);
  }
  EXPECT_EQ(send(of_key("other")).status, 429) << "they have returned no place that they had not";
  EXPECT_EQ(all_runs().size(), 3u);
  clock.move(30s);
  EXPECT_EQ(send(of_key("other")).status, 200);
}

TEST_F(ApiLimits, RepeatedStartsThatWaitForTheirRunTakeNoPlace) {
  options.starts.per_minute = 2;
  api = make_api();
  model.takes(10s);
  auto of_key = [](const std::string& key) {
    auto sent = start();
    sent.headers.push_back({"Idempotency-Key", key});
    return sent;
  };
  Spawned tasks[4];
  std::vector<std::unique_ptr<std::optional<http::Response>>> all;
  for (std::size_t i = 0; i < 3; ++i) {
    all.push_back(begin(of_key("k"), tasks[i]));
    loop.run_until(clock.now() + 1s);
  }
  all.push_back(begin(of_key("other"), tasks[3]));
  loop.run_until(clock.now() + 30s);
  for (const auto& each : all) {
    ASSERT_TRUE(*each);
    EXPECT_EQ((*each)->status, 200) << (*each)->body;
  }
  EXPECT_EQ(all_runs().size(), 2u);
}

TEST_F(ApiLimits, StartsOfOneKeyAtTheSameInstantDoNotExceedTheLimit) {
  options.starts.per_minute = 2;
  api = make_api();
  model.takes(10s);
  Spawned tasks[6];
  std::vector<std::unique_ptr<std::optional<http::Response>>> all;
  for (Spawned& task : tasks) {
    auto sent = start();
    sent.headers.push_back({"Idempotency-Key", "k"});
    all.push_back(begin(std::move(sent), task));
  }
  loop.run_until(clock.now() + 30s);
  for (const auto& each : all) {
    ASSERT_TRUE(*each);
    EXPECT_TRUE((*each)->status == 200 || (*each)->status == 429) << (*each)->body;
  }
  EXPECT_EQ(all_runs().size(), 1u);
}

TEST_F(ApiLimits, WhatBeginsNoRunCountsAsNoStart) {
  options.starts.per_minute = 2;
  api = make_api();
  auto known = [] { return start(R"(,"threadId":"t")"); };
  ASSERT_EQ(send(known()).status, 200);
  clock.move(1ms);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(send(known()).status, 200) << "the same run";
    EXPECT_EQ(send(request("POST", "/api/agents/mail/runs", "{")).status, 400);
    EXPECT_EQ(post("/api/agents/other/runs", "{}").status, 404);
    EXPECT_EQ(post("/api/threads/t/fork", R"({"preview":true,"seq":1})").status, 200);
  }
  EXPECT_EQ(post("/api/threads/t/fork", R"({"seq":1})").status, 200);
  EXPECT_EQ(post("/api/threads/t/fork", R"({"seq":1})").status, 429);
}

// The count that servers share: tokens that were taken and not returned.
struct CountedStarts final : SharedRateLimit {
  std::map<std::string, int> taken;
  std::string full;  // the name whose tokens are used up
  Task<std::optional<std::chrono::milliseconds>> acquire(std::string name, std::size_t) override {
    bool is_full = name == full;
    if (!is_full) ++taken[name];
    co_return std::chrono::milliseconds(is_full ? 1'000 : 0);
  }
  Task<Done> give_back(std::string name, std::size_t) override {
    --taken[name];
    co_return Done{};
  }
};

TEST_F(ApiLimits, WhatBeginsNoRunCountsAsNoStartForOtherServersEither) {
  options.starts.per_minute = 100;
  CountedStarts shared;
  ApiParts parts{*service, loop, clock, random};
  parts.starts = &shared;
  api = std::make_unique<Api>(std::move(parts), options, nullptr);
  auto known = [] { return from("10.0.0.1", "", start(R"(,"threadId":"t")")); };
  ASSERT_EQ(send(known()).status, 200);
  const std::map<std::string, int> one{{"starts:" + options.user.text, 1},
                                       {"starts-from:10.0.0.1", 1}};
  EXPECT_EQ(shared.taken, one);
  clock.move(1ms);
  EXPECT_EQ(send(known()).status, 200) << "the same run";
  for (const char* refused : {"{", R"({"input":7})"}) {
    auto sent = request("POST", "/api/agents/mail/runs", refused);
    EXPECT_GE(send(from("10.0.0.1", "", std::move(sent))).status, 400) << refused;
  }
  auto keyed = [] {
    auto sent = start();
    sent.headers.push_back({"Idempotency-Key", "k"});
    return from("10.0.0.1", "", std::move(sent));
  };
  ASSERT_EQ(send(keyed()).status, 200);
  clock.move(1ms);
  shared.full = "starts-from:10.0.0.1";
  EXPECT_EQ(send(keyed()).status, 200) << "a repeated request";
  --shared.taken["starts:" + options.user.text];
  --shared.taken["starts-from:10.0.0.1"];
  EXPECT_EQ(send(from("10.0.0.1", "", start())).status, 429);
  EXPECT_EQ(shared.taken, one);
}

TEST_F(ApiLimits, RunsAtWorkAreCountedUntilTheyRest) {
  options.starts.at_work_per_address = 2;
  api = make_api();
  model.takes(10s);
  Spawned tasks[4];
  auto one = begin(from("10.0.0.1", "", start(R"(,"threadId":"one")")), tasks[0]);
  auto short_wait = from("10.0.0.1", "", start());
  short_wait.headers.push_back({"Prefer", "wait=1"});
  auto two = begin(std::move(short_wait), tasks[1]);
  loop.run_until(clock.now() + 2s);
  EXPECT_EQ((*two)->status, 202) << "answered, and still at work";
  auto refused = send(from("10.0.0.1", "", start()));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.header("Retry-After"), "1");
  EXPECT_NE(text(refused.body["detail"]).find("10.0.0.1"), std::string::npos);
  auto async = from("10.0.0.1", "", start());
  async.headers.push_back({"Prefer", "respond-async"});
  EXPECT_EQ(send(std::move(async)).status, 202) << "what waits in the queue is not at work";
  auto again = begin(from("10.0.0.1", "", start(R"(,"threadId":"one")")), tasks[2]);
  auto elsewhere = begin(from("10.0.0.2", "", start()), tasks[3]);
  loop.run_until(clock.now() + 20s);
  for (auto* each : {one.get(), again.get(), elsewhere.get()}) {
    ASSERT_TRUE(*each);
    EXPECT_EQ((*each)->status, 200);
  }
  EXPECT_EQ(send(from("10.0.0.1", "", start())).status, 200);
}

TEST_F(ApiLimits, RunsAtWorkAreBoundedOverAllUsers) {
  options.starts.at_work = 3;
  api = make_api();
  model.takes(10s);
  Spawned tasks[3];
  std::unique_ptr<std::optional<http::Response>> held[3];
  for (int i = 0; i < 3; ++i) {
    held[i] = begin(from("10.0.0." + std::to_string(i), "", start()), tasks[i]);
  }
  loop.run_until(clock.now() + 1s);
  EXPECT_EQ(send(from("10.0.1.1", "", start())).status, 429);
  EXPECT_EQ(get("/api/runs").status, 200);
  loop.run_until(clock.now() + 20s);
  EXPECT_EQ(send(from("10.0.1.1", "", start())).status, 200);
}

TEST_F(ApiLimits, WithoutKeysThereAreNoLimitsUnlessTheyAreSet) {
  for (int i = 0; i < 40; ++i) EXPECT_EQ(send(start()).status, 200);
}

TEST_F(ApiLimits, AfterWrongKeysAnAddressIsRefusedAndWhoWasLetInBeforeIsNot) {
  options.wrong_keys_per_minute = 3;
  with_keys({"ana", "bob"}, Permission::read);
  auto ask = [&](std::string peer, std::string token) {
    return send(from(std::move(peer), token, request("GET", "/api/runs")));
  };
  EXPECT_EQ(ask("10.0.0.1", token_of("ana")).status, 200);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask("10.0.0.1", "wrong-token-16-letters").status, 401);
  auto refused = ask("10.0.0.1", "wrong-token-16-letters");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.header("Retry-After"), "20");
  EXPECT_EQ(ask("10.0.0.1", token_of("bob")).status, 429) << "guessing gets nowhere";
  EXPECT_EQ(ask("10.0.0.1", token_of("ana")).status, 200) << "her key was right from there before";
  EXPECT_EQ(ask("10.0.0.2", token_of("bob")).status, 200);
  EXPECT_EQ(ask("10.0.0.1", "").status, 401) << "no key is no wrong key";
  EXPECT_EQ(send(from("10.0.0.1", "", request("GET", "/readyz"))).status, 200);
  clock.move(20s);
  EXPECT_EQ(ask("10.0.0.1", token_of("bob")).status, 200);
  EXPECT_EQ(ask("10.0.0.1", "wrong-token-16-letters").status, 401);
  EXPECT_EQ(ask("10.0.0.1", "wrong-token-16-letters").status, 429);
}

TEST(RateLimits, HoldABoundedNumberOfNamesAndForgetThoseOfLongAgo) {
  testing::SimulatedClock clock{Instant()};
  RateLimit limit(clock, 2, 100);
  ASSERT_FALSE(limit.take("first"));
  ASSERT_FALSE(limit.take("first"));
  for (int i = 0; i < 1'000; ++i) {
    EXPECT_FALSE(limit.take("flood " + std::to_string(i)));
    EXPECT_TRUE(limit.take("first")) << "who comes again and again is not forgotten";
  }
  EXPECT_EQ(limit.names(), 100u);
  EXPECT_FALSE(limit.wait("unknown"));
  EXPECT_EQ(limit.names(), 100u);
}

http::Request forwarded(std::string peer, std::vector<std::string> lists) {
  http::Request request;
  request.peer = std::move(peer);
  for (std::string& list : lists) request.headers.push_back({"X-Forwarded-For", std::move(list)});
  return request;
}

TEST(ClientAddress, IsThePeerUnlessThatIsAProxyThatIsTrusted) {
  std::vector<std::string> proxies{"10.0.0.1", "10.0.0.2"};
  EXPECT_EQ(client_address(forwarded("1.2.3.4", {"9.9.9.9"}), proxies), "1.2.3.4");
  EXPECT_EQ(client_address(forwarded("10.0.0.1", {"9.9.9.9"}), {}), "10.0.0.1");
  EXPECT_EQ(client_address(forwarded("10.0.0.1", {"9.9.9.9"}), proxies), "9.9.9.9");
  EXPECT_EQ(client_address(forwarded("10.0.0.1", {"6.6.6.6, 9.9.9.9 ,10.0.0.2"}), proxies),
            "9.9.9.9")
      << "the last that no trusted proxy is";
  EXPECT_EQ(client_address(forwarded("10.0.0.1", {"6.6.6.6", "9.9.9.9"}), proxies), "9.9.9.9");
  EXPECT_EQ(client_address(forwarded("10.0.0.1", {"9.9.9.9, unknown"}), proxies), "10.0.0.1");
  EXPECT_EQ(client_address(forwarded("10.0.0.1", {}), proxies), "10.0.0.1");
}

TEST(ClientAddress, OfVersionSixTheNetworkCounts) {
  auto of = [](std::string peer) { return client_address(forwarded(std::move(peer), {}), {}); };
  EXPECT_EQ(of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(of("2001:db8:1:2::9"), "2001:db8:1:2::/64");
  EXPECT_NE(of("2001:db8:1:3::9"), of("2001:db8:1:2::9"));
  EXPECT_EQ(address_from("[::ffff:1.2.3.4]"), "1.2.3.4");
}

}  // namespace
}  // namespace belay::server
