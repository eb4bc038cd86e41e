#include "tests/permissions/permission_table.h"

namespace belay::permissions {
namespace {

constexpr const char* kStart = R"({"input":{"date":"2026-01-01","language":"en"})";

std::string start_with(const std::string& more) { return kStart + (more + "}"); }

std::vector<Entry> store_entries() {
  using enum About;
  return {
      {"isAlive", "", nobody, "/healthz"},
      {"isReady", "", nobody, "/readyz"},
      {"getHealth", "", nobody, "/api/health"},
      {"getAgentsHealth", "", nobody, "/api/agents/health"},
      {"describeApi", "", nobody, "/openapi.json"},
      {"listAgents", "", nobody, "/api/agents"},
      {"getAgent", "", nobody, "/api/agents/daily_auditor"},
      {"getStore", "", nobody, "/api/store"},
      {"compactStore", "", nobody, "/api/store/compact"},
      {"pruneStore", "", nobody, "/api/store/prune"},
      {"checkStore", "", nobody, "/api/store/check"},
      {"listWorkers", "", nobody, "/api/workers"},
      {"getAgentUsage", "", nobody,
       "/api/analytics/agents?startDate=2026-01-01&endDate=2026-01-31"},
      {"getDailyAgentUsage", "", nobody, "/api/analytics/agents/daily_auditor/daily"},
      {"changeQueue", "", nobody, "/api/queues/default", R"({"paused":true})"},
      {"clearQueue", "", nobody, "/api/queues/default/clear", R"({"dryRun":true})"},
      {"findRecords", "", thing, "/api/records/notes?userId={user}", "", 200, 200},
      {"saveRecords", "", thing, "/api/records",
       R"({"userId":"{user}","records":[{"collection":"c","key":"k","json":"{}"}]})", 200, 200},
      {"listMessages", "", list, "/api/outbox"},
      {"listMessages", "of a user", thing, "/api/outbox?userId={user}", "", 200, 200},
      {"listMessages", "of a thread", thing, "/api/outbox?threadId={thread}"},
      {"retryMessage", "none", nobody, "/api/outbox/{run}/1/0/retry", "", 404},
      {"giveUpMessage", "none", nobody, "/api/outbox/{run}/1/0/give-up", "", 404},
  };
}

std::vector<Entry> thread_entries() {
  using enum About;
  return {
      {"getMetrics", "", nobody, "/metrics"},
      {"listQueues", "", list, "/api/queues"},
      {"listQueues", "of a user", thing, "/api/queues?userId={user}", "", 200, 200},
      {"listRuns", "", list, "/api/runs"},
      {"listRuns", "of a user", thing, "/api/runs?userId={user}", "", 200, 200},
      {"listRuns", "after one", thing, "/api/runs?before={run}", "", 200, 200},
      {"getRun", "", thing, "/api/runs/{run}"},
      {"streamRunEvents", "", thing, "/api/runs/{run}/events"},
      {"getOverview", "", approvals, "/api/overview"},
      {"getOverview", "of a user", thing, "/api/overview?userId={user}", "", 200, 200},
      {"listThreads", "", list, "/api/threads"},
      {"listThreads", "of a user", thing, "/api/threads?userId={user}", "", 200, 200},
      {"listThreads", "after one", thing, "/api/threads?before={thread}", "", 200, 200},
      {"getThread", "", thing, "/api/threads/{thread}"},
      {"getThread", "then", thing, "/api/threads/{thread}?at=2"},
      {"getThread", "a run", thing, "/api/threads/{thread}?run={run}"},
      {"editThread", "", thing, "/api/threads/{thread}", R"({"title":"x"})"},
      {"deleteThread", "of a paused run", thing, "/api/threads/{thread}", "", 409},
      {"listThreadRuns", "", thing, "/api/threads/{thread}/runs"},
      {"listThreadRuns", "after one", thing, "/api/threads/{thread}/runs?before={run}"},
      {"listRuns", "of a thread", thing, "/api/runs?threadId={thread}"},
      {"getHistory", "of a run", thing, "/api/threads/{thread}/history?run={run}"},
      {"getHistory", "after one", thing, "/api/threads/{thread}/history?before=2&beforeRun={run}"},
      {"getCalls", "of a run", thing, "/api/threads/{thread}/calls?run={run}"},
      {"streamThreadEvents", "of a run", thing, "/api/threads/{thread}/events?run={run}"},
      {"exportThread", "a run", thing, "/api/threads/{thread}/export?run={run}"},
      {"cancelThread", "a run", thing, "/api/threads/{thread}/cancel?run={run}"},
      {"getHistory", "", thing, "/api/threads/{thread}/history"},
      {"getCalls", "", thing, "/api/threads/{thread}/calls"},
      {"explainWait", "", thing, "/api/threads/{thread}/why"},
      {"explainWait", "of a run", thing, "/api/threads/{thread}/why?run={run}"},
      {"streamThreadEvents", "", thing, "/api/threads/{thread}/events"},
      {"exportThread", "", thing, "/api/threads/{thread}/export"},
      {"importThread", "what is no run", nobody, "/api/threads/import", R"({"file":{}})", 422},
      {"resumeThread", "", thing, "/api/threads/{thread}/resume", "", 202},
      {"steerRun", "", thing, "/api/threads/{thread}/steering", R"({"text":"x"})", 202},
      {"steerRun", "ended", thing, "/api/threads/{done}/steering", R"({"text":"x"})", 409},
      {"listSteering", "", thing, "/api/threads/{thread}/steering"},
      {"cancelThread", "", thing, "/api/threads/{thread}/cancel"},
      {"cancelThread", "again", thing, "/api/threads/{done}/cancel", "", 409},
      {"replayThread", "", thing, "/api/threads/{done}/replay"},
      {"preserveThread", "", thing, "/api/threads/{thread}/preserved"},
      {"unpreserveThread", "", thing, "/api/threads/{thread}/preserved"},
      {"listLeftBehind", "", list, "/api/left-behind"},
      {"listLeftBehind", "of a user", thing, "/api/left-behind?userId={user}", "", 200, 200},
  };
}

std::vector<Entry> fork_entries() {
  using enum About;
  using P = Permission;
  return {
      {"forkThread", "", thing, "/api/threads/{thread}/fork", "", 202},
      {"forkThread", "behind an approval", thing, "/api/threads/{done}/fork", "", 200},
      {"forkThread", "with edits", thing, "/api/threads/{thread}/fork",
       R"({"seq":2,"edits":{"language":"es"}})", 202, 404, P::decide},
      {"forkThread", "with edits behind an approval", thing, "/api/threads/{done}/fork",
       R"({"edits":{"language":"es"}})", 202, 404, P::decide},
      {"forkThread", "with no edits at all", thing, "/api/threads/{done}/fork", R"({"edits":{}})"},
      {"forkThread", "a look", thing, "/api/threads/{thread}/fork", R"({"preview":true})"},
      {"forkThread", "a look with edits", thing, "/api/threads/{thread}/fork",
       R"({"preview":true,"edits":{"language":"es"}})", 200, 404, P::decide},
      {"forkThread", "a run", thing, "/api/threads/{thread}/fork", R"({"runId":"{run}"})", 202},
      {"forkThread", "a copy", thing, "/api/threads/{thread}/fork", R"({"copy":true})", 202},
      {"forkThread", "for a user", thing, "/api/threads/thread-of-eve/fork",
       R"({"userId":"{user}"})", 202, 202},
  };
}

std::vector<Entry> approval_entries() {
  using enum About;
  return {
      {"listApprovals", "", approvals, "/api/approvals"},
      {"listApprovals", "all", approvals, "/api/approvals?all=true"},
      {"listApprovals", "of a user", approval, "/api/approvals?userId={user}", "", 200, 200},
      {"getApproval", "", approval, "/api/approvals/{approval}"},
      {"getApproval", "by its thread", approval, "/api/approvals/{thread}"},
      {"getApproval", "by its beginning", approval, "/api/approvals/{prefix}"},
      {"getThreadApproval", "", approval, "/api/threads/{thread}/approval"},
      {"decide", "", approval, "/api/approvals/{approval}/decision", R"({"approved":true})"},
      {"decide", "by its thread", approval, "/api/approvals/{thread}/decision",
       R"({"approved":false})"},
      {"decide", "by a choice", approval, "/api/approvals/{approval}/decision",
       R"({"choice":"reject"})"},
      {"decide", "by a choice of effects alone", approval, "/api/approvals/{approval}/decision",
       R"({"choice":"happened"})", 422},
      {"decide", "again", approval, "/api/approvals/{done}/decision", R"({"approved":true})"},
      {"decide", "otherwise", approval, "/api/approvals/{done}/decision", R"({"approved":false})",
       409},
  };
}

std::vector<Entry> start_entries() {
  using enum About;
  using P = Permission;
  return {
      {"startRun", "", nobody, "/api/agents/daily_auditor/runs", start_with(""), 202},
      {"startRun", "for a user", thing, "/api/agents/daily_auditor/runs",
       start_with(R"(,"userId":"{user}","threadId":"a new one")"), 202, 200},
      {"startRun", "in a thread", thread, "/api/agents/daily_auditor/runs",
       start_with(R"(,"threadId":"{thread}")"), 202},
      {"startRun", "without asking", nobody, "/api/agents/daily_auditor/runs",
       start_with(R"(,"requireApproval":false)"), 200, 404, P::decide},
  };
}

std::vector<Entry> mcp_entries() {
  using enum About;
  using P = Permission;
  const char* listing = R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})";
  const char* call = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{)"
                     R"("name":"daily_auditor","arguments":{"date":"2026-01-01"}}})";
  const char* named = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{)"
                      R"("name":"daily_auditor","arguments":{"date":"2026-01-01"},)"
                      R"("_meta":{"belay/threadId":"{thread}"}}})";
  return {
      {"callMcp", "list", nobody, "/mcp", listing},
      {"callMcp", "notification", nobody, "/mcp",
       R"({"jsonrpc":"2.0","method":"notifications/initialized"})", 202},
      {"callMcp", "call", nobody, "/mcp", call, 200, 404, P::run},
      {"callMcp", "call in a thread", nobody, "/mcp", named, 200, 404, P::run},
      {"callMcp", "no message", nobody, "/mcp", "{}", 400},
  };
}

