#include "tests/doors/doors.h"

#include <sys/stat.h>

#include "tests/cli/served.h"

namespace belay::doors {
namespace {

using cli::tests::Got;
using cli::tests::Outcome;
using cli::tests::Served;
using cli::tests::text;
using cli::tests::Words;
using cli::tests::World;

using Environment = std::map<std::string, std::string>;

// True for settings of the user and the user's runs; the others are set for the executing process.
bool is_of_the_person(std::string_view variable) {
  return variable.starts_with("AGENT_") || variable == "BELAY_TIME_ZONE" ||
         variable == "BELAY_LANGUAGE";
}

Came came_of(const Outcome& outcome) {
  Came came{outcome.json(), "", outcome.err};
  came.error = came.document["error"]["message"].is_null() || came.document.find("runId")
                   ? ""
                   : text(came.document["error"]["code"]);
  return came;
}

Came came_of(const Got& got) {
  Came came{got.json(), "", got.body};
  bool is_problem = got.type.starts_with("application/problem+json");
  // If the run failed, the response is a problem that contains the run.
  if (is_problem && came.document["run"].is_null()) came.error = text(came.document["code"]);
  if (!came.document["run"].is_null()) came.document = Value(came.document["run"]);
  return came;
}

Value with_changes(Value payload, const Value::Object& changes) {
  for (const auto& [name, value] : changes) payload.as_object()->insert_or_assign(name, value);
  return payload;
}

constexpr const char* kToken = "token-of-the-caller-0001";

// Returns the options of a server with one API key, which belongs to the user of the notes.
Words options_with(const World& world, const std::string& permission) {
  if (permission.empty()) return {};
  std::string file = world.write("keys", "local " + permission + " " + kToken + "\n");
  ::chmod(file.c_str(), 0600);
  return {"--api-keys", file};
}

bool start_one(Served& served) {
  Value input = Value::object({{"date", "2024-01-15"}, {"language", ""}, {"timeZone", ""}});
  Value body = Value::object({{"input", std::move(input)}});
  Got got =
      served.send("POST", "/api/agents/daily_auditor/runs", to_json(body), {{"Prefer", "wait=0"}});
  return got.status == 202 && text(got.json()["status"]) == "running";
}

std::string line_of(const Save& save) { return to_json(Value(save.members)) + "\n"; }

// The belay command, with a store or with a server.
class CommandDoor final : public Door {
 public:
  CommandDoor(unsigned door, const Environment& environment, const std::string& key) {
    for (const auto& [name, value] : environment) {
      bool at_server = door == doors::server || (door == remote && !is_of_the_person(name));
      (at_server ? of_server_ : world_.setting.environment)[name] = value;
    }
    // Not every key permits an import.
    if (!key.empty()) world_.run({"notes", "import", "-"}, notes_of_the_world());
    if (door != command) serve(key);
    if (key.empty()) world_.run({"notes", "import", "-"}, notes_of_the_world());
  }

  Came start(const Start& start) override {
    thread_ = "t" + std::to_string(++asked_);
    Words words = {"run", start.agent, "--date", start.date, "--thread", thread_, "--json"};
    auto add = [&](const char* flag, const std::string& value) {
      words.insert(words.end(), {flag, value});
    };
    if (!start.language.empty()) add("--language", start.language);
    if (start.attempts) add("--max-retries", std::to_string(*start.attempts));
    if (start.timeout_ms) add("--timeout", std::to_string(*start.timeout_ms));
    if (start.no_approval) words.emplace_back("--no-approval");
    return came_of(world_.run(words));
  }

  Came approve(const Approve& approve) override {
    start(approve.start);
    Value waiting = world_.run({"state", thread_, "--json"}).json();
    Value payload = with_changes(waiting["approval"]["payload"], approve.changes);
    Words words = {"approvals", "approve", thread_, "--json"};
    if (!approve.changes.empty()) words.insert(words.end(), {"--edit", "-"});
    Came came = came_of(world_.run(words, to_json(payload)));
    if (came.error.empty()) came.document = Value(came.document["run"]);
    came.left = text(world_.run({"state", thread_, "--json"}).json()["status"]);
    return came;
  }

  Came save(const Save& save) override {
    // Each record belongs to a user without other records.
    std::string user = "u" + std::to_string(++asked_);
    Words words = {"notes", "import", "-", "--json", "--user", user};
    Came came = came_of(world_.run(words, line_of(save)));
    words = {"notes", "show", "n", "--json", "--user", user};
    if (came.error.empty()) came = came_of(world_.run(words));
    return came;
  }

  bool occupy() override { return served_ && start_one(*served_); }

 private:
  void serve(const std::string& key) {
    cli::tests::Setting setting = world_.setting;
    for (auto each = setting.environment.begin(); each != setting.environment.end();) {
      each = is_of_the_person(each->first) ? setting.environment.erase(each) : std::next(each);
    }
    for (const auto& [name, value] : of_server_) setting.environment[name] = value;
    served_ = std::make_unique<Served>(setting, options_with(world_, key));
    if (!key.empty()) world_.setting.environment["BELAY_API_KEY"] = kToken;
    world_.setting.environment.erase("BELAY_STORE");
    world_.setting.environment["BELAY_SERVER"] = served_->url("");
  }

