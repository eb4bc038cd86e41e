// Values of a start, defaults of its runtime, and built-in defaults: equal for every caller.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/models.h"
#include "tests/support/wellbeing_fixture.h"

namespace belay::wellbeing {
namespace {

using testing::audit_text;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kToday;
using testing::kTomorrow;
using ::testing::Not;
using testing::schedule_text;
using testing::WellbeingFixture;

Error busy() { return error(ErrorCode::unavailable, "No connection to the model."); }

TEST(RunDefaults, HoldForAnAgentThatSaysNothingOfItsOwn) {
  WellbeingFixture world;
  world.defaults.max_retries = 2;
  world.defaults.require_approval = false;
  world.reopen();
  world.add_note(kToday, "A hard day.");
  world.model.fails(busy()).replies(audit_text(9));
  EXPECT_EQ(world.audit(kToday)->outcome, "saved") << "nobody is asked";
  world.model.fails(busy()).fails(busy()).replies(audit_text(9));
  const auto failed = world.audit(kToday).value();
  EXPECT_EQ(failed.status, "failed") << "two attempts, no third";
  EXPECT_EQ(world.model.requests().size(), 4u);
}

TEST(RunDefaults, GiveWayToWhatAStartSays) {
  WellbeingFixture world;
  world.defaults.max_retries = 1;
  world.defaults.require_approval = false;
  world.defaults.timeout = std::chrono::milliseconds(1);
  world.reopen();
  world.add_note(kToday, "A hard day.");
  world.model.takes(std::chrono::seconds(2)).fails(busy()).replies(audit_text(9));
  GraphConfig config;
  config.maxRetries = 2;
  config.requiresHumanApproval = true;
  config.timeout = std::chrono::minutes(5);
  const auto result = world.audit(kToday, config).value();
  EXPECT_EQ(result.status, "paused") << result.error.value_or("");
  config.timeout.reset();
  EXPECT_EQ(world.audit(kToday, config)->status, "failed") << "a millisecond of work";
}

TEST(RunDefaults, AreHeldToTheSameBounds) {
  WellbeingFixture world;
  world.add_note(kToday, "A day.");
  for (auto [attempts, ms] : {std::pair(0, 1'000), {21, 1'000}, {-1, 1'000}, {3, 0}, {3, -5}}) {
    GraphConfig config;
    config.maxRetries = attempts;
    config.timeout = std::chrono::milliseconds(ms);
    const auto refused = world.audit(kToday, config);
    ASSERT_FALSE(refused.ok()) << attempts << " " << ms;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
    EXPECT_THAT(refused.error().message, HasSubstr("expected 1 to"));
  }
}

TEST(Inputs, ThatAreNoneBeginNothing) {
  WellbeingFixture world;
  for (const char* date : {"", "2024-02-30", "yesteryear", "2024-1-1"}) {
    EXPECT_EQ(world.audit(date).error().code, ErrorCode::invalid) << date;
  }
  auto graph = daily_auditor(world.options).value();
  StartOptions options;
  options.thread = ThreadId("t");
  Audit input;
  input.date = kToday;
  input.language = "fr";
  auto refused = world.wait(world.runtime->start(graph, input, options));
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  input.language = "";
  input.timeZone = "Europe/Nowhere";
  refused = world.wait(world.runtime->start(graph, input, options));
  EXPECT_THAT(refused.error().message, HasSubstr("time zone"));
  EXPECT_TRUE(world.runs("t").empty());
}

TEST(TimeZones, SayWhichDayTodayIs) {
  // 20:00 UTC.
  for (auto [zone, date] : {std::pair("UTC", "2024-01-15"),
                            {"Pacific/Kiritimati", "2024-01-16"},
                            {"Pacific/Pago_Pago", "2024-01-15"}}) {
    WellbeingOptions options = WellbeingFixture::english();
    options.time_zone = TimeZone::named(zone).value();
    WellbeingFixture world(options);
    world.add_note(date, "A day.");
    world.model.replies(audit_text(2));
    const auto result = world.audit("today").value();
    EXPECT_EQ(result.outcome, "saved") << zone;
    EXPECT_EQ(result.state.date, date);
    EXPECT_EQ(result.state.timeZone, zone);
    EXPECT_TRUE(world.saved<DailySummary>(date).has_value());
    world.model.replies(schedule_text());
    EXPECT_EQ(world.plan("tomorrow")->state.date, day_after(date));
  }
}

TEST(TimeZones, OfTheStartCountMoreThanTheProgrammes) {
  WellbeingOptions options = WellbeingFixture::english();
  options.time_zone = TimeZone::named("America/Lima").value();
  WellbeingFixture world(options);
  world.add_note("2024-01-16", "A day.");
  world.model.replies(audit_text(2));
  auto agent = world.auditor();
  const auto result =
      world.wait(agent.execute({"today", "", "Pacific/Kiritimati"}, GraphConfig{})).value();
  EXPECT_EQ(result.state.date, "2024-01-16");
  EXPECT_EQ(result.state.timeZone, "Pacific/Kiritimati");
}

TEST(TimeZones, AreThoseOfTheHoursInThePrompt) {
  WellbeingOptions options = WellbeingFixture::english();
  options.time_zone = TimeZone::named("Europe/Madrid").value();
  WellbeingFixture world(options);
  world.add_note(kToday, "Written today.");
  Note copied;
  copied.id = "z";
  copied.date = kToday;
  copied.content = "Copied in later.";
  copied.createdAt = world.clock.now() + std::chrono::hours(24 * 400);
  world.save(copied);
  world.model.replies(audit_text(2));
  ASSERT_TRUE(world.audit(kToday).ok());
  const std::string prompt = world.model.requests().back().messages.back().text;
  EXPECT_THAT(prompt, HasSubstr("Note 1, 21:00 Europe/Madrid:\nWritten today."));
  EXPECT_THAT(prompt, HasSubstr("Note 2:\nCopied in later.")) << "its hour says nothing of the day";
  EXPECT_THAT(prompt, Not(HasSubstr("UTC")));
}

TEST(Languages, NamedByThePersonCountMoreThanTheNotes) {
  WellbeingOptions options = WellbeingFixture::english();
  options.language = "es";
  options.language_named = true;
  WellbeingFixture world(options);
  world.add_note(kToday, "I slept well and had a good day with my friends.");
  world.model.replies(audit_text(2)).replies(schedule_text());
  EXPECT_EQ(world.audit(kToday)->state.language, "es");
  EXPECT_EQ(world.plan(kTomorrow)->state.language, "es");
}

// An edit is accepted only if the agent's own rules accept it.
struct Edits : ::testing::Test {
  WellbeingFixture world;

  template <typename Agent>
  auto decide(Agent agent, const std::string& thread, Value edited) {
    ResumeInput input;
    input.approved = true;
    input.edited = std::move(edited);
    return world.wait(agent.resume(thread, std::move(input)));
  }
  void expect_open(const std::string& thread) {
    const RunRow row = world.runs(thread).front();
    EXPECT_EQ(row.status, RunStatus::paused);
    EXPECT_EQ(row.node, "awaitingApproval");
    EXPECT_EQ(world.violations(), "");
  }
};

TEST_F(Edits, OfAnAnalysisThatIsNoneDecideNothing) {
  world.add_note(kToday, "A hard day.");
  world.model.replies(audit_text(7));
  const auto paused = world.audit(kToday).value();
  const Value shown = paused.json["state"]["analysis"];
  auto with = [&](const char* member, Value value) {
    Value edited = shown;
    edited.as_object()->insert_or_assign(member, std::move(value));
    return edited;
  };
  for (const Value& edited :
       {with("riskLevel", 99), with("riskLevel", 0), with("modelRiskLevel", 11),
        with("summary", ""), with("summary", " \n"), Value()}) {
    const auto refused = decide(world.auditor(), paused.threadId, edited);
    ASSERT_FALSE(refused.ok()) << to_json(edited);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
    expect_open(paused.threadId);
  }
  const auto saved = decide(world.auditor(), paused.threadId, with("riskLevel", 4)).value();
  EXPECT_EQ(saved.outcome, "saved");
  EXPECT_EQ(world.saved<DailySummary>(kToday)->riskLevel, 4);
}

TEST_F(Edits, OfARoutineThatIsNoneDecideNothing) {
  world.model.replies(schedule_text());
  const auto paused = world.plan(kTomorrow).value();
  const Value shown = paused.json["state"]["formattedRoutine"];
  auto with = [&](auto change) {
    Value edited = shown;
    change(*edited.as_object()->at("activities").as_array());
    return edited;
  };
  auto first = [](Value::Array& activities) -> Value::Object& {
    return *activities.front().as_object();
  };
  for (const Value& edited : {with([&](Value::Array& all) { first(all)["time"] = "99:99"; }),
                              with([&](Value::Array& all) { first(all)["time"] = "23:59"; }),
                              with([&](Value::Array& all) { first(all)["activity"] = "x"; }),
                              with([&](Value::Array& all) { all.resize(1); }),
                              with([](Value::Array& all) { all.clear(); }), Value()}) {
    const auto refused = decide(world.generator(), paused.threadId, edited);
    ASSERT_FALSE(refused.ok()) << to_json(edited);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
    expect_open(paused.threadId);
  }
  const Value moved = with([&](Value::Array& all) { first(all)["activity"] = "Another thing"; });
  EXPECT_EQ(decide(world.generator(), paused.threadId, moved)->outcome, "saved");
  EXPECT_EQ(world.saved<Routine>(kTomorrow)->activities.front().activity, "Another thing");
}

// The model's replies are cached for an hour, as with BELAY_MODEL_CACHE.
struct ResponseCache : ::testing::Test {
  std::shared_ptr<testing::ScriptedModel> script = std::make_shared<testing::ScriptedModel>();
  std::unique_ptr<Clock> clock = system_clock();
  std::shared_ptr<Model> cached = [this] {
    ModelSettings settings;
    settings.models = "script";
    settings.local_models["script"] = script;
    settings.cache = true;
    return open_model(settings, *clock).value();
  }();
  WellbeingFixture world{WellbeingFixture::english(), cached.get()};
  std::size_t asked() const { return script->requests().size(); }
};

TEST_F(ResponseCache, AreNeverThoseThatTheAgentRefused) {
  world.add_note(kToday, "A day.");
  script->replies("bad").replies("bad").replies(audit_text(2)).replies(audit_text(3));
  EXPECT_EQ(world.audit(kToday)->outcome, "saved");
  EXPECT_EQ(asked(), 3u) << "each attempt asked the model itself";
}

TEST_F(ResponseCache, OfAFailedRunMeetNoOtherThread) {
  world.add_note(kToday, "A day.");
  script->replies("bad").replies("bad").replies("bad").replies(audit_text(2));
  EXPECT_EQ(world.audit(kToday)->status, "failed");
  EXPECT_EQ(world.audit(kToday)->outcome, "saved");
  EXPECT_EQ(asked(), 4u);
  EXPECT_EQ(world.audit(kToday)->outcome, "saved");
  EXPECT_EQ(asked(), 4u) << "the good one is given again";
}

TEST_F(ResponseCache, ThatTheValidatorRefusesMeetNoOtherThread) {
  const std::string short_day =
      R"({"activities":[{"time":"08:00","activity":"Breakfast","expectedBenefit":"Strength"}]})";
  script->replies(short_day).replies(short_day).replies(short_day).replies(schedule_text());
  EXPECT_EQ(world.plan(kTomorrow)->status, "failed");
  EXPECT_EQ(world.plan(kTomorrow)->status, "paused");
  EXPECT_EQ(asked(), 4u);
}

}  // namespace
}  // namespace belay::wellbeing