// Each user has the goal "goal-USER".
std::vector<Entry> goal_entries() {
  using enum About;
  const std::string one = "/api/goals/goal-of-{user}", whose = "?userId={user}";
  const char* objective = R"({"objective":"Find it"})";
  return {
      {"listGoals", "", nobody, "/api/goals"},
      {"listGoals", "of a user", thing, "/api/goals" + whose, "", 200, 200},
      {"createGoal", "", thing, "/api/goals" + whose, objective, 201, 201},
      {"getGoal", "", thing, one + whose},
      {"editGoal", "", thing, one + whose, R"({"priority":3})"},
      {"pauseGoal", "", thing, one + "/pause" + whose},
      {"resumeGoal", "", thing, one + "/resume" + whose},
      {"triggerGoal", "", thing, one + "/trigger" + whose, "", 202},
      {"listGoalRuns", "", thing, one + "/runs" + whose},
      {"listSteps", "", thing, "/api/runs/{run}/steps"},
      {"deleteGoal", "", thing, one + whose, "", 204},
  };
}

// Each user has the schedule "schedule-of-USER".
std::vector<Entry> schedule_entries() {
  using enum About;
  const std::string all = "/api/schedules", one = all + "/schedule-of-{user}";
  const std::string whose = "?userId={user}";
  const char* wanted = R"({"name":"a new one","expression":"@daily","agent":"daily_auditor",)"
                       R"("input":{"date":"2026-01-01"}})";
  const char* range = R"({"after":"2026-11-20T00:00:00Z","until":"2026-11-21T00:00:00Z",)"
                      R"("dryRun":true})";
  return {
      {"listSchedules", "", list, all},
      {"listSchedules", "of a user", thing, all + whose, "", 200, 200},
      {"createSchedule", "", thing, all + whose, wanted, 201, 201},
      {"getSchedule", "", thing, one + whose},
      {"editSchedule", "", thing, one + whose, R"({"priority":3})"},
      {"runSchedule", "", thing, one + "/run" + whose, "", 202},
      {"backfillSchedule", "", thing, one + "/backfill" + whose, range},
      {"listScheduleTicks", "", thing, one + "/ticks" + whose},
      {"deleteSchedule", "", thing, one + whose},
  };
}