  int asked_ = 0;
  std::string thread_;  // of the newest run
  World world_;
  Environment of_server_;
  std::unique_ptr<Served> served_;
};

// Requests to a server that has the row's environment.
class HttpDoor final : public Door {
 public:
  HttpDoor(unsigned door, const Environment& environment, const std::string& key)
      : by_agent_(door == agent_route), has_key_(!key.empty()) {
    for (const auto& [name, value] : environment) world_.setting.environment[name] = value;
    cli::tests::run_belay({"notes", "import", "-"}, importing());
    served_ = std::make_unique<Served>(world_.setting, options_with(world_, key));
  }

  Came start(const Start& start) override {
    thread_ = "t" + std::to_string(++asked_);
    return by_agent_ ? at_agent_route(start) : at_runs_route(start);
  }

  Came approve(const Approve& approve) override {
    start(approve.start);
    Value waiting = ask("GET", "/api/threads/" + thread_).json();
    Value::Object body{{"approved", true}};
    if (!approve.changes.empty()) {
      body["edited"] = with_changes(waiting["approval"]["payload"], approve.changes);
    }
    std::string id = text(waiting["approval"]["interruptId"]);
    std::string path =
        by_agent_ ? "/api/agents/approve/" + thread_ : "/api/approvals/" + id + "/decision";
    Came came = came_of(ask("POST", path, to_json(Value(std::move(body)))));
    came.left = text(ask("GET", "/api/threads/" + thread_).json()["status"]);
    return came;
  }

  Came save(const Save& save) override {
    std::string path = "/api/" + save.collection;
    Value::Object body = save.members;
    std::string method = "POST";
    if (!by_agent_) {
      const char* key = save.collection == "notes" ? "id" : "date";
      path += "/" + text(body[key]);
      method = "PUT";
    }
    path += "?userId=u" + std::to_string(++asked_);
    return came_of(ask(method, path, to_json(Value(std::move(body)))));
  }

  bool occupy() override { return start_one(*served_); }

 private:
  Got ask(const std::string& method, const std::string& path, const std::string& body = {}) {
    std::vector<net::HttpHeader> headers;
    if (has_key_) headers.push_back({"Authorization", std::string("Bearer ") + kToken});
    return served_->send(method, path, body, std::move(headers));
  }
  cli::tests::Setting importing() {
    cli::tests::Setting setting = world_.setting;
    setting.input = notes_of_the_world();
    return setting;
  }

  Came at_agent_route(const Start& start) {
    Value::Object body{{"date", start.date}, {"threadId", thread_}};
    if (!start.language.empty()) body["language"] = start.language;
    if (!start.time_zone.empty()) body["timeZone"] = start.time_zone;
    if (start.attempts) body["maxRetries"] = *start.attempts;
    if (start.timeout_ms) body["timeout"] = *start.timeout_ms;
    if (start.no_approval) body["requiresHumanApproval"] = false;
    std::string path = start.agent == "routine" ? "generate-routine" : start.agent;
    return came_of(ask("POST", "/api/agents/" + path, to_json(Value(std::move(body)))));
  }

  Came at_runs_route(const Start& start) {
    Value input = Value::object(
        {{"date", start.date}, {"language", start.language}, {"timeZone", start.time_zone}});
    Value::Object body{{"input", std::move(input)}, {"threadId", thread_}};
    if (start.attempts) body["maxRetries"] = *start.attempts;
    if (start.timeout_ms) body["timeoutMs"] = *start.timeout_ms;
    if (start.no_approval) body["requireApproval"] = false;
    std::string graph = start.agent == "routine" ? "routine_generator" : "daily_auditor";
    return came_of(ask("POST", "/api/agents/" + graph + "/runs", to_json(Value(std::move(body)))));
  }

  bool by_agent_;
  bool has_key_;
  int asked_ = 0;
  std::string thread_;  // of the newest run
  World world_;
  std::unique_ptr<Served> served_;
};

}  // namespace

std::string notes_of_the_world() {
  return cli::tests::note_line("2024-01-15", cli::tests::hard_day()) +
         cli::tests::note_line("2024-01-16", "I slept well and had a good day with my friends.") +
         cli::tests::note_line("2024-01-17", cli::tests::crisis_day());
}

std::unique_ptr<Door> make_door(unsigned door, Environment environment, const std::string& key) {
  if (door == library) return make_library_door(std::move(environment));
  if (door == agent_route || door == runs_route) {
    return std::make_unique<HttpDoor>(door, environment, key);
  }
  return std::make_unique<CommandDoor>(door, environment, key);
}

std::string name_of_door(unsigned door) {
  switch (door) {
    case library:
      return "library";
    case command:
      return "command";
    case remote:
      return "remote";
    case server:
      return "server";
    case agent_route:
      return "agent route";
    default:
      return "runs route";
  }
}

}  // namespace belay::doors
