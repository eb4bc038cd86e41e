#include "tests/simulation/protocol_clients.h"

#include <cstdio>

namespace belay::simulation {
namespace {

using namespace std::chrono_literals;

constexpr microseconds kSentAgain = 12s;
constexpr int kServerFault = 500;
constexpr int kTooMany = 429;
constexpr int kRefused = 400;

// `kind`: a hexadecimal digit.
std::string id_of(std::uint64_t number, char kind) {
  char text[40];
  std::snprintf(text, sizeof text, "%08llx-0000-4000-8000-%c00000000000",
                static_cast<unsigned long long>(number + 1), kind);
  return text;
}

http::Request http_request(const std::string& key, std::string method, std::string path,
                           std::string body) {
  http::Request made;
  made.method = std::move(method);
  std::size_t mark = path.find('?');
  made.raw_path = made.path = path.substr(0, mark);
  if (mark != path.npos) made.query = path.substr(mark + 1);
  made.headers.push_back({"Host", "127.0.0.1:8123"});
  made.headers.push_back({"Idempotency-Key", key});
  if (!body.empty()) made.headers.push_back({"Content-Type", "application/json"});
  made.body = std::move(body);
  return made;
}

struct Response {
  int status = 0;
  Value body;
};

Task<Result<Response>> sent_to(Process& process, http::Request request) {
  http::Response response = co_await process.api().answer(std::move(request));
  Response taken;
  taken.status = response.status;
  taken.body = parse_json(response.body).value_or(Value());
  co_return std::move(taken);
}

// The input of the n-th run as JSON.
Value input_of(const Workload& workload, std::uint64_t number) {
  auto count = static_cast<std::int64_t>(number);
  if (workload.name == "letter") return Value::object({{"fails", count % 4 == 3}});
  if (workload.name == "errand") return Value::object({{"what", "milk"}});
  if (workload.name == "parcel") return Value::object({{"label", ""}});
  std::string first = "begin " + std::to_string(count + 1);
  return Value::object({{"number", count + 1},
                        {"lines", Value(Value::Array{Value(std::move(first))})},
                        {"turns", 1}});
}

const std::string& assistant_of(const ClientThread& thread) {
  return thread.assistant.empty() ? thread.workload->name : thread.assistant;
}

std::string text_in(const Value& value, std::string_view name) {
  const std::string* text = value[name].as_string();
  return text ? *text : std::string();
}

}  // namespace

void ProtocolClients::write_script() {
  auto often = [this](int times, microseconds length, void (ProtocolClients::*act)()) {
    for (int i = 0; i < times; ++i) {
      auto most = static_cast<std::uint64_t>(length.count());
      microseconds delay(static_cast<std::int64_t>(random_.bits() % most));
      machine_.agenda.after(kOutside, delay, [this, act] { (this->*act)(); });
    }
  };
  microseconds length = plan_.length;
  often(plan_.threads, length * 6 / 10, &ProtocolClients::want_thread);
  often(plan_.thread_cancels, length, &ProtocolClients::cancel_something);
  often(plan_.copies, length, &ProtocolClients::copy_something);
  often(plan_.deletions, length, &ProtocolClients::delete_something);
}

std::vector<std::pair<RunId, std::uint64_t>> ProtocolClients::without_deleted(
    std::vector<std::pair<RunId, std::uint64_t>> commits) const {
  std::erase_if(commits, [this](const auto& commit) {
    auto thread = threads_.find(machine_.threads[commit.first]);
    return thread != threads_.end() && (thread->second.is_deleted || thread->second.has_lost_runs);
  });
  return commits;
}

void ProtocolClients::want(const std::string& key, Request request) {
  waiting_.insert_or_assign(key, std::move(request));
  try_now(key);
}

void ProtocolClients::try_now(const std::string& key) {
  Request& request = waiting_.at(key);
  request.asked = machine_.agenda.now();
  Process* process = any_process_();
  if (!process) return;
  ProcessId id = process->id();
  auto sent = http_request(key, request.method, request.path, request.body);
  process->begin<Response>(
      sent_to(*process, std::move(sent)), [this, key, id](Result<Response> response) {
        machine_.log.tell(id, "answers " + key + ": " + std::to_string(response->status));
        take(key, response->status, response->body);
      });
}

void ProtocolClients::take(const std::string& key, int status, const Value& body) {
  auto waiting = waiting_.find(key);
  // A response to the same request, sent before.
  if (waiting == waiting_.end()) return;
  if (status >= kServerFault || status == kTooMany) return;  // sent again later
  auto answered = std::move(waiting->second.answered);
  waiting_.erase(waiting);
  if (answered) answered(status, body);
}

void ProtocolClients::want_thread() {
  std::vector<const Workload*> known;
  for (const auto& [name, weight] : plan_.workloads) known.push_back(workload_of(name));
  std::uint64_t number = numbers_++;
  std::string thread = id_of(number, '0');
  ClientThread& made = threads_[thread];
  made.number = number;
  made.workload = known[random_.bits() % known.size()];
  if (random_.bits() % 3 != 0) return create_thread(thread);
  made.assistant = id_of(number, 'a');
  create_assistant(thread);
}

void ProtocolClients::create_assistant(const std::string& thread) {
  const ClientThread& of = threads_[thread];
  Value body = Value::object({{"assistant_id", of.assistant},
                              {"graph_id", of.workload->name},
                              {"if_exists", "do_nothing"}});
  Request request{"POST", "/assistants", to_json(body), nullptr, {}};
  request.answered = [this, thread](int status, const Value& refusal) {
    if (status >= kRefused) machine_.trouble("P: no assistant of " + thread + to_json(refusal));
    change_assistant(thread);
  };
  want("assistant " + thread, std::move(request));
}

void ProtocolClients::change_assistant(const std::string& thread) {
  Value body = Value::object({{"metadata", Value::object({{"story", thread}})}});
  Request request{"PATCH", "/assistants/" + threads_[thread].assistant, to_json(body), nullptr, {}};
  request.answered = [this, thread](int status, const Value& refusal) {
    if (status >= kRefused) machine_.trouble("P: no version of " + thread + to_json(refusal));
    create_thread(thread);
  };
  want("version of " + thread, std::move(request));
}

void ProtocolClients::create_thread(const std::string& thread) {
  Value body = Value::object({{"thread_id", thread},
                              {"if_exists", "do_nothing"},
                              {"metadata", Value::object({{"story", thread}})}});
  Request request{"POST", "/threads", to_json(body), nullptr, {}};
  request.answered = [this, thread](int status, const Value&) {
    if (status >= kRefused) return machine_.trouble("P: no thread " + thread);
    threads_[thread].is_created = true;
    std::uint64_t runs = threads_[thread].workload->runs_per_thread > 1 ? 3 : 1;
    for (std::uint64_t i = 0; i < runs; ++i) want_run(thread);
  };
  want("thread " + thread, std::move(request));
}

void ProtocolClients::want_run(const std::string& thread) {
  ClientThread& of = threads_[thread];
  std::string key = "run-" + std::to_string(requests_++);
  bool interrupts = of.workload->runs_per_thread > 1 && random_.bits() % 5 == 0;
  if (interrupts) cancelled_.insert(thread);
  Value body = Value::object({{"assistant_id", assistant_of(of)},
                              {"input", input_of(*of.workload, requests_)},
                              {"multitask_strategy", interrupts ? "interrupt" : "enqueue"}});
  begin_run(thread, key, std::move(body));
}

void ProtocolClients::begin_run(const std::string& thread, const std::string& key, Value body) {
  body.as_object()->emplace("metadata", Value::object({{"request", key}}));
  threads_[thread].asked.insert(key);
  Request request{"POST", "/threads/" + thread + "/runs", to_json(body), nullptr, {}};
  request.answered = [this, thread, key](int status, const Value& document) {
    note_run(thread, key, status, document);
  };
  want(key, std::move(request));
}

void ProtocolClients::note_run(const std::string& thread, const std::string& key, int status,
                               const Value& body) {
  ClientThread& of = threads_[thread];
  if (status < kRefused) {
    of.runs[key] = text_in(body, "run_id");
  } else if (!of.may_be_deleted && !of.may_lose_runs && !key.starts_with("resume")) {
    machine_.trouble("P: " + key + " was refused: " + to_json(body));
  }
}

std::string ProtocolClients::any_thread() {
  std::vector<std::string> known;
  for (const auto& [thread, of] : threads_) {
    if (!of.runs.empty() && !of.may_be_deleted && !of.may_lose_runs) known.push_back(thread);
  }
  return known.empty() ? std::string() : known[random_.bits() % known.size()];
}

void ProtocolClients::cancel_something() {
  std::string thread = any_thread();
  if (thread.empty()) return;
  const auto& runs = threads_[thread].runs;
  auto run = std::next(runs.begin(), static_cast<std::ptrdiff_t>(random_.bits() % runs.size()));
  cancelled_.insert(thread);
  std::string path = "/threads/" + thread + "/runs/" + run->second + "/cancel";
  want("cancel-" + std::to_string(requests_++), {"POST", std::move(path), "", nullptr, {}});
}

void ProtocolClients::copy_something() {
  std::string thread = any_thread();
  if (thread.empty()) return;
  Request request{"POST", "/threads/" + thread + "/copy", "", nullptr, {}};
  request.answered = [this, thread](int status, const Value& body) {
    std::string copy = text_in(body, "thread_id");
    if (status >= kRefused) return;
    copies_.insert(copy);
    cancelled_.insert(copy);  // a copy can end with the run that it was made of
  };
  want("copy-" + std::to_string(requests_++), std::move(request));
}

void ProtocolClients::delete_something() {
  std::string thread = any_thread();
  if (thread.empty()) return;
  if (random_.bits() % 2 == 0) return delete_run(thread);
  threads_[thread].may_be_deleted = true;
  cancelled_.insert(thread);
  Request request{"DELETE", "/threads/" + thread, "", nullptr, {}};
  request.answered = [this, thread](int status, const Value&) {
    // A thread whose run has not ended is not deleted.
    constexpr int missing = 404;
    threads_[thread].is_deleted = status < kRefused || status == missing;
  };
  want("delete-" + std::to_string(requests_++), std::move(request));
}

// Its thread and the metadata of it remain.
void ProtocolClients::delete_run(const std::string& thread) {
  ClientThread& of = threads_[thread];
  if (of.workload->runs_per_thread > 1) return;
  of.may_lose_runs = true;
  cancelled_.insert(thread);
  std::string path = "/threads/" + thread + "/runs/" + of.runs.begin()->second;
  Request request{"DELETE", std::move(path), "", nullptr, {}};
  request.answered = [this, thread](int status, const Value&) {
    constexpr int missing = 404;
    threads_[thread].has_lost_runs = status < kRefused || status == missing;
  };
  want("delete-" + std::to_string(requests_++), std::move(request));
}

void ProtocolClients::ask_about(const std::string& thread) {
  Request request{"GET", "/threads/" + thread, "", nullptr, {}};
  request.answered = [this, thread](int status, const Value& body) {
    if (status < kRefused) answer(thread, body["interrupts"]);
  };
  want("look-" + std::to_string(requests_++), std::move(request));
}

void ProtocolClients::answer(const std::string& thread, const Value& interrupts) {
  if (!interrupts.as_object() || interrupts.as_object()->empty()) return;
  Value::Object replies;
  for (const auto& [task, list] : *interrupts.as_object()) {
    for (const Value& each : *list.as_array()) {
      // A question about an effect of unknown outcome needs a look at its receiver.
      if (!each["value"]["payload"]["effect"].is_null()) return;
      replies.emplace(text_in(each, "id"), Value(true));
    }
  }
  ClientThread& of = threads_[thread];
  std::string key = "resume-" + std::to_string(requests_++);
  Value body = Value::object({{"assistant_id", assistant_of(of)},
                              {"command", Value::object({{"resume", Value(std::move(replies))}})}});
  begin_run(thread, key, std::move(body));
}

void ProtocolClients::look_around() {
  std::vector<std::string> late;
  for (const auto& [key, request] : waiting_) {
    if (machine_.agenda.now() - request.asked >= kSentAgain) late.push_back(key);
  }
  for (const std::string& key : late) try_now(key);
  std::string thread = any_thread();
  if (!thread.empty() && !is_ending_) ask_about(thread);
}

}  // namespace belay::simulation
