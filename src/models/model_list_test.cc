// Long on purpose: the reply cache is tested together with the model lists that it caches.

// Failover, circuit breakers, slots and rate limits, on a simulated clock.

#include "models/model_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/testing.h"
#include "models/reply_cache.h"

namespace belay::models {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ScriptedModel;

Error busy(std::optional<std::chrono::milliseconds> wait = std::nullopt) {
  Error made = error(ErrorCode::unavailable, "It is busy.");
  made.retry_after = wait;
  return made;
}

// Streams one delta, then fails.
class Stammering final : public Model {
 public:
  Task<Result<ModelReply>> generate(ModelRequest request) override {
    if (request.on_text_delta) request.on_text_delta("Well, ");
    co_return busy();
  }
};

struct ModelLists : ::testing::Test {
  testing::SimulatedClock clock{*instant_from("2026-11-21T12:00:00Z")};
  testing::SimulatedLoop loop{clock};
  ModelSettings settings;
  std::shared_ptr<ScriptedModel> first = std::make_shared<ScriptedModel>();
  std::shared_ptr<ScriptedModel> second = std::make_shared<ScriptedModel>();
  std::unique_ptr<ModelList> list;
  std::string told;

  ModelList& both() {
    if (list) return *list;
    std::vector<ModelList::Member> members;
    members.push_back({"a:1", first, std::make_shared<ServerGuard>("a", settings, clock)});
    members.push_back({"b:2", second, std::make_shared<ServerGuard>("b", settings, clock)});
    list = std::make_unique<ModelList>(std::move(members));
    return *list;
  }
  Result<ModelReply> ask(Model& model, bool listens = true, std::string name = {}) {
    told.clear();
    ModelRequest request;
    request.model = std::move(name);
    request.messages = {{Role::user, "Hello"}};
    if (listens) request.on_text_delta = [this](std::string_view piece) { told += piece; };
    return block_on(loop, model.generate(std::move(request)));
  }
};

TEST_F(ModelLists, AskTheFirstThatCanBeHad) {
  first->fails(busy()).replies("one").fails(error(ErrorCode::exhausted, "No credit."));
  second->replies("two").replies("two again");
  EXPECT_EQ(ask(both())->text, "two");
  EXPECT_EQ(ask(both())->text, "one");
  EXPECT_EQ(ask(both())->text, "two again");
}

TEST_F(ModelLists, SendARequestThatNamesAModelToThisOneOnly) {
  second->replies("two").fails(busy());
  EXPECT_EQ(ask(both(), true, "b:2")->text, "two");
  EXPECT_EQ(ask(both(), true, "b:2").error().message, "It is busy.") << "no failover";
  EXPECT_TRUE(first->requests().empty());
  EXPECT_THAT(ask(both(), true, "c:3").error().message, HasSubstr("\"c:3\" is not one"));
}

TEST_F(ModelLists, OpenAModelWhenARequestFirstNamesItAndNotMoreThanAHundred) {
  std::vector<ModelList::Member> members;
  members.push_back({"a:1", first, nullptr});
  std::vector<std::string> opened;
  auto other = std::make_shared<ScriptedModel>();
  other->replies("one").replies("two");
  ModelList::Open open = [&](const std::string& name) -> Result<ModelList::Member> {
    opened.push_back(name);
    if (name == "bad") return error(ErrorCode::invalid, "It needs a key.");
    return ModelList::Member{name, other, nullptr};
  };
  ModelList models(std::move(members), open);
  EXPECT_EQ(ask(models, true, "c:3")->text, "one");
  EXPECT_EQ(ask(models, true, "c:3")->text, "two");
  EXPECT_EQ(ask(models, true, "bad").error().message, "It needs a key.");
  EXPECT_THAT(opened, ElementsAre("c:3", "bad"));
  ModelRequest request;
  for (int i = 0; i < 200; ++i) {
    request.model = "m" + std::to_string(i);
    models.price(request);
  }
  EXPECT_EQ(opened.size(), 2u + 99u);
  EXPECT_EQ(ask(models, true, "m150").error().code, ErrorCode::invalid);
}

TEST_F(ModelLists, DoNotCarryAWrongRequestFromModelToModel) {
  first->fails(error(ErrorCode::invalid, "No such tool."));
  EXPECT_EQ(ask(both()).error().message, "No such tool.");
  EXPECT_TRUE(second->requests().empty());
}

TEST_F(ModelLists, NeverChangeTheVoiceInMidSentence) {
  std::vector<ModelList::Member> members;
  members.push_back({"a:1", std::make_shared<Stammering>(), nullptr});
  members.push_back({"b:2", second, nullptr});
  list = std::make_unique<ModelList>(std::move(members));
  second->replies("two");
  EXPECT_EQ(ask(*list).error().message, "It is busy.");
  EXPECT_EQ(told, "Well, ");
  EXPECT_TRUE(second->requests().empty());
  EXPECT_EQ(ask(*list, false)->text, "two") << "where nobody listens nothing was told";
}

TEST_F(ModelLists, SayWhyNoneHasAnswered) {
  first->fails(busy(30s));
  second->fails(busy(10s));
  Error failed = ask(both()).error();
  EXPECT_EQ(failed.code, ErrorCode::unavailable);
  EXPECT_EQ(failed.retry_after, 10s);
  EXPECT_THAT(failed.message, HasSubstr("None of the models responded. It is busy. It is"));
}

TEST_F(ModelLists, LeaveAServerAloneThatFailsAgainAndAgain) {
  settings.limits.failure_threshold = 3;
  settings.limits.open_duration = 10s;
  first->then_always([](const ModelRequest&) -> Result<std::string> { return busy(); });
  second->replies("two").repeat_last();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(ask(both())->text, "two");
  EXPECT_EQ(first->requests().size(), 3u);
  clock.move(10s);
  first->replies("back").repeat_last();
  EXPECT_EQ(ask(both())->text, "back") << "one call tries it out";
  EXPECT_EQ(ask(both())->text, "back");
}

TEST_F(ModelLists, AskAServerNoMoreOftenThanTheyMay) {
  settings.calls_per_minute = 2;
  first->replies("one").repeat_last();
  second->replies("two").repeat_last();
  Instant began = clock.now();
  std::vector<std::chrono::seconds> times;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(ask(both())->text, "one");
    times.push_back(std::chrono::duration_cast<std::chrono::seconds>(clock.now() - began));
  }
  EXPECT_THAT(times, ElementsAre(0s, 0s, 60s, 60s));
}