// Each user has the analysis "analysis-of-USER", which has failed: its company is unknown.
std::vector<Entry> analysis_entries() {
  using enum About;
  using P = Permission;
  const std::string all = "/api/analyses", one = all + "/analysis-of-{user}";
  const std::string whose = "?userId={user}";
  const char* order = R"({"ticker":"ZZZZ"})";
  const char* batch = R"({"tickers":["ZZZZ=99"],"batch":"b"})";
  return {
      {"listAnalyses", "", nobody, all},
      {"listAnalyses", "of a user", thing, all + whose, "", 200, 200},
      {"createAnalysis", "", nobody, all, order},
      {"createAnalysis", "for a user", thing, all + whose, order, 200, 200},
      {"createAnalysis", "without asking", nobody, all, R"({"ticker":"ZZZZ","yes":true})", 200, 404,
       P::decide},
      {"createAnalysisBatch", "", nobody, all + "/batch", batch, 202},
      {"createAnalysisBatch", "for a user", thing, all + "/batch" + whose, batch, 202, 202},
      {"getAnalysis", "", thing, one},
      {"getAnalysisReport", "", thing, one + "/report"},
      {"pauseAnalysis", "ended", thing, one + "/pause", "", 409},
      {"resumeAnalysis", "ended", thing, one + "/resume"},
      {"retryAnalysis", "ended", thing, one + "/retry", R"({"specialist":"growth"})", 409},
  };
}

