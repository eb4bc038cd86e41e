#include "tests/simulation/judge_requests.h"

#include <algorithm>

#include "service/schedule_documents.h"
#include "tests/crash/decided_ticks.h"
#include "tests/crash/sent_messages.h"
#include "tests/simulation/goal_workload.h"

namespace belay::simulation {
namespace {

constexpr std::size_t kTicksOfAPage = 100;

Task<Result<RequestedRows::Ticks>> read_schedule(Process& process, std::string name) {
  RequestedRows::Ticks found;
  found.name = name;
  Schedules& schedules = process.service().schedules();
  Principal who;
  UserId user = kScheduleUser;
  auto view = co_await schedules.show(who, user, name, 1);
  if (!view.ok() && view.error().code == ErrorCode::not_found) co_return std::move(found);
  if (!view.ok()) co_return std::move(view).error();
  found.view = *std::move(view);
  std::string after;
  do {
    BELAY_CO_TRY(auto page, co_await schedules.ticks(who, user, name, after, kTicksOfAPage));
    for (ScheduleTick& tick : page.ticks) found.ticks.push_back(std::move(tick));
    after = page.next;
  } while (!after.empty());
  co_return std::move(found);
}

Task<Result<RequestedRows::Sent>> read_sent(Process& process, RunRow run) {
  RequestedRows::Sent sent;
  Principal who;
  ThreadId thread = run.thread;
  BELAY_CO_TRY(sent.messages, co_await process.service().steering(who, thread));
  BELAY_CO_TRY(RunView view, co_await process.service().status(who, thread, std::nullopt, run.run));
  sent.state = std::move(view.state);
  sent.run = std::move(run);
  co_return std::move(sent);
}

void judge_schedule(const RequestedRows::Ticks& read, const std::vector<RunRow>& runs,
                    std::vector<std::string>& faults) {
  std::set<std::string> of_schedule;
  std::size_t count = 0;
  for (const RunRow& run : runs) {
    if (!run.thread.text.starts_with(read.name + " ")) continue;
    of_schedule.insert(run.run.text());
    ++count;
  }
  if (!read.view) {
    if (count > 0) faults.push_back(read.name + " was not added, and has runs");
    return;
  }
  crash::DecidedTicks decided{read.name, kPeriod, kCatchUp, schedule_document(*read.view), {}};
  for (const ScheduleTick& tick : read.ticks) decided.ticks.push_back(schedule_tick_document(tick));
  crash::TickVerdict verdict = crash::judge_ticks(decided);
  faults.insert(faults.end(), verdict.faults.begin(), verdict.faults.end());
  if (verdict.runs != of_schedule || count != verdict.runs.size()) {
    faults.push_back(read.name + " has " + std::to_string(count) + " runs, and its ticks have " +
                     std::to_string(verdict.runs.size()));
  }
}

void judge_messages(RequestedRows::Sent sent, const std::vector<std::string>& accepted,
                    std::vector<std::string>& faults) {
  std::string thread = sent.run.thread.text;
  auto is_before = [](const SteeringMessage& left, const SteeringMessage& right) {
    return left.created_at < right.created_at;
  };
  std::sort(sent.messages.begin(), sent.messages.end(), is_before);
  // Those of a run that was cancelled can be unused, and remain as they are.
  bool uses_all = sent.run.status == RunStatus::completed;
  std::vector<crash::SentMessage> stored;
  for (const SteeringMessage& each : sent.messages) stored.push_back({each.id, uses_all});
  for (const std::string& id : accepted) {
    bool is_stored = std::any_of(sent.messages.begin(), sent.messages.end(),
                                 [&](const SteeringMessage& each) { return each.id == id; });
    if (!is_stored) faults.push_back(thread + " has lost " + id);
  }
  for (const std::string& fault : crash::message_faults(stored, crash::used_messages(sent.state))) {
    faults.push_back(thread + " " + fault);
  }
}

}  // namespace

Task<Result<RequestedRows>> read_requested(Process& process, std::vector<std::string> schedules,
                                           std::vector<RunRow> runs) {
  RequestedRows rows;
  for (const std::string& name : schedules) {
    BELAY_CO_TRY(auto read, co_await read_schedule(process, name));
    rows.schedules.push_back(std::move(read));
  }
  for (const RunRow& run : runs) {
    // A copy has the messages of the run that it was copied from.
    bool is_copy = run.thread.text.find("/fork") != std::string::npos;
    if (run.graph != goal_workload().name || is_copy) continue;
    BELAY_CO_TRY(auto read, co_await read_sent(process, run));
    rows.sent.push_back(std::move(read));
  }
  rows.runs = std::move(runs);
  co_return std::move(rows);
}

std::vector<std::string> requested_faults(
    const RequestedRows& rows, const std::map<std::string, std::vector<std::string>>& accepted) {
  std::vector<std::string> faults;
  for (const RequestedRows::Ticks& each : rows.schedules) judge_schedule(each, rows.runs, faults);
  for (const RequestedRows::Sent& each : rows.sent) {
    auto found = accepted.find(each.run.thread.text);
    judge_messages(each, found == accepted.end() ? std::vector<std::string>() : found->second,
                   faults);
  }
  return faults;
}

}  // namespace belay::simulation