TEST_F(ModelLists, SendNobodyToWaitForLongerThanAMinute) {
  RateLimiter rate(1, clock);
  Spawned running[2];
  std::vector<bool> ends;
  for (Spawned& one : running) {
    one = spawn<Result<Done>>(loop, rate.enter("a"), [&](auto end) { ends.push_back(end.ok()); });
  }
  Error refused = block_on(loop, rate.enter("a")).error();
  EXPECT_EQ(refused.code, ErrorCode::unavailable);
  EXPECT_EQ(refused.retry_after, 60s);
  loop.run_until(clock.now() + 2min);
  EXPECT_THAT(ends, ElementsAre(true, true));
}

TEST_F(ModelLists, LetNoMoreCallsRunThanTheyMay) {
  settings.limits.concurrency_max = 1;
  first->replies("one").repeat_last().takes(10s);
  Instant began = clock.now();
  std::vector<std::chrono::seconds> ends;
  Spawned running[3];
  for (Spawned& one : running) {
    one = spawn<Result<ModelReply>>(loop, both().generate(ModelRequest()), [&](auto) {
      ends.push_back(std::chrono::duration_cast<std::chrono::seconds>(clock.now() - began));
    });
  }
  loop.run_until(began + 1min);
  EXPECT_THAT(ends, ElementsAre(10s, 20s, 30s));
}

