#include "tests/permissions/permission_world.h"

#include "agents/goals/records.h"
#include "agents/wellbeing/records.h"
#include "cli/modules.h"
#include "cli/served_routes.h"
#include "program/belay_program.h"
#include "tests/support/principals.h"

namespace belay::permissions {
namespace {

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

template <typename R>
RecordWrite write_of(const R& record, const std::string& user) {
  return record_write(record, UserId(user)).value();
}

}  // namespace

std::string_view name_of(Thing thing) {
  return thing == Thing::own ? "own" : thing == Thing::others ? "others" : "absent";
}

PermissionWorld::PermissionWorld()
    : program(*cli::program_with("belay", program::options(), program::modules())) {
  settings.call = "belay";
  settings.model = "builtin";
  settings.models.models = "builtin";
  model = program.model(settings, clock).value();
  RuntimeParts parts{*store, loop, clock, random, *model};
  runtime = Runtime::open(std::move(parts)).value();
  Definitions graphs = program.graphs(settings).value();
  for (const auto& graph : graphs) runtime->add(graph);
  service = make_local_service(
      LocalServiceParts{*store, *store, *runtime, loop, clock, random, graphs, {}, {}});
  add_things_of("eve", "trombone");
  add_things_of(std::string(other_user), std::string(other_word));
  for (const char* name : {"eve", "anastasia"}) {
    for (Permission each : all_permissions) {
      if (each == Permission::open) continue;
      server::ApiKey key;
      key.name = name;
      key.permission = each;
      key.token = sha256(token_of(name, each));
      options.keys.push_back(std::move(key));
    }
  }
  open_api();
}

void PermissionWorld::open_api() {
  server::ApiParts parts{*service, loop, clock, random};
  parts.telemetry.metrics = metrics.get();
  api = std::make_unique<server::Api>(parts, options, cli::served_routes(program, settings, {}));
}

std::string PermissionWorld::token_of(const std::string& name, Permission permission) {
  return name + "-may-" + std::string(name_of(permission)) + "-0000";
}

RunView PermissionWorld::begin(const std::string& user, const std::string& agent,
                               const std::string& thread, const std::string& date) {
  StartRun wanted;
  wanted.agent = agent;
  wanted.user = UserId(user);
  wanted.thread = ThreadId(thread);
  wanted.queue = "queue-of-" + user;
  wanted.input = Value::object({{"date", date}, {"language", "en"}});
  return block_on(loop, service->start(local_program, std::move(wanted))).value();
}

void PermissionWorld::add_things_of(const std::string& user, const std::string& word) {
  std::vector<RecordWrite> records;
  for (const char* date : {"2026-01-01", "2026-01-02"}) {
    wellbeing::Note note;
    note.id = "note-" + std::string(date);
    note.date = date;
    note.content = "I am exhausted by the " + word +
                   " and worn out. Could not sleep all night. Ill again, fever and pain all day. I "
                   "cried and feel depressed and hopeless. Afraid and anxious, another panic "
                   "attack.";
    records.push_back(write_of(note, user));
  }
  wellbeing::DailySummary summary;
  summary.date = "2025-12-31";
  summary.summary = "A " + word + ".";
  records.push_back(write_of(summary, user));
  wellbeing::Routine routine;
  routine.date = "2025-12-31";
  routine.threadId = "of the " + word;
  records.push_back(write_of(routine, user));
  goals::Goal goal;
  goal.id = "goal-of-" + user;
  goal.objective = "Find the " + word + ".";
  records.push_back(write_of(goal, user));
  ASSERT_TRUE(block_on(loop, service->save_records(local_program, std::move(records))).ok());
  ScheduleChange schedule;
  schedule.expression = "0 9 * * MON-FRI";
  schedule.agent = "daily_auditor";
  schedule.input = Value::object({{"date", "2026-01-01"}});
  schedule.thread = "of the " + word;
  ASSERT_TRUE(block_on(loop, service->schedules().add(local_program, UserId(user),
                                                      "schedule-of-" + user, std::move(schedule)))
                  .ok());
  std::map<std::string, std::string>& ids = ids_[user];
  ids["thread"] = "thread-of-" + user;
  ids["done"] = "done-of-" + user;
  ids["routine"] = "routine-of-" + user;
  StartRun analysis;
  analysis.agent = "research_analysis";
  analysis.user = UserId(user);
  analysis.thread = ThreadId("analysis-of-" + user);
  analysis.input = Value::object({{"request", Value::object({{"ticker", "ZZZZ"}})}});
  RunView failed = block_on(loop, service->start(local_program, std::move(analysis))).value();
  ASSERT_EQ(failed.row.status, RunStatus::failed);
  RunView waiting = begin(user, "daily_auditor", ids["thread"], "2026-01-01");
  RunView done = begin(user, "daily_auditor", ids["done"], "2026-01-02");
  RunView planned = begin(user, "routine_generator", ids["routine"], "2026-01-03");
  ASSERT_TRUE(waiting.approval && done.approval && planned.approval);
  ids["run"] = waiting.row.run.text();
  ids["approval"] = waiting.approval->interrupt.text();
  ids["prefix"] = ids["approval"].substr(0, 8);
  Decision decision;
  decision.approved = true;
  decision.decided_by = user;
  auto decided =
      block_on(loop, service->decide(local_program, done.approval->interrupt, std::move(decision)));
  ASSERT_TRUE(decided.ok()) << decided.error().message;
}

PermissionWorld::Names PermissionWorld::names_of(Thing thing) const {
  std::string user = thing == Thing::own      ? "eve"
                     : thing == Thing::others ? std::string(other_user)
                                              : "nobody";
  Names names{{"user", user}};
  for (const char* what : {"thread", "done", "routine"}) {
    names.emplace_back(what, std::string(what) + "-of-" + user);
  }
  auto found = ids_.find(user);
  bool is_there = found != ids_.end();
  names.emplace_back("run",
                     is_there ? found->second.at("run") : "00000000-0000-4000-8000-000000000001");
  names.emplace_back(
      "approval", is_there ? found->second.at("approval") : "00000000-0000-8000-8000-000000000002");
  names.emplace_back("prefix", is_there ? found->second.at("prefix") : "00000000");
  return names;
}

std::string PermissionWorld::filled(std::string text, Thing thing) const {
  for (const auto& [what, name] : names_of(thing)) replace_all(text, "{" + what + "}", name);
  return text;
}

std::string PermissionWorld::unnamed(std::string text, Thing thing) const {
  Names names = names_of(thing);
  // Thread names contain a user's name, and an id contains its prefix: replace the long ones first.
  for (auto each = names.rbegin(); each != names.rend(); ++each) {
    if (each->first != "prefix") replace_all(text, each->second, "<" + each->first + ">");
  }
  replace_all(text, names.back().second, "<prefix>");
  return text;
}

Answered PermissionWorld::send(Permission as, std::string method, const std::string& target,
                               const std::string& body, std::vector<http::Header> more) {
  http::Request request;
  request.method = std::move(method);
  std::size_t mark = target.find('?');
  request.raw_path = request.path = target.substr(0, mark);
  if (mark != target.npos) request.query = target.substr(mark + 1);
  request.headers = std::move(more);
  request.headers.push_back({"Host", "127.0.0.1:8123"});
  if (!body.empty()) request.headers.push_back({"Content-Type", "application/json"});
  request.body = body;
  if (as != Permission::open) {
    request.headers.push_back({"Authorization", "Bearer " + token_of("eve", as)});
  }
  auto response = block_on(loop, api->answer(std::move(request)));
  return {response.status, response.body, response.headers};
}

}  // namespace belay::permissions