// The checkpoints of each user are records of that user.
std::vector<Entry> checkpointer_entries() {
  using enum About;
  const std::string all = "/api/langgraph/", whose = "?userId={user}";
  const char* checkpoint = R"({"threadId":"t","checkpointId":"c",)"
                           R"("checkpoint":{"type":"json","data":"e30="},)"
                           R"("metadata":{"type":"json","data":"e30="}})";
  const char* writes = R"({"threadId":"t","checkpointId":"c","taskId":"k","writes":[)"
                       R"({"channel":"x","value":{"type":"json","data":"e30="}}]})";
  const char* part =
      R"({"threadId":"t","blob":"00000000-0000-4000-8000-000000000001","part":0,"data":"e30="})";
  const char* of_part =
      R"({"threadId":"t","blob":"00000000-0000-4000-8000-000000000001","part":0})";
  const char* thread_id = R"({"threadId":"t"})";
  const char* channels = R"({"threadId":"t","channels":["c"]})";
  const char* pruned = R"({"threadIds":["t"],"strategy":"delete"})";
  return {
      {"putLangGraphCheckpoint", "", thing, all + "checkpoints" + whose, checkpoint, 204, 204},
      {"putLangGraphWrites", "", thing, all + "writes" + whose, writes, 204, 204},
      {"putLangGraphPart", "", thing, all + "parts" + whose, part, 204, 204},
      {"getLangGraphPart", "none", thing, all + "parts/get" + whose, of_part, 404, 404},
      {"getLangGraphCheckpoint", "", thing, all + "checkpoints/get" + whose, thread_id, 200, 200},
      {"listLangGraphCheckpoints", "", thing, all + "checkpoints/list" + whose, "{}", 200, 200},
      {"getLangGraphHistory", "", thing, all + "checkpoints/history" + whose, channels, 200, 200},
      {"deleteLangGraphThread", "", thing, all + "threads/delete" + whose, thread_id, 200, 200},
      {"copyLangGraphThread", "", thing, all + "threads/copy" + whose,
       R"({"source":"t","target":"u"})", 204, 204},
      {"pruneLangGraphThreads", "", thing, all + "threads/prune" + whose, pruned, 200, 200},
      {"deleteLangGraphRuns", "", thing, all + "runs/delete" + whose, R"({"runIds":["r"]})", 200,
       200},
  };
}