TEST_F(ModelLists, CostTheMostThatAnyOfThemCosts) {
  settings.models = "ollama:a, openai:b@http://127.0.0.1:1";
  settings.prices = ModelPrices::parse("b = {input = 1, output = 2.5}").value();
  auto model = open_model(settings, clock).value();
  EXPECT_EQ(model->price(ModelRequest())->output, 2'500'000);
  settings.models += ", openai:c@http://127.0.0.1:1";
  EXPECT_FALSE(open_model(settings, clock).value()->price(ModelRequest()))
      << "nobody knows what c costs";
  ModelRequest request;
  request.messages = {{Role::user, std::string(5'000, 'x')}};
  EXPECT_GT(model->input_tokens_max(request), 5'000);
}

TEST_F(ModelLists, MayNameAModelOfTheProgramsOwn) {
  settings.local_models["builtin"] = first;
  settings.models = "builtin";
  first->replies("rules");
  EXPECT_EQ(ask(*open_model(settings, clock).value())->text, "rules");
}

struct ReplyCache : ModelLists {
  ReplyCacheOptions options{std::chrono::hours(1), 2, 100'000};
  std::shared_ptr<CachedModel> cached;

  std::shared_ptr<AnswerVerdict> verdict;
  Value schema;

  Result<ModelReply> say(const std::string& text, std::optional<double> temperature = {}) {
    if (!cached) cached = std::make_shared<CachedModel>(first, "a:1", options, clock);
    told.clear();
    ModelRequest request;
    request.messages = {{Role::user, text}};
    request.temperature = temperature;
    request.verdict = verdict;
    request.response_schema = schema;
    request.on_text_delta = [this](std::string_view piece) { told += piece; };
    return block_on(loop, cached->generate(std::move(request)));
  }
  // Acts like an attempt of a node that reads the reply and accepts or refuses it.
  std::string read(bool accepts) {
    verdict = std::make_shared<AnswerVerdict>();
    std::string answer = say("a")->text;
    accepts ? verdict->accept() : verdict->refuse();
    return answer;
  }
  std::size_t asked() const { return first->requests().size(); }
};

// The shared cache of several processes, used by two caches.
class Shelf final : public SharedReplyCache {
 public:
  Task<std::optional<std::string>> get(Digest request) override {
    auto found = kept.find(request);
    co_return found == kept.end() ? std::optional<std::string>() : found->second;
  }
  void put(const Digest& request, std::string answer, std::chrono::milliseconds) override {
    kept[request] = std::move(answer);
  }
  void erase(const Digest& request) override {
    if (!is_deaf) kept.erase(request);
  }
  std::map<Digest, std::string> kept;
  bool is_deaf = false;  // deletions are lost
};

TEST_F(ReplyCache, GivesTheSameAnswerToTheSameRequestForAnHour) {
  first->replies("one").replies("two").replies("three");
  EXPECT_EQ(say("a")->text, "one");
  EXPECT_EQ(say("a")->text, "one");
  EXPECT_EQ(told, "one");
  EXPECT_EQ(say("a", 0.5)->text, "two") << "another temperature is another request";
  clock.move(59min);
  EXPECT_EQ(say("a")->text, "one");
  clock.move(1min);
  EXPECT_EQ(say("a")->text, "three");
  EXPECT_EQ(asked(), 3u);
}

TEST_F(ReplyCache, KeepsAnAnswerOnceItsReaderHasAcceptedIt) {
  first->replies("bad").replies("bad too").replies("good").replies("never asked for");
  EXPECT_EQ(read(false), "bad");
  EXPECT_EQ(read(false), "bad too") << "a retry asks the model itself";
  EXPECT_EQ(read(true), "good");
  EXPECT_EQ(read(true), "good");
  EXPECT_EQ(asked(), 3u);
}

TEST_F(ReplyCache, GivesNothingThatIsStillBeingRead) {
  first->replies("one").replies("two");
  verdict = std::make_shared<AnswerVerdict>();
  EXPECT_EQ(say("a")->text, "one");
  EXPECT_EQ(say("a")->text, "two") << "who asks again can't have wanted the first";
  verdict->accept();
  verdict.reset();
  EXPECT_EQ(say("a")->text, "two");
  EXPECT_EQ(asked(), 2u);
}

TEST_F(ReplyCache, ForgetsWhatAnotherReaderRefuses) {
  first->replies("one").replies("two");
  EXPECT_EQ(read(true), "one");
  EXPECT_EQ(read(false), "one");
  EXPECT_EQ(read(true), "two");
  EXPECT_EQ(read(true), "two");
}

TEST_F(ReplyCache, ARefusalLeavesAnotherAnswerThatWasAcceptedMeanwhile) {
  first->replies("one").replies("two");
  verdict = std::make_shared<AnswerVerdict>();
  auto slower = verdict;
  EXPECT_EQ(say("a")->text, "one");
  EXPECT_EQ(read(true), "two");
  slower->refuse();
  EXPECT_EQ(read(true), "two");
  EXPECT_EQ(asked(), 2u);
}

TEST_F(ReplyCache, KeepsNothingOfAReaderThatWasStopped) {
  first->replies("one").replies("two");
  verdict = std::make_shared<AnswerVerdict>();
  EXPECT_EQ(say("a")->text, "one");
  EXPECT_EQ(read(true), "two");
}

TEST_F(ReplyCache, WithoutAReaderKeepsWhatObeysTheSchemaAlone) {
  schema = parse_json(R"({"type":"object","required":["risk"]})").value();
  first->replies("no JSON")
      .replies("{}")
      .replies("```json\n{\"risk\":1}\n```")
      .replies("never asked for");
  EXPECT_EQ(say("a")->text, "no JSON");
  EXPECT_EQ(say("a")->text, "{}");
  EXPECT_EQ(say("a")->text, "```json\n{\"risk\":1}\n```");
  EXPECT_EQ(say("a")->text, "```json\n{\"risk\":1}\n```");
}

TEST_F(ReplyCache, ARefusedAnswerIsTakenFromNoOtherProcessEither) {
  Shelf shelf;
  options.shared = &shelf;
  first->replies("one").replies("two").replies("three");
  EXPECT_EQ(read(true), "one");
  ASSERT_EQ(shelf.kept.size(), 1u);
  auto of_another_process = shelf.kept;
  EXPECT_EQ(read(false), "one");
  EXPECT_TRUE(shelf.kept.empty());
  shelf.kept = of_another_process;
  shelf.is_deaf = true;
  EXPECT_EQ(read(false), "two") << "not the one that is still there";
  cached.reset();
  EXPECT_EQ(read(true), "one") << "another process has not read it yet";
}

TEST_F(ReplyCache, JsonThatHadToBeAskedForAgainIsKeptAlone) {
  options.entries_max = 10;
  cached = std::make_shared<CachedModel>(first, "a:1", options, clock);
  auto ask_once = [&] {
    ModelRequest request;
    request.messages = {{Role::user, "a"}};
    request.response_schema = parse_json(R"({"type":"object"})").value();
    return block_on(loop, generate_json(*cached, std::move(request)))->text;
  };
  first->replies("bad").replies("{}").replies("{\"n\":1}");
  EXPECT_EQ(ask_once(), "{}");
  EXPECT_EQ(ask_once(), "{\"n\":1}") << "the first answer was refused, so the model is asked again";
}

TEST_F(ReplyCache, KeepsNoFailure) {
  first->fails(busy()).replies("one");
  EXPECT_FALSE(say("a").ok());
  EXPECT_EQ(say("a")->text, "one");
}

TEST_F(ReplyCache, HoldsAsManyBytesHoweverManyAnswersHaveGone) {
  options.entries_max = 100;
  options.bytes_max = 10'000;
  first
      ->replies_with([](const ModelRequest& request) -> Result<std::string> {
        return request.messages.front().text + std::string(1'000, 'x');
      })
      .repeat_last();
  for (int round = 0; round < 50; ++round) (void)say("old " + std::to_string(round));
  for (const char* text : {"a", "b", "c", "d"}) (void)say(text);
  std::size_t before = asked();
  for (const char* text : {"a", "b", "c", "d"}) (void)say(text);
  EXPECT_EQ(asked(), before) << "there is room for four";
}

TEST_F(ReplyCache, MayBeFilledToItsLastByte) {
  options.entries_max = 100;
  first
      ->replies_with([](const ModelRequest& request) -> Result<std::string> {
        return request.messages.front().text + std::string(1'000, 'x');
      })
      .repeat_last();
  // Two replies need twice the bytes of one.
  auto fit = [&](std::size_t bytes, const std::vector<const char*>& texts) {
    options.bytes_max = bytes;
    cached.reset();
    for (const char* text : texts) (void)say(text);
    std::size_t before = asked();
    for (const char* text : texts) (void)say(text);
    return asked() == before;
  };
  std::size_t one = 1'000;
  while (!fit(one, {"a"})) ++one;
  EXPECT_TRUE(fit(2 * one, {"a", "b"}));
  EXPECT_FALSE(fit(2 * one - 1, {"a", "b"}));
}

TEST_F(ReplyCache, HoldsSoManyAndTheNewestUsed) {
  first
      ->replies_with([](const ModelRequest& request) -> Result<std::string> {
        return request.messages.front().text;
      })
      .repeat_last();
  for (const char* text : {"a", "b", "a", "c", "a"}) EXPECT_EQ(say(text)->text, text);
  EXPECT_EQ(asked(), 3u) << "b has gone, a was used";
  EXPECT_EQ(say("b")->text, "b");
  EXPECT_EQ(asked(), 4u);
}

TEST_F(ReplyCache, HoldsNoMoreBytesThanItMay) {
  options.bytes_max = 1'000;
  first->replies(std::string(2'000, 'x')).repeat_last();
  EXPECT_TRUE(say("a").ok());
  EXPECT_TRUE(say("a").ok());
  EXPECT_EQ(asked(), 2u);
}

// Returns a reply with the stop reason `end`: tool calls, cut off, or refused.
class NoText final : public Model {
 public:
  Task<Result<ModelReply>> generate(ModelRequest) override {
    ModelReply reply;
    reply.text = "Well";
    reply.usage = Usage{5, 7};
    reply.stop_reason = end;
    if (end == StopReason::tool_calls) reply.tool_calls = {{"c1", "a", Value()}};
    ++asked;
    co_return std::move(reply);
  }
  StopReason end = StopReason::complete;
  int asked = 0;
};

TEST_F(ReplyCache, KeepsTextsAloneAndCountsThemOnce) {
  auto model = std::make_shared<NoText>();
  CachedModel cache(model, "a:1", options, clock);
  for (StopReason end : {StopReason::tool_calls, StopReason::length, StopReason::refused}) {
    model->end = end;
    ask(cache).value();
    int before = model->asked;
    ask(cache).value();
    EXPECT_EQ(model->asked, before + 1);
  }
  model->end = StopReason::complete;
  EXPECT_EQ(ask(cache)->usage->output_tokens, 7);
  EXPECT_EQ(ask(cache)->usage->output_tokens, 0) << "nothing was asked, nothing is paid";
}

}  // namespace
}  // namespace belay::models
