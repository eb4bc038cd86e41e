#include "agents/wellbeing/routine_generator.h"

#include <algorithm>
#include <utility>

#include "agents/wellbeing/code_points.h"
#include "agents/wellbeing/day.h"
#include "agents/wellbeing/model_answer.h"
#include "agents/wellbeing/prompts.h"
#include "agents/wellbeing/record_rules.h"
#include "agents/wellbeing/sanitize.h"
#include "agents/wellbeing/validate_schedule.h"

namespace belay::wellbeing {
namespace {

constexpr int kRoutineAttempts = 3;
constexpr std::size_t kFixedEventsMax = 50;

Language reader_of(const RoutineState& state) {
  return language_named(state.language, Language::es);
}

std::string context_of(const DailySummary& summary, Language reader) {
  if (!summary.riskLevel) {
    return message(Text::yesterday_not_assessed, reader,
                   {{"date", summary.date}, {"summary", summary.summary}});
  }
  return message(Text::yesterday, reader,
                 {{"date", summary.date},
                  {"summary", summary.summary},
                  {"risk", std::to_string(*summary.riskLevel)}});
}

AnalysisResult result_of(const std::optional<DailySummary>& summary, const Crisis& crisis,
                         Language reader) {
  AnalysisResult result;
  if (summary) {
    result.riskLevel = summary->riskLevel.value_or(kRiskWithoutData);
    result.recommendations = summary->keyInsights;
  }
  if (result.recommendations.empty()) {
    result.recommendations.push_back(message(Text::first_recommendation, reader));
  }
  result.riskLevel = raised(result.riskLevel, crisis);
  return result;
}

// Returns the reason for which the day must begin with contact to a person; empty without one.
std::string reason_for_contact(const std::optional<DailySummary>& summary, const Crisis& crisis,
                               Language reader) {
  if (summary && summary->riskLevel.value_or(0) >= kRiskForHelp) {
    return message(Text::contact_first, reader);
  }
  if (!crisis.minimum) return "";
  return message(Text::contact_first_by_words, reader, {{"words", quoted_words(crisis)}});
}

Error scheduler_error(Error failure, const Context& context) {
  const bool last = context.attempt() >= context.options().max_retries.value_or(kRoutineAttempts);
  if (last && failure.code == ErrorCode::unavailable) {
    failure.message = "Scheduler failed after max retries: " + failure.message;
  }
  return failure;
}

std::vector<Activity> activities_in(const Value& schedule) {
  std::vector<Activity> activities;
  for (const Value& item : *schedule["activities"].as_array()) {
    activities.push_back({*item["time"].as_string(), one_line(*item["activity"].as_string()),
                          one_line(*item["expectedBenefit"].as_string())});
  }
  return activities;
}

// Adds the fixed events that the model omitted. An activity at the same time as an event counts as
// that event, because models often reword it.
void add_fixed_events(const std::vector<FixedEvent>& events, Language reader,
                      FormattedRoutine& routine) {
  for (const FixedEvent& event : events) {
    if (!minutes_of_day(event.time)) {
      routine.remarks.push_back(
          message(Text::fixed_event_bad_time, reader, {{"activity", event.activity}}));
      continue;
    }
    auto& activities = routine.activities;
    const auto place = std::find_if(activities.begin(), activities.end(),
                                    [&](const Activity& each) { return each.time >= event.time; });
    if (place != activities.end() && place->time == event.time) continue;
    activities.insert(
        place, {event.time, one_line(event.activity), message(Text::fixed_event_benefit, reader)});
    routine.remarks.push_back(message(Text::fixed_event_added, reader,
                                      {{"time", event.time}, {"activity", event.activity}}));
  }
}

// Adds remarks for the activities that the provider reports as not placed.
void add_unplaced(const Value& schedule, Language reader, FormattedRoutine& routine) {
  const Value::Array* unplaced = schedule["unplaced"].as_array();
  if (unplaced == nullptr) return;
  for (const Value& each : *unplaced) {
    const std::string* activity = each["activity"].as_string();
    const std::string* reason = each["reason"].as_string();
    if (activity == nullptr || reason == nullptr) continue;
    routine.remarks.push_back(
        message(Text::not_placed, reader,
                {{"activity", one_line(*activity)}, {"reason", one_line(*reason)}}));
  }
}

void put_contact_first(const RoutineState& state, const CareOptions& care, Language reader,
                       FormattedRoutine& routine) {
  routine.localHelp = local_help(care, reader);
  routine.remarks.push_back(state.contactReason);
  if (begins_with_contact(routine.activities, reader)) return;
  routine.activities = with_contact_first(std::move(routine.activities), reader);
  routine.remarks.push_back(message(Text::contact_added, reader));
}

// Returns the index of the branch target: 0 formatter, 1 scheduler, 2 validator. After the last
// attempt, its feedback is committed first; then the validator is executed again and fails. In this
// way the state of the failed run contains all attempts.
std::size_t after_validation(const RoutineState& state) {
  if (state.validationFeedback.empty()) return 0;
  return state.validationAttempts < kValidationAttemptsMax ? 1 : 2;
}

// Checks an edited routine before its decision is accepted.
Result<Done> check_edited(const RoutineState& state) {
  if (!state.formattedRoutine) {
    return error(ErrorCode::invalid, "The routine is null: there is nothing to save.");
  }
  return check_activities(state.formattedRoutine->activities);
}

std::string question_of(const RoutineState& state) {
  return message(Text::routine_question, reader_of(state), {{"date", state.date}});
}

}  // namespace

Task<Result<Update<RoutineState>>> analyze_yesterday(const RoutineState& state, Context& context,
                                                     SharedOptions options) {
  BELAY_CO_CHECK(check_input(state.date, state.language, state.timeZone));
  const TimeZone zone = zone_of(state.timeZone, *options);
  std::string date = day_named(state.date, zone, context.now());
  const std::string yesterday = day_before(date);
  auto summary = co_await context.records().get<DailySummary>(yesterday);
  if (!summary.ok()) co_return std::move(summary).error();
  // A rejected or expired audit saves no summary. Crisis words in its notes must still count:
  // search them here.
  auto day = co_await read_day(context.records(), yesterday);
  if (!day.ok()) co_return std::move(day).error();
  auto events = co_await context.records().where(&FixedEvent::date, date, kFixedEventsMax);
  if (!events.ok()) co_return std::move(events).error();
  std::string language = state.language;
  if (language.empty()) language = configured_language(context.configuration());
  if (language.empty() && options->language_named) language = options->language;
  if (language.empty() && summary->has_value()) language = (*summary)->language;
  if (language.empty()) language = options->language;
  const Language reader = language_named(language, Language::es);
  std::string seen = message(Text::no_previous_data, reader);
  if (summary->has_value()) seen = context_of(**summary, reader);
  std::string reason = reason_for_contact(*summary, day->crisis, reader);
  co_return set(&RoutineState::date, std::move(date))
      .set(&RoutineState::timeZone, zone.name())
      .set(&RoutineState::yesterdayContext, std::move(seen))
      .set(&RoutineState::analysisResult, result_of(*summary, day->crisis, reader))
      .set(&RoutineState::fixedEvents, *std::move(events))
      .set(&RoutineState::contactFirst, !reason.empty())
      .set(&RoutineState::contactReason, std::move(reason))
      .set(&RoutineState::language, std::move(language));
}

Task<Result<Update<RoutineState>>> make_schedule(const RoutineState& state, Context& context) {
  const Language reader = reader_of(state);
  Prompt prompt = schedule_prompt(state, reader, context.previous_error());
  auto reply = co_await context.model().generate(std::move(prompt.request));
  if (!reply.ok()) co_return scheduler_error(std::move(reply).error(), context);
  auto schedule = schedule_answer_from(reply->text);
  if (!schedule.ok()) co_return scheduler_error(std::move(schedule).error(), context);
  if (repeats_delimiters(reply->text)) {
    co_return scheduler_error(invalid_answer("the schedule repeats the instructions."), context);
  }
  // The validator will schedule another call with the errors; a cache must not return this reply.
  if (!validate_schedule(*schedule).is_valid) context.refuse_answers();
  std::string notice = notice_of(*reply, reader);
  std::vector<std::string> remarks;
  if (reply->method != "rules") remarks = remarks_on(prompt, reader);
  co_return set(&RoutineState::rawSchedule, *std::move(schedule))
      .set(&RoutineState::provider, std::move(reply->provider))
      .set(&RoutineState::model, std::move(reply->model))
      .set(&RoutineState::method, std::move(reply->method))
      .set(&RoutineState::notice, std::move(notice))
      .set(&RoutineState::remarks, std::move(remarks));
}

Result<Update<RoutineState>> check_schedule(const RoutineState& state, Context&) {
  if (state.validationAttempts >= kValidationAttemptsMax) {
    return error(ErrorCode::exhausted,
                 "Schedule validation failed after 3 attempts: " + state.validationFeedback + ".");
  }
  const Validation validation = validate_schedule(state.rawSchedule);
  auto update = set(&RoutineState::validationAttempts, state.validationAttempts + 1)
                    .set(&RoutineState::validationFeedback, validation.feedback);
  if (validation.is_valid) {
    return std::move(update).set(&RoutineState::validatedSchedule, state.rawSchedule);
  }
  AnalysisResult result = *state.analysisResult;
  result.recommendations.push_back(validation.feedback);
  return std::move(update).set(&RoutineState::analysisResult, std::move(result));
}

Update<RoutineState> format_routine(const RoutineState& state, const WellbeingOptions& options) {
  const Language reader = reader_of(state);
  FormattedRoutine routine;
  routine.activities = activities_in(state.validatedSchedule);
  routine.notice = state.notice;
  routine.disclaimer = message(Text::no_diagnosis, reader);
  routine.remarks = state.remarks;
  add_fixed_events(state.fixedEvents, reader, routine);
  if (state.contactFirst) put_contact_first(state, options.care, reader, routine);
  add_unplaced(state.validatedSchedule, reader, routine);
  return set(&RoutineState::formattedRoutine, std::move(routine));
}

Update<RoutineState> check_routine_approval(const RoutineState&, Context& context) {
  const bool ask = context.options().require_approval;
  return set(&RoutineState::approvalReason, std::string(ask ? "required" : ""));
}

Result<Update<RoutineState>> save_routine(const RoutineState& state, Context& context) {
  if (!state.formattedRoutine || state.formattedRoutine->activities.empty()) {
    return error(ErrorCode::invalid,
                 "The edited routine has no activities: there is nothing to save.");
  }
  const FormattedRoutine& made = *state.formattedRoutine;
  Routine routine;
  routine.date = state.date;
  routine.threadId = context.thread().text;
  routine.activities = made.activities;
  routine.language = state.language;
  routine.provider = state.provider;
  routine.model = state.model;
  routine.method = state.method;
  routine.notice = made.notice;
  routine.disclaimer = made.disclaimer;
  routine.localHelp = made.localHelp;
  routine.remarks = made.remarks;
  routine.createdAt = context.now();
  context.save(routine);
  context.outcome("saved");
  return unchanged<RoutineState>();
}

Result<Graph<RoutineState>> routine_generator(const WellbeingOptions& options) {
  BELAY_TRY(SharedOptions kept, checked(options));
  GraphBuilder<RoutineState> graph{std::string(kRoutineGenerator)};
  graph.one_run_per_thread();
  graph.check_input([](const RoutineState& input) {
    return check_input(input.date, input.language, input.timeZone);
  });
  graph.material("model", "");  // the default one of the program
  graph.node("analyzer", [kept](const RoutineState& state, Context& context) {
    return analyze_yesterday(state, context, kept);
  });
  graph.node("scheduler", make_schedule)
      .retry({.attempts = kRoutineAttempts})
      .timeout(kept->model_timeout);
  graph.node("validator", check_schedule);
  graph.node("formatter",
             [kept](const RoutineState& state, Context&) { return format_routine(state, *kept); });
  graph.node("checkApproval", check_routine_approval);
  graph
      .approval("awaitingApproval", &RoutineState::formattedRoutine,
                {.question = "", .expires = kept->approval_expires})
      .question(question_of)
      .validate(check_edited)
      .pending_flag(&RoutineState::requiresApproval)
      .decision_flag(&RoutineState::approved)
      .approved("saveRoutine")
      .rejected(end);
  graph.node("saveRoutine", save_routine);
  graph.edge(start, "analyzer")
      .edge("analyzer", "scheduler")
      .edge("scheduler", "validator")
      .branch("validator", after_validation, {"formatter", "scheduler", "validator"})
      .edge("formatter", "checkApproval")
      .branch("checkApproval",
              [](const RoutineState& state) { return !state.approvalReason.empty(); },
              {"saveRoutine", "awaitingApproval"})
      .edge("saveRoutine", end);
  return std::move(graph).build();
}

}  // namespace belay::wellbeing