std::vector<Entry> agent_entries() {
  using enum About;
  using P = Permission;
  const char* date = R"({"date":"2026-01-01"})";
  return {
      {"startDailyAudit", "", nobody, "/api/agents/daily-audit", date, 202},
      {"startDailyAudit", "in a thread", thread, "/api/agents/daily-audit",
       R"({"date":"2026-01-01","language":"en","threadId":"{thread}"})", 202},
      {"startDailyAudit", "without asking", nobody, "/api/agents/daily-audit",
       R"({"date":"2026-01-01","requiresHumanApproval":false})", 200, 404, P::decide},
      {"generateRoutine", "", nobody, "/api/agents/generate-routine", date, 202},
      {"generateRoutine", "without asking", nobody, "/api/agents/generate-routine",
       R"({"date":"2026-01-01","requiresHumanApproval":false})", 200, 404, P::decide},
      {"approveThread", "", approval, "/api/agents/approve/{thread}", R"({"approved":true})"},
      {"approveThread", "again", approval, "/api/agents/approve/{done}", R"({"approved":true})"},
      {"approveDailyAudit", "", approval, "/api/agents/daily-audit/{thread}/approve",
       R"({"approved":true})"},
      {"approveDailyAudit", "of a routine", approval, "/api/agents/daily-audit/{routine}/approve",
       R"({"approved":true})", 404},
      {"approveRoutine", "", approval, "/api/agents/routine/{routine}/approve",
       R"({"approved":true})"},
      {"getStatus", "", thing, "/api/agents/status/{thread}"},
      {"getAgentHistory", "", thing, "/api/agents/history/{thread}"},
      {"cancelAgent", "", thing, "/api/agents/cancel/{thread}"},
  };
}

// Returns the record with the date of `key`.
std::string record_at(std::string record, const std::string& key) {
  return record.replace(record.find("2026-05-05"), key.size(), key);
}

// Adds the routes of a collection in which each user has `key`.
void add_records(const std::string& plural, const std::string& singular, const std::string& key,
                 const std::string& record, std::vector<Entry>& entries) {
  using enum About;
  std::string all = "/api/" + plural, one = all + "/" + key, whose = "?userId={user}";
  std::string title = singular;
  title[0] = static_cast<char>(title[0] - 'a' + 'A');
  std::string titles = plural;
  titles[0] = static_cast<char>(titles[0] - 'a' + 'A');
  entries.push_back({"list" + titles, "", nobody, all});
  entries.push_back({"list" + titles, "of a user", thing, all + whose, "", 200, 200});
  entries.push_back({"create" + title, "", thing, all + whose, record, 201, 201});
  entries.push_back({"get" + title, "", thing, one + whose});
  entries.push_back({"replace" + title, "", thing, one + whose, record_at(record, key), 200, 201});
  entries.push_back({"delete" + title, "", thing, one + whose, "", 204});
}

}  // namespace

const std::vector<Entry>& permission_table() {
  static const std::vector<Entry> table = [] {
    std::vector<Entry> all;
    for (auto* part : {store_entries, thread_entries, fork_entries, approval_entries, start_entries,
                       mcp_entries, agent_entries, analysis_entries, checkpointer_entries,
                       agent_server_entries, agent_server_run_entries, agent_server_state_entries,
                       a2a_entries, ag_ui_entries, goal_entries, schedule_entries}) {
      for (Entry& each : part()) all.push_back(std::move(each));
    }
    std::string summary = R"({"date":"2026-05-05","summary":"A calm day."})";
    std::string routine = R"({"date":"2026-05-05","activities":[)"
                          R"({"time":"08:00","activity":"Breakfast","expectedBenefit":"Strength"},)"
                          R"({"time":"12:00","activity":"A walk","expectedBenefit":"Rest"},)"
                          R"({"time":"22:00","activity":"Sleep","expectedBenefit":"Rest"}]})";
    add_records("notes", "note", "note-2026-01-01", R"({"date":"2026-05-05","content":"Well."})",
                all);
    add_records("summaries", "summary", "2025-12-31", summary, all);
    add_records("routines", "routine", "2025-12-31", routine, all);
    for (Entry& each : all) {
      // The key of a note is not its date.
      if (each.route == "replaceNote") each.body = R"({"date":"2026-01-01","content":"Well."})";
    }
    return all;
  }();
  return table;
}

bool sees_others(const Entry& entry, Permission as) {
  bool shows_approvals = entry.about == About::approval || entry.about == About::approvals;
  return as >= (shows_approvals ? Permission::decide : Permission::administer);
}

int expected_status(const Entry& entry, Permission route_takes, Permission as, Thing thing) {
  if (route_takes == Permission::open) return entry.answer;
  if (as == Permission::open) return 401;
  if (as < route_takes) return 403;
  bool is_named = entry.about == About::thing || entry.about == About::approval;
  if (is_named && thing != Thing::own && !sees_others(entry, as)) return entry.hidden;
  if (entry.takes && as < *entry.takes) return 403;
  if (entry.about == About::thread && thing == Thing::others) return 409;
  if (is_named && thing == Thing::absent) return entry.absent;
  return entry.answer;
}

}  // namespace belay::permissions
