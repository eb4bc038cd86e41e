#include "agents/wellbeing/daily_auditor.h"

#include <algorithm>
#include <utility>

#include "agents/wellbeing/code_points.h"
#include "agents/wellbeing/model_answer.h"
#include "agents/wellbeing/prompts.h"
#include "agents/wellbeing/record_rules.h"

namespace belay::wellbeing {
namespace {

constexpr int kAttempts = 3;

Language reader_of(const Audit& audit) { return language_named(audit.language, Language::es); }

bool has_text(const std::vector<DayNote>& notes) {
  return std::any_of(notes.begin(), notes.end(),
                     [](const DayNote& note) { return !one_line(note.content).empty(); });
}

bool is_last_attempt(const Context& context) {
  return context.attempt() >= context.options().max_retries.value_or(kAttempts);
}

// After the last attempt no approval follows: the error message must contain the crisis words of
// the notes.
Error with_care(Error failure, const Audit& audit, const Context& context) {
  if (audit.crisis.minimum &&
      (failure.code != ErrorCode::unavailable || is_last_attempt(context))) {
    failure.message += " " + message(Text::crisis_words_found, reader_of(audit),
                                     {{"words", quoted_words(audit.crisis)}});
  }
  return failure;
}

Analysis analysis_of(const AuditAnswer& answer, const ModelReply& reply, Language reader) {
  Analysis analysis;
  analysis.summary = answer.summary;
  if (answer.assessed) analysis.riskLevel = answer.risk_level;
  analysis.keyInsights = answer.key_insights;
  analysis.assessed = answer.assessed;
  analysis.provider = reply.provider;
  analysis.model = reply.model;
  analysis.method = reply.method;
  analysis.notice = notice_of(reply, reader);
  return analysis;
}

Analysis unwritten(Language reader) {
  Analysis analysis;
  analysis.summary = message(Text::nothing_written, reader);
  analysis.method = "none";
  return analysis;
}

std::string cut_remark(const Reading& reading, Language reader) {
  return message(Text::notes_cut, reader,
                 {{"used", std::to_string(reading.notesRead)},
                  {"total", std::to_string(reading.notesTotal)},
                  {"characters_used", std::to_string(reading.charactersRead)},
                  {"characters_total", std::to_string(reading.charactersTotal)}});
}

void apply_crisis_floor(const Crisis& crisis, Language reader, Analysis& analysis) {
  analysis.crisisWords = crisis.words;
  if (!crisis.minimum || raised(analysis.riskLevel.value_or(0), crisis) == analysis.riskLevel) {
    return;
  }
  analysis.modelRiskLevel = analysis.riskLevel;
  analysis.riskLevel = raised(analysis.riskLevel.value_or(0), crisis);
  analysis.assessed = true;
  const std::string from =
      analysis.modelRiskLevel ? std::to_string(*analysis.modelRiskLevel) : std::string("-");
  analysis.remarks.push_back(message(Text::risk_raised, reader,
                                     {{"from", from},
                                      {"to", std::to_string(*analysis.riskLevel)},
                                      {"words", quoted_words(crisis)}}));
}

// Adds the texts that each audit must contain, whichever model created it.
void add_care(const Audit& audit, const CareOptions& care, Language reader, Analysis& analysis) {
  apply_crisis_floor(audit.crisis, reader, analysis);
  analysis.disclaimer = message(Text::no_diagnosis, reader);
  if (!analysis.assessed) analysis.remarks.push_back(message(Text::not_assessed, reader));
  if (analysis.riskLevel.value_or(0) >= kRiskForHelp) {
    analysis.localHelp = local_help(care, reader);
  }
  if (!audit.reading.complete()) analysis.remarks.push_back(cut_remark(audit.reading, reader));
}

std::string question_of(const Audit& audit) {
  const Language reader = reader_of(audit);
  if (!audit.analysis || !audit.analysis->riskLevel) {
    return message(Text::audit_question_not_assessed, reader, {{"date", audit.date}});
  }
  return message(Text::audit_question, reader,
                 {{"date", audit.date}, {"risk", std::to_string(*audit.analysis->riskLevel)}});
}

// Checks the analysis, which a decision can edit: before the decision is accepted, and again before
// the save.
Result<Done> check_analysis(const Audit& audit) {
  const std::optional<Analysis>& analysis = audit.analysis;
  if (!analysis) {
    return error(ErrorCode::invalid, "The analysis is null: there is nothing to save.");
  }
  BELAY_CHECK(check_text("summary", analysis->summary));
  BELAY_CHECK(check_risk_level("riskLevel", analysis->riskLevel));
  return check_risk_level("modelRiskLevel", analysis->modelRiskLevel);
}

DailySummary summary_of(const Audit& audit, const Context& context) {
  const Analysis& analysis = *audit.analysis;
  DailySummary summary;
  summary.date = audit.date;
  summary.threadId = context.thread().text;
  summary.summary = analysis.summary;
  summary.riskLevel = analysis.riskLevel;
  summary.keyInsights = analysis.keyInsights;
  summary.assessed = analysis.riskLevel.has_value();
  summary.language = audit.language;
  summary.provider = analysis.provider;
  summary.model = analysis.model;
  summary.method = analysis.method;
  summary.notice = analysis.notice;
  summary.disclaimer = analysis.disclaimer;
  summary.localHelp = analysis.localHelp;
  summary.modelRiskLevel = analysis.modelRiskLevel;
  summary.crisisWords = analysis.crisisWords;
  summary.remarks = analysis.remarks;
  summary.createdAt = context.now();
  return summary;
}

}  // namespace

Task<Result<Update<Audit>>> fetch_notes(const Audit& audit, Context& context,
                                        SharedOptions options) {
  // The input was checked at the start, but a fork might have edited it since.
  BELAY_CO_CHECK(check_input(audit.date, audit.language, audit.timeZone));
  const TimeZone zone = zone_of(audit.timeZone, *options);
  std::string date = day_named(audit.date, zone, context.now());
  std::string wanted = date;
  auto day = co_await read_day(context.records(), std::move(wanted));
  if (!day.ok()) co_return std::move(day).error();
  std::string language = audit.language;
  if (language.empty()) language = configured_language(context.configuration());
  if (language.empty() && options->language_named) language = options->language;
  if (language.empty()) language = day->language;
  if (language.empty()) language = options->language;
  if (day->notes.empty()) context.outcome("nothing_to_do");
  co_return set(&Audit::date, std::move(date))
      .set(&Audit::timeZone, zone.name())
      .set(&Audit::notes, std::move(day->notes))
      .set(&Audit::reading, day->reading)
      .set(&Audit::crisis, std::move(day->crisis))
      .set(&Audit::language, std::move(language));
}

Task<Result<Update<Audit>>> analyze_notes(const Audit& audit, Context& context,
                                          SharedOptions options) {
  const Language reader = reader_of(audit);
  Analysis analysis = unwritten(reader);
  if (has_text(audit.notes)) {
    Prompt prompt = audit_prompt(audit, reader, context.previous_error());
    auto reply = co_await context.model().generate(std::move(prompt.request));
    if (!reply.ok()) co_return with_care(std::move(reply).error(), audit, context);
    auto answer = audit_answer_from(reply->text);
    if (!answer.ok()) co_return with_care(std::move(answer).error(), audit, context);
    analysis = analysis_of(*answer, *reply, reader);
    // Rules read the notes themselves, not the prompt.
    if (reply->method != "rules") analysis.remarks = remarks_on(prompt, reader);
  }
  add_care(audit, options->care, reader, analysis);
  co_return set(&Audit::analysis, std::move(analysis));
}

Update<Audit> check_audit_approval(const Audit& audit, Context& context) {
  std::string reason;
  if (context.options().require_approval) {
    const std::optional<int> risk = audit.analysis->riskLevel;
    if (!risk) {
      reason = "not_assessed";
    } else if (*risk >= kRiskForApproval) {
      reason = "risk";
    }
  }
  return set(&Audit::approvalReason, std::move(reason));
}

Result<Update<Audit>> save_summary(const Audit& audit, Context& context) {
  BELAY_CHECK(check_analysis(audit));
  context.save(summary_of(audit, context));
  context.outcome("saved");
  return unchanged<Audit>();
}

Result<Graph<Audit>> daily_auditor(const WellbeingOptions& options) {
  BELAY_TRY(SharedOptions kept, checked(options));
  GraphBuilder<Audit> graph{std::string(kDailyAuditor)};
  graph.one_run_per_thread();
  graph.check_input(
      [](const Audit& input) { return check_input(input.date, input.language, input.timeZone); });
  graph.material("model", "");  // the default one of the program
  graph.node("fetchNotes", [kept](const Audit& audit, Context& context) {
    return fetch_notes(audit, context, kept);
  });
  graph
      .node("analyzeNotes",
            [kept](const Audit& audit, Context& context) {
              return analyze_notes(audit, context, kept);
            })
      .retry({.attempts = kAttempts})
      .timeout(kept->model_timeout);
  graph.node("checkApproval", check_audit_approval);
  graph
      .approval("awaitingApproval", &Audit::analysis,
                {.question = "", .expires = kept->approval_expires})
      .question(question_of)
      .validate(check_analysis)
      .pending_flag(&Audit::requiresApproval)
      .decision_flag(&Audit::approved)
      .approved("saveSummary")
      .rejected(end);
  graph.node("saveSummary", save_summary);
  graph.edge(start, "fetchNotes")
      .branch("fetchNotes", [](const Audit& audit) { return !audit.notes.empty(); },
              {end, "analyzeNotes"})
      .edge("analyzeNotes", "checkApproval")
      .branch("checkApproval", [](const Audit& audit) { return !audit.approvalReason.empty(); },
              {"saveSummary", "awaitingApproval"})
      .edge("saveSummary", end);
  return std::move(graph).build();
}

}  // namespace belay::wellbeing
