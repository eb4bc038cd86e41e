#include "tests/simulation/judge_protocol.h"

#include "langgraph/records.h"

namespace belay::simulation {
namespace {

constexpr int kFound = 200;
constexpr int kMissing = 404;

http::Request look_at(std::string path, std::string query = {}) {
  http::Request made;
  made.method = "GET";
  made.raw_path = path;
  made.path = std::move(path);
  made.query = std::move(query);
  made.headers.push_back({"Host", "127.0.0.1:8123"});
  return made;
}

std::string member(const Value& value, std::string_view name) {
  const std::string* text = value[name].as_string();
  return text ? *text : std::string();
}

void judge_thread(const std::string& thread, const ClientThread& known,
                  const ProtocolRows::Thread& read, std::vector<std::string>& faults) {
  auto fault = [&](const std::string& what) { faults.push_back("P: " + thread + " " + what); };
  bool exists = read.status == kFound;
  if (!exists && read.status != kMissing) fault("has the status " + std::to_string(read.status));
  if (known.is_deleted && exists) fault("was deleted, and exists");
  if (known.is_created && !known.may_be_deleted && !exists) fault("is lost");
  if (!exists) return;
  if (member(read.document["metadata"], "story") != thread) fault("has lost its metadata");
  std::map<std::string, int> listed;
  for (const Value& run : read.runs) {
    std::string key = member(run["metadata"], "request");
    if (++listed[key] == 2) fault("has the run of " + key + " twice");
    if (!known.asked.contains(key)) fault("has a run without its record: " + to_json(run));
    auto acknowledged = known.runs.find(key);
    bool is_other =
        acknowledged != known.runs.end() && acknowledged->second != member(run, "run_id");
    if (is_other) fault("has another run of " + key);
  }
  if (known.has_lost_runs && !read.runs.empty()) fault("has runs after their deletion");
  if (known.may_lose_runs && read.runs.empty()) return;
  for (const auto& [key, run] : known.runs) {
    if (!listed.contains(key)) fault("has lost the run of " + key);
  }
}

}  // namespace

Task<Result<ProtocolRows>> read_protocol(Process& process, std::vector<std::string> threads,
                                         std::vector<RunRow> runs) {
  ProtocolRows rows;
  for (const RunRow& run : runs) rows.runs.emplace(run.run.text(), run.thread.text);
  for (const std::string& thread : threads) {
    ProtocolRows::Thread& read = rows.threads[thread];
    auto asked = look_at("/threads/" + thread);
    http::Response found = co_await process.api().answer(std::move(asked));
    read.status = found.status;
    if (found.status != kFound) continue;
    read.document = parse_json(found.body).value_or(Value());
    auto list = look_at("/threads/" + thread + "/runs", "limit=1000");
    http::Response listed = co_await process.api().answer(std::move(list));
    auto document = parse_json(listed.body);
    if (!document.ok() || !document->as_array()) {
      co_return error(ErrorCode::corrupt, "No list of runs: " + listed.body);
    }
    read.runs = *document->as_array();
  }
  Principal who;
  UserId user("local");
  RecordFilter all;
  BELAY_CO_TRY(auto records, co_await langgraph::read_records<langgraph::RunRecord>(
                                 process.service(), who, std::move(user), std::move(all)));
  for (auto& each : records.records) rows.records.push_back(std::move(each.record));
  co_return std::move(rows);
}

std::vector<std::string> protocol_faults(const ProtocolRows& rows, const ProtocolClients& clients) {
  std::vector<std::string> faults;
  for (const auto& [thread, known] : clients.threads()) {
    judge_thread(thread, known, rows.threads.at(thread), faults);
  }
  for (const std::string& copy : clients.copies()) {
    if (rows.threads.at(copy).status != kFound)
      faults.push_back("P: the copy " + copy + " is lost");
  }
  for (const langgraph::RunRecord& record : rows.records) {
    auto run = rows.runs.find(record.run);
    bool exists = run != rows.runs.end() && run->second == record.thread;
    if (!exists) faults.push_back("P: the record " + record.id + " has no run in " + record.thread);
  }
  std::set<std::string> unknown;
  for (const auto& [run, thread] : rows.runs) {
    bool is_uuid = uuid_from(thread).has_value();
    if (is_uuid && !clients.is_known(thread)) unknown.insert(thread);
  }
  for (const std::string& thread : unknown) faults.push_back("P: no client made thread " + thread);
  return faults;
}

}  // namespace belay::simulation
