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

Task<Value> body_of(Process& process, http::Request request) {
  http::Response response = co_await process.api().answer(std::move(request));
  co_return parse_json(response.body).value_or(Value());
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

// The assistant of the thread has its two versions, and is that of all runs.
void judge_assistant(const std::string& thread, const ClientThread& known,
                     const ProtocolRows::Thread& read, std::vector<std::string>& faults) {
  if (known.assistant.empty() || !known.is_created) return;
  bool is_whole = member(read.assistant, "assistant_id") == known.assistant &&
                  read.assistant["version"] == Value(2) && read.versions.size() == 2 &&
                  member(read.assistant["metadata"], "story") == thread;
  if (!is_whole) faults.push_back("P: the assistant is " + to_json(read.assistant));
  for (const Value& run : read.runs) {
    if (member(run, "assistant_id") == known.assistant) continue;
    faults.push_back("P: " + thread + " has a run of another assistant");
  }
}

}  // namespace

Task<Result<ProtocolRows>> read_protocol(Process& process, const ProtocolClients& clients,
                                         std::vector<RunRow> runs) {
  ProtocolRows rows;
  for (const RunRow& run : runs) rows.runs.emplace(run.run.text(), run.thread.text);
  for (const std::string& copy : clients.copies()) rows.threads.try_emplace(copy);
  for (const auto& [thread, known] : clients.threads()) {
    ProtocolRows::Thread& read = rows.threads[thread];
    if (known.assistant.empty()) continue;
    std::string path = "/assistants/" + known.assistant;
    http::Request assistant = look_at(path);
    read.assistant = co_await body_of(process, std::move(assistant));
    http::Request versions = look_at(path + "/versions");
    versions.method = "POST";
    Value list = co_await body_of(process, std::move(versions));
    if (list.as_array()) read.versions = *list.as_array();
  }
  for (auto& [thread, read] : rows.threads) {
    auto asked = look_at("/threads/" + thread);
    http::Response found = co_await process.api().answer(std::move(asked));
    read.status = found.status;
    if (found.status != kFound) continue;
    read.document = parse_json(found.body).value_or(Value());
    http::Request list = look_at("/threads/" + thread + "/runs", "limit=1000");
    Value listed = co_await body_of(process, std::move(list));
    if (!listed.as_array()) co_return error(ErrorCode::corrupt, "No list of runs of " + thread);
    read.runs = *listed.as_array();
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
    judge_assistant(thread, known, rows.threads.at(thread), faults);
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
