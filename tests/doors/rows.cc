#include "tests/doors/rows.h"

namespace belay::doors {
namespace {

// Days of the world created by doors.cc: hard has risk 7, calm 1.
constexpr const char* kHard = "2024-01-15";
constexpr const char* kCalm = "2024-01-16";

Start on(const char* date) {
  Start start;
  start.date = date;
  return start;
}

Start routine() {
  Start start = on(kCalm);
  start.agent = "routine";
  return start;
}

template <typename Change>
Start changed(Start start, Change change) {
  change(start);
  return start;
}

Value::Object note(Value::Object members) {
  members.emplace("id", "n");
  members.emplace("content", "Slept well.");
  return members;
}

Value::Object activity(const char* time, const char* words) {
  return {{"time", time}, {"activity", words}, {"expectedBenefit", "Rest"}};
}

Value::Array day(const char* first) {
  return {activity(first, "Breakfast"), activity("12:00", "A walk"), activity("22:00", "Sleep")};
}

// The options of a start, and their bounds.
void add_starts(std::vector<Row>& rows) {
  auto add = [&](std::string name, Start start, std::string expected, unsigned doors = every) {
    rows.push_back({std::move(name), "", {}, std::move(start), std::move(expected), {}, doors});
  };
  // All doors have an option for it: `run` has a flag for "no approval".
  add("a day of risk 7 asks a person", on(kHard), "paused");
  add("a calm day asks nobody", on(kCalm), "completed saved");
  add("a day without notes", on("2024-03-01"), "completed nothing_to_do");
  add("a start may want no approval", changed(on(kHard), [](Start& s) { s.no_approval = true; }),
      "completed saved");
  for (const char* date : {"2024-02-30", "15/01/2024", "the day before"}) {
    add("no day: " + std::string(date), on(date), "invalid");
  }
  add("no day at all", on(""), "invalid");
  add("no language", changed(on(kHard), [](Start& s) { s.language = "fr"; }), "invalid");
  for (std::int64_t attempts : {-1, 0, 21}) {
    add(std::to_string(attempts) + " attempts",
        changed(on(kHard), [&](Start& s) { s.attempts = attempts; }), "invalid");
  }
  for (std::int64_t timeout : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{31'536'000'001}}) {
    add("a time-out of " + std::to_string(timeout) + " ms",
        changed(on(kHard), [&](Start& s) { s.timeout_ms = timeout; }), "invalid");
  }
  add("the longest time-out", changed(on(kHard), [](Start& s) { s.timeout_ms = 31'536'000'000; }),
      "paused");
  // The command line has no option for the zone, only the setting.
  unsigned with_word = library | agent_route | runs_route;
  add("no time zone", changed(on(kHard), [](Start& s) { s.time_zone = "Europe/Nowhere"; }),
      "invalid", with_word);
}

// AGENT_...: defaults for options that a start leaves unset.
void add_agent_settings(std::vector<Row>& rows) {
  auto add = [&](std::string name, std::string about, std::map<std::string, std::string> set,
                 Start start, std::string expected, std::vector<std::string> look = {},
                 unsigned doors = every) {
    rows.push_back({std::move(name), std::move(about), std::move(set), std::move(start),
                    std::move(expected), std::move(look), doors});
  };
  const char* approval = "AGENT_REQUIRE_APPROVAL";
  add("nobody is to be asked", "agent_require_approval", {{approval, "false"}}, on(kHard),
      "completed saved");
  add("somebody is to be asked", "agent_require_approval", {{approval, "true"}}, on(kHard),
      "paused");
  add("a start counts more", "agent_require_approval", {{approval, "true"}},
      changed(on(kHard), [](Start& s) { s.no_approval = true; }), "completed saved");
  const char* attempts = "AGENT_MAX_RETRIES";
  const char* fails = "BELAY_TEST_MODEL_FAILS";
  add("two failures, three attempts", "agent_max_retries", {{fails, "2"}}, on(kHard),
      "paused {retryCount=2}", {"retryCount"});
  add("one attempt", "agent_max_retries", {{attempts, "1"}, {fails, "1"}}, on(kHard),
      "failed {error.code=unavailable}", {"error.code"});
  add("a start counts more", "agent_max_retries", {{attempts, "1"}, {fails, "1"}},
      changed(on(kHard), [](Start& s) { s.attempts = 2; }), "paused {retryCount=1}",
      {"retryCount"});
  std::map<std::string, std::string> hanging = {{"BELAY_MODEL", "ollama:hang"},
                                                {"BELAY_MODEL_URL", "{hang}"}};
  auto with = [](std::map<std::string, std::string> all, const char* name, const char* value) {
    all[name] = value;
    return all;
  };
  const char* late = "failed {error.code=exhausted}";
  add("half a second", "agent_timeout_ms", with(hanging, "AGENT_TIMEOUT_MS", "500"), on(kHard),
      late, {"error.code"});
  add("a start counts more", "agent_timeout_ms", with(hanging, "AGENT_TIMEOUT_MS", "600000"),
      changed(on(kHard), [](Start& s) { s.timeout_ms = 500; }), late, {"error.code"});
  add("the model's server and its time", "model", with(hanging, "BELAY_MODEL_TIMEOUT", "300ms"),
      changed(on(kHard), [](Start& s) { s.attempts = 1; }), "failed {error.code=unavailable}",
      {"error.code"});
}

void add_settings_of_the_person(std::vector<Row>& rows) {
  auto add = [&](std::string name, std::string about, std::map<std::string, std::string> set,
                 Start start, std::string expected, std::vector<std::string> look,
                 unsigned doors = every) {
    rows.push_back({std::move(name), std::move(about), std::move(set), std::move(start),
                    std::move(expected), std::move(look), doors});
  };
  const char* zone = "BELAY_TIME_ZONE";
  for (const char* name : {"Europe/Madrid", "Pacific/Kiritimati", "UTC"}) {
    add("its zone", "time_zone", {{zone, name}}, on(kHard),
        "paused {state.timeZone=" + std::string(name) + "}", {"state.timeZone"});
  }
  add("its today", "time_zone", {{zone, "Pacific/Kiritimati"}}, on("today"),
      "completed nothing_to_do {state.date=today in Pacific/Kiritimati}", {"state.date"});
  add("its today", "time_zone", {{zone, "Pacific/Pago_Pago"}}, on("today"),
      "completed nothing_to_do {state.date=today in Pacific/Pago_Pago}", {"state.date"});
  add("a start counts more", "time_zone", {{zone, "Europe/Madrid"}},
      changed(on(kHard), [](Start& s) { s.time_zone = "America/Lima"; }),
      "paused {state.timeZone=America/Lima}", {"state.timeZone"},
      library | agent_route | runs_route);
  add("its language", "language", {{"BELAY_LANGUAGE", "es"}}, on(kHard),
      "paused {state.language=es}", {"state.language"});
  add("the notes' language", "language", {}, on(kHard), "paused {state.language=en}",
      {"state.language"});
  add("a start counts more", "language", {{"BELAY_LANGUAGE", "es"}},
      changed(on(kHard), [](Start& s) { s.language = "en"; }), "paused {state.language=en}",
      {"state.language"});
  // The third day has risk 8.
  add("where help is to be had", "help_text", {{"BELAY_HELP_TEXT", "Call 112"}}, on("2024-01-17"),
      "paused {state.analysis.localHelp=Call 112}", {"state.analysis.localHelp"});
}

void add_decisions(std::vector<Row>& rows) {
  auto add = [&](std::string name, Start start, Value::Object changes, std::string expected,
                 unsigned doors = every) {
    Approve approve{std::move(start), std::move(changes)};
    rows.push_back({std::move(name), "", {}, std::move(approve), std::move(expected), {}, doors});
  };
  add("an analysis as it is shown", on(kHard), {}, "completed saved");
  add("another summary", on(kHard), {{"summary", "My own words."}}, "completed saved");
  add("another risk", on(kHard), {{"riskLevel", 4}}, "completed saved");
  add("no risk at all", on(kHard), {{"riskLevel", Value()}}, "completed saved");
  for (int risk : {-1, 0, 11, 99}) {
    add("risk " + std::to_string(risk), on(kHard), {{"riskLevel", risk}}, "invalid");
  }
  add("risk in words", on(kHard), {{"riskLevel", "high"}}, "invalid");
  add("no summary", on(kHard), {{"summary", " "}}, "invalid");
  add("a member that there is none of", on(kHard), {{"mood", 1}}, "invalid");
  add("a routine as it is shown", routine(), {}, "completed saved");
  add("another day", routine(), {{"activities", day("08:00")}}, "completed saved");
  add("no time of day", routine(), {{"activities", day("99:99")}}, "invalid");
  add("times that go back", routine(), {{"activities", day("13:00")}}, "invalid");
  Value::Array one{activity("08:00", "Breakfast")};
  add("one activity", routine(), {{"activities", std::move(one)}}, "invalid");
  add("no activities", routine(), {{"activities", Value::Array{}}}, "invalid");
}

void add_records(std::vector<Row>& rows) {
  auto add = [&](std::string name, std::string collection, Value::Object members,
                 std::string expected, std::vector<std::string> look = {}, std::string zone = "") {
    bool is_note = collection == "notes";
    Save save{std::move(collection), std::move(members)};
    // The command line has no commands for summaries and routines. The caller's zone determines the
    // user's day, not the zone of the server.
    unsigned doors = is_note ? zone.empty() ? every : every & ~unsigned{server}
                             : library | agent_route | runs_route;
    std::map<std::string, std::string> set;
    if (!zone.empty()) set["BELAY_TIME_ZONE"] = zone;
    rows.push_back({std::move(name), zone.empty() ? "" : "time_zone", std::move(set),
                    std::move(save), std::move(expected), std::move(look), doors});
  };
  add("a note", "notes", note({{"date", kHard}}), "saved {date=2024-01-15}", {"date"});
  add("a note keeps the time of its writing", "notes",
      note({{"date", kHard}, {"createdAt", "2022-03-03T20:00:00Z"}}),
      "saved {createdAt=2022-03-03T20:00:00.000000Z}", {"createdAt"});
  add("a note of the day of its writing", "notes", note({{"createdAt", "2022-03-03T23:30:00Z"}}),
      "saved {date=2022-03-04}", {"date"}, "Europe/Madrid");
  add("a note of the day of its writing", "notes", note({{"createdAt", "2022-03-03T23:30:00Z"}}),
      "saved {date=2022-03-03}", {"date"}, "America/Lima");
  add("a note of no day", "notes", note({}), "invalid");
  add("a note of tomorrow's tomorrow", "notes",
      note({{"date", kHard}, {"createdAt", "2200-01-01T00:00:00Z"}}), "invalid");
  add("a note of no time", "notes", note({{"date", kHard}, {"createdAt", "yesterday"}}), "invalid");
  add("a note of a day that there is none of", "notes", note({{"date", "2024-02-30"}}), "invalid");
  add("an empty note", "notes", {{"id", "n"}, {"date", kHard}, {"content", ""}}, "invalid");
  add("a blank note", "notes", {{"id", "n"}, {"date", kHard}, {"content", " \n"}}, "invalid");
  add("a note with a member too many", "notes", note({{"date", kHard}, {"mood", 1}}), "invalid");
  Value::Object summary{{"date", kHard}, {"summary", "A day."}, {"riskLevel", 3}};
  auto with = [](Value::Object members, const char* name, Value value) {
    members.insert_or_assign(name, std::move(value));
    return members;
  };
  add("a summary", "summaries", summary, "saved {riskLevel=3}", {"riskLevel"});
  add("a summary of risk 99", "summaries", with(summary, "riskLevel", 99), "invalid");
  add("a summary of nothing", "summaries", with(summary, "summary", ""), "invalid");
  Value::Object routine{{"date", kHard}, {"activities", day("08:00")}};
  add("a routine", "routines", routine, "saved");
  add("a routine of no time", "routines", with(routine, "activities", day("99:99")), "invalid");
  add("a routine of nothing", "routines", with(routine, "activities", Value::Array{}), "invalid");
}

// Limits on the runs that requests start. They apply to each door of a server, and to no run that a
// process starts itself.
void add_limits(std::vector<Row>& rows) {
  auto add = [&](std::string name, std::string about, std::map<std::string, std::string> set,
                 Start start, std::string expected, unsigned doors, bool is_busy) {
    std::vector<std::string> look;
    if (expected.find("error.code") != std::string::npos) look = {"error.code"};
    rows.push_back({std::move(name), std::move(about), std::move(set), std::move(start),
                    std::move(expected), std::move(look), doors, "", is_busy});
  };
  // Rows with the same settings share a server, and are played in this order.
  std::map<std::string, std::string> one = {{"BELAY_STARTS_PER_MINUTE", "1"}};
  add("the first start", "starts_per_minute", one, on(kCalm), "completed saved", every, false);
  add("the second start of a request", "starts_per_minute", one, on(kCalm), "unavailable",
      through_server, false);
  add("the second start of a process", "starts_per_minute", one, on(kCalm), "completed saved",
      library | command, false);
  // The run in progress has a longer timeout, and remains.
  Start brief = changed(on(kHard), [](Start& s) { s.timeout_ms = 500; });
  for (auto [about, variable] : {std::pair("starts_at_work", "BELAY_STARTS_AT_WORK"),
                                 {"runs_per_user", "BELAY_RUNS_PER_USER"}}) {
    std::map<std::string, std::string> set = {
        {"BELAY_MODEL", "ollama:hang"}, {"BELAY_MODEL_URL", "{hang}"}, {variable, "1"}};
    add("a second run", about, set, brief, "unavailable", through_server, true);
    set[variable] = "2";
    add("two runs", about, set, brief, "failed {error.code=exhausted}", through_server, true);
  }
}

// Permissions of API keys, which only servers have. If a key lacks the permission of a route, the
// request is rejected by its head, before its body is read: tests/permissions has each route.
void add_permissions(std::vector<Row>& rows) {
  auto add = [&](std::string name, std::string about, std::string key,
                 std::map<std::string, std::string> set, std::variant<Start, Approve, Save> asked,
                 std::string expected) {
    rows.push_back({std::move(name),
                    std::move(about),
                    std::move(set),
                    std::move(asked),
                    std::move(expected),
                    {},
                    through_server,
                    std::move(key)});
  };
  const char* takes = "BELAY_NO_APPROVAL_TAKES";
  Start unasked = changed(on(kHard), [](Start& s) { s.no_approval = true; });
  add("a key that permits reading only", "", "read", {}, on(kHard), "forbidden");
  add("a key that permits runs", "", "run", {}, on(kHard), "paused");
  add("a key that does not permit decisions", "", "run", {}, Approve{on(kHard), {}}, "forbidden");
  add("without approval", "no_approval_takes", "run", {}, unasked, "forbidden");
  add("without approval", "no_approval_takes", "decide", {}, unasked, "completed saved");
  add("without approval", "no_approval_takes", "run", {{takes, "run"}}, unasked, "completed saved");
  add("without approval", "no_approval_takes", "administer", {{takes, "never"}}, unasked,
      "forbidden");
  add("a key that permits decisions", "", "decide", {}, Approve{on(kHard), {}}, "completed saved");
}

std::vector<Row> made_rows() {
  std::vector<Row> rows;
  add_starts(rows);
  add_agent_settings(rows);
  add_settings_of_the_person(rows);
  add_decisions(rows);
  add_records(rows);
  add_limits(rows);
  add_permissions(rows);
  return rows;
}

// The settings of `research`, which all its processes use.
void add_settings_of_research(std::map<std::string, std::string>& reasons) {
  static const std::string fetch = "requests of fetch: agents/research/edgar/edgar_client_test.cc";
  static const std::string graph = "delivery of findings: agents/research/graph";
  const std::string analysis = "agents/research/analysis/analysis_test.cc";
  reasons["research_data"] = "files of an analysis, in any process: tests/research/verify";
  reasons["research_folders"] = "files of an analysis: " + analysis;
  reasons["research_checkpoints"] = "checkpoints of an analysis: " + analysis;
  for (const char* name :
       {"research_edgar_user_agent", "research_edgar_files_url", "research_edgar_data_url"}) {
    reasons[name] = fetch;
  }
  for (const char* name :
       {"research_graph", "research_graph_folder", "research_graph_dialect", "research_neo4j_url",
        "research_neo4j_database", "research_neo4j_user", "research_neo4j_password_file",
        "research_neo4j_token_file", "research_neo4j_plain_text"}) {
    reasons[name] = graph;
  }
}

std::map<std::string, std::string> reasons_without_rows() {
  static const std::string store = "where the store is and how it is kept: tests/cli/store_test.cc";
  static const std::string door = "which door it is";
  static const std::string model = "a call of the model's, in whatever process: src/models";
  static const std::string worker = "what workers take up: tests/cli/worker_test.cc";
  static const std::string redis = "a tier between processes: tests/redis";
  std::map<std::string, std::string> reasons = {
      {"store", store},
      {"key_file", store},
      {"compression", store},
      {"notify_url", store},
      {"server", door},
      {"blocking_threads", "threads of a process, no effect on results: src/base/task_test.cc"},
      {"egress_hosts", "destinations of nodes, in any process: src/net/egress_test.cc"},
      {"egress_networks", "destinations of nodes, in any process: src/net/egress_test.cc"},
      {"egress_ports", "destinations of nodes, in any process: src/net/egress_test.cc"},
      {"assistant_folders", "tools of the assistant, in any process: tests/cli/assistant_test.cc"},
      {"assistant_files", "tools of the assistant, in any process: tests/cli/assistant_test.cc"},
      {"goals_folders", "tools of goals, in any process: tests/cli/goals_test.cc"},
      {"goals_files", "tools of goals, in any process: tests/cli/goals_test.cc"},
      {"trusted_proxies", "of serve alone: tests/cli/limits_test.cc"},
      {"roles", "of who decides, which a key says for itself: tests/cli/approvals_test.cc"},
      {"api_key_file", door},
      {"user", "whose it is: with keys the key's, tests/server; without them tests/cli"},
      {"worker_name", worker},
      {"failure_webhook_url", "of serve and worker, no effect on runs: src/telemetry"},
      {"log_level", "of serve and worker, no effect on runs: tests/cli/log_test.cc"},
      {"log_format", "of serve and worker, no effect on runs: tests/cli/log_test.cc"},
      {"runs_per_key", worker},
      {"runs_per_queue", worker},
      {"redis", redis},
      {"redis_for", redis},
      {"redis_prefix", redis},
      {"redis_ca_file", redis},
      {"metrics_batch_interval_ms", "of serve and worker, no effect on runs: docs/analytics.md"},
      {"model_url", "row \"the model's server and its time\""},
      {"model_timeout", "row \"the model's server and its time\""},
      {"model_cache", model},
      {"model_prices", model},
      {"model_max_tokens", model},
      {"model_context", model},
      {"model_concurrent", model},
      {"model_calls_per_minute", model},
      {"model_connect_timeout", model},
      {"model_first_byte_timeout", model},
      {"model_idle_timeout", model},
      {"model_certificates", model},
      {"model_prompts", model},
  };
  add_settings_of_research(reasons);
  return reasons;
}

}  // namespace

const std::vector<Row>& rows() {
  static const std::vector<Row> made = made_rows();
  return made;
}

const std::map<std::string, std::string>& settings_without_rows() {
  static const std::map<std::string, std::string> reasons = reasons_without_rows();
  return reasons;
}

}  // namespace belay::doors
