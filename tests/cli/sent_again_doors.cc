// Requests that change something, of protocols of other clients.

#include <gtest/gtest.h>

#include "tests/cli/sent_again.h"

namespace belay::cli::tests {

std::vector<Case> checkpointer_cases() {
  std::vector<Case> all;
  const std::string routes = "/api/langgraph/";
  const std::string typed = R"({"type":"json","data":"e30="})";
  const std::string saved = R"({"threadId":"t","checkpointId":"c","checkpoint":)" + typed +
                            R"(,"metadata":)" + typed + "}";
  const std::string writes = R"({"threadId":"t","checkpointId":"c","taskId":"k","writes":[)"
                             R"({"channel":"x","value":)" +
                             typed + "}]}";
  const std::string part =
      R"({"threadId":"t","blob":"00000000-0000-4000-8000-000000000001","part":0)";
  all.push_back({"putLangGraphCheckpoint", at(routes + "checkpoints", saved), {204}, {204}});
  all.push_back({"putLangGraphWrites", at(routes + "writes", writes), {204}, {204}});
  all.push_back(
      {"putLangGraphPart", at(routes + "parts", part + R"(,"data":"e30="})"), {204}, {204}});
  all.push_back({"getLangGraphPart", at(routes + "parts/get", part + "}")});
  all.push_back({"getLangGraphCheckpoint",
                 at(routes + "checkpoints/get", R"({"threadId":"t","checkpointId":"c"})")});
  all.push_back({"listLangGraphCheckpoints",
                 at(routes + "checkpoints/list", R"({"threadId":"t","checkpointId":"c"})")});
  all.push_back({"getLangGraphHistory",
                 at(routes + "checkpoints/history", R"({"threadId":"t","channels":["x"]})")});
  // Of a thread that no other case changes: a copy of another state would be a conflict.
  Prepare copy = [routes, typed](Served& served) {
    Got put = served.post(routes + "checkpoints",
                          R"({"threadId":"copied","checkpointId":"c","checkpoint":)" + typed +
                              R"(,"metadata":)" + typed + "}");
    EXPECT_EQ(put.status, 204) << put.body;
    return Sent{"POST", routes + "threads/copy", R"({"source":"copied","target":"copy"})"};
  };
  all.push_back({"copyLangGraphThread", std::move(copy), {204}, {204}});
  // The second request finds nothing to delete; both leave the same records.
  const std::set<std::string> counts{"checkpoints", "writes", "blobs", "parts", "removed"};
  all.push_back({"deleteLangGraphThread",
                 at(routes + "threads/delete", R"({"threadId":"gone"})"),
                 {200},
                 {200},
                 counts});
  all.push_back({"pruneLangGraphThreads",
                 at(routes + "threads/prune", R"({"threadIds":["t"],"strategy":"keep_latest"})"),
                 {200},
                 {200},
                 counts});
  all.push_back(
      {"deleteLangGraphRuns", at(routes + "runs/delete", R"({"runIds":["gone"]})"), {200}, {200}});
  return all;
}

namespace {

// Creates the object with a request, and sends the other one to it.
Prepare after(std::string path, std::string body, Sent sent) {
  return [path = std::move(path), body = std::move(body), sent = std::move(sent)](Served& served) {
    Got made = served.post(path, body);
    EXPECT_EQ(made.status, 200) << made.body;
    return sent;
  };
}

std::string uuid_of(int number) {
  constexpr int digits = 100;  // so that each number has three
  return "00000000-0000-4000-8000-000000000" + std::to_string(digits + number);
}

void add_assistants(std::vector<Case>& all) {
  auto graph = [](int number) {
    return R"({"graph_id":"daily_auditor","assistant_id":")" + uuid_of(number) + "\"";
  };
  auto on = [&graph](int number, std::string method, const std::string& more, std::string body) {
    Sent sent{std::move(method), "/assistants/" + uuid_of(number) + more, std::move(body)};
    return after("/assistants", graph(number) + "}", std::move(sent));
  };
  const std::set<std::string> times{"created_at", "updated_at"};
  all.push_back({"agentServerCreateAssistant",
                 at("/assistants", graph(1) + R"(,"if_exists":"do_nothing"})"),
                 {200},
                 {200},
                 times});
  all.push_back({"agentServerUpdateAssistant",
                 on(2, "PATCH", "", R"({"name":"Second"})"),
                 {200},
                 {200},
                 times});
  all.push_back({"agentServerSetLatestVersion",
                 on(3, "POST", "/latest", R"({"version":1})"),
                 {200},
                 {200},
                 times});
  all.push_back({"agentServerDeleteAssistant", on(4, "DELETE", "", ""), {200, 404}, {404}});
  const std::string auditor = "/assistants/daily_auditor";
  all.push_back({"agentServerListVersions", at(auditor + "/versions")});
  const std::string own = R"({"graph_id":"routine_generator"})";
  all.push_back({"agentServerSearchAssistants", at("/assistants/search", own)});
  all.push_back({"agentServerCountAssistants", at("/assistants/count", own)});
}

void add_threads(std::vector<Case>& all) {
  auto thread = [](int number) { return R"({"thread_id":")" + uuid_of(number) + "\""; };
  auto on = [&thread](int number, std::string method, const std::string& more, std::string body) {
    Sent sent{std::move(method), "/threads/" + uuid_of(number) + more, std::move(body)};
    return after("/threads", thread(number) + "}", std::move(sent));
  };
  const std::set<std::string> times{"created_at", "updated_at"};
  all.push_back({"agentServerCreateThread",
                 at("/threads", thread(5) + R"(,"if_exists":"do_nothing"})"),
                 {200},
                 {200},
                 times});
  all.push_back({"agentServerUpdateThread",
                 on(6, "PATCH", "", R"({"metadata":{"a":1}})"),
                 {200},
                 {200},
                 times});
  all.push_back({"agentServerDeleteThread", on(7, "DELETE", "", ""), {204, 404}, {404}});
  Prepare copy = [](Served& served) {
    Got made = served.post("/threads", R"({"thread_id":")" + uuid_of(8) + "\"}");
    EXPECT_EQ(made.status, 200) << made.body;
    return Sent{"POST", "/threads/" + uuid_of(8) + "/copy", "{}", {{"Idempotency-Key", "copy-1"}}};
  };
  all.push_back({"agentServerCopyThread", std::move(copy), {200}, {200}, times});
  all.push_back({"agentServerPruneThreads", at("/threads/prune", R"({"thread_ids":[]})")});
  const std::string known = R"({"ids":[")" + uuid_of(30) + "\"]}";
  all.push_back({"agentServerSearchThreads", at("/threads/search", known)});
  all.push_back({"agentServerCountThreads", at("/threads/count", R"({"metadata":{"none":1}})")});
}

void add_states_and_crons(std::vector<Case>& all) {
  const std::string cron =
      R"({"assistant_id":"daily_auditor","schedule":"0 9 * * *","input":{"date":"2026-01-01"}})";
  auto keyed = [cron](std::string path, std::string key) -> Prepare {
    return [cron, path = std::move(path), key = std::move(key)](Served& served) {
      served.post("/threads", R"({"if_exists":"do_nothing","thread_id":")" + uuid_of(9) + "\"}");
      return Sent{"POST", path, cron, {{"Idempotency-Key", key}}};
    };
  };
  auto on_cron = [cron](std::string method, std::string body) -> Prepare {
    return [cron, method = std::move(method), body = std::move(body)](Served& served) {
      Got made = served.post("/runs/crons", cron);
      EXPECT_EQ(made.status, 200) << made.body;
      return Sent{method, "/runs/crons/" + text(made.json()["cron_id"]), body};
    };
  };
  const std::string of_thread = "/threads/" + uuid_of(9);
  all.push_back(
      {"agentServerCreateCron", keyed("/runs/crons", "cron-1"), {200}, {200}, {"updated_at"}});
  all.push_back({"agentServerCreateThreadCron",
                 keyed(of_thread + "/runs/crons", "cron-2"),
                 {200},
                 {200},
                 {"updated_at"}});
  all.push_back({"agentServerUpdateCron",
                 on_cron("PATCH", R"({"metadata":{"a":1}})"),
                 {200},
                 {200},
                 {"updated_at"}});
  all.push_back({"agentServerDeleteCron", on_cron("DELETE", ""), {204, 404}, {404}});
  const std::string none = R"({"metadata":{"none":1}})";
  all.push_back({"agentServerSearchCrons", at("/runs/crons/search", none)});
  all.push_back({"agentServerCountCrons", at("/runs/crons/count", none)});
  auto on_thread = [](const std::string& more, std::string body) {
    Sent sent{"POST", "/threads/" + uuid_of(9) + more, std::move(body)};
    return after("/threads", R"({"if_exists":"do_nothing","thread_id":")" + uuid_of(9) + "\"}",
                 std::move(sent));
  };
  all.push_back({"agentServerSearchHistory", on_thread("/history", "{}")});
  all.push_back({"agentServerGetStateOfCheckpoint", on_thread("/state/checkpoint", "{}")});
  const char* read = R"({"id":1,"method":"state.get","params":{}})";
  all.push_back({"agentServerRunCommand", on_thread("/commands", read)});
  all.push_back({"agentServerStreamThreadEvents",
                 on_thread("/stream/events", R"({"channels":"x"})"),
                 {422},
                 {422}});
  all.push_back({"agentServerUpdateState", on_thread("/state", "{}"), {400}, {400}});
}

// Each change has a key, and leaves a run that is held before its first node.
void add_state_changes(std::vector<Case>& all) {
  const std::string change = R"({"values":{"question":"Why?"},"as_node":"__start__"})";
  auto thread = [](int number) {
    return R"({"thread_id":")" + uuid_of(number) +
           R"(","if_exists":"do_nothing","metadata":{"graph_id":"assistant"})";
  };
  Sent made{"POST",
            "/threads",
            thread(31) + R"(,"supersteps":[{"updates":[)" + change + "]}]}",
            {{"Idempotency-Key", "thread-1"}}};
  // The other request can find the thread before its change.
  all.push_back({"agentServerCreateThread",
                 as_it_is(std::move(made)),
                 {200},
                 {200},
                 {"created_at", "updated_at", "state_updated_at", "metadata", "status", "values"}});
  Sent changed{
      "POST", "/threads/" + uuid_of(32) + "/state", change, {{"Idempotency-Key", "state-1"}}};
  all.push_back(
      {"agentServerUpdateState", after("/threads", thread(32) + "}", std::move(changed))});
}

// Each start has a key, and a thread of its name.
void add_starts(std::vector<Case>& all) {
  const std::string start =
      R"({"assistant_id":"daily_auditor","input":{"date":"2026-11-21"},"if_not_exists":"create")";
  auto keyed = [](std::string path, std::string body) {
    std::string key = "run of " + path;
    return as_it_is({"POST", std::move(path), std::move(body), {{"Idempotency-Key", key}}});
  };
  const std::set<std::string> times{"created_at", "updated_at", "status"};
  auto add = [&](std::string operation, const std::string& path) {
    all.push_back({std::move(operation), keyed(path, start + "}"), {200}, {200}, times});
  };
  add("agentServerCreateRun", "/threads/" + uuid_of(1) + "/runs");
  add("agentServerStreamRun", "/threads/" + uuid_of(2) + "/runs/stream");
  add("agentServerWaitForNewRun", "/threads/" + uuid_of(3) + "/runs/wait");
  add("agentServerCreateStatelessRun", "/runs");
  add("agentServerStreamStatelessRun", "/runs/stream");
  add("agentServerWaitForNewStatelessRun", "/runs/wait");
  all.push_back(
      {"agentServerCreateRunBatch", keyed("/runs/batch", "[" + start + "}]"), {200}, {200}, times});
}

void add_run_changes(std::vector<Case>& all) {
  auto on_run = [](std::string method, int number, std::string more, std::string body) -> Prepare {
    return [method, number, more, body](Served& served) {
      const std::string runs = "/threads/" + uuid_of(number) + "/runs";
      Got made = served.post(runs + "/wait", R"({"assistant_id":"daily_auditor",)"
                                             R"("input":{"date":"2026-11-21"},)"
                                             R"("if_not_exists":"create"})");
      EXPECT_EQ(made.status, 200) << made.body;
      Value listed = served.get(runs).json();
      std::string run = text(listed.as_array()->front()["run_id"]);
      return Sent{method, runs + "/" + run + more, body};
    };
  };
  all.push_back({"agentServerCancelRun", on_run("POST", 4, "/cancel", "{}"), {202}, {202}});
  Prepare cancel_named = [on_run](Served& served) {
    Sent sent = on_run("POST", 18, "", "")(served);
    std::string run = sent.path.substr(sent.path.rfind('/') + 1);
    return Sent{"POST", "/runs/cancel",
                R"({"thread_id":")" + uuid_of(18) + R"(","run_ids":[")" + run + "\"]}"};
  };
  all.push_back({"agentServerCancelRuns", std::move(cancel_named), {204}, {204}});
  // A run that waits for a person is not deleted.
  all.push_back({"agentServerDeleteRun", on_run("DELETE", 17, "", ""), {409}, {409}});
}

}  // namespace

std::vector<Case> agent_server_cases() {
  std::vector<Case> all;
  add_assistants(all);
  add_threads(all);
  add_states_and_crons(all);
  add_state_changes(all);
  add_starts(all);
  add_run_changes(all);
  const std::string item = R"({"namespace":["a"],"key":"k")";
  const std::string path = "/store/items";
  Sent put{"PUT", path, item + R"(,"value":{"x":1}})"}, erased{"DELETE", path, item + "}"};
  all.push_back({"agentServerPutItem", as_it_is(std::move(put)), {204}, {204}});
  all.push_back({"agentServerSearchItems", at(path + "/search", R"({"namespace_prefix":["b"]})")});
  all.push_back({"agentServerListNamespaces", at("/store/namespaces", R"({"prefix":["b"]})")});
  all.push_back({"agentServerDeleteItem", as_it_is(std::move(erased)), {204}, {204}});
  return all;
}

std::vector<Case> a2a_cases() {
  const char* task = R"({"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"none"}})";
  return {{"callA2a", at("/a2a/daily_auditor?A2A-Version=1.0", task)}};
}

std::vector<Case> ag_ui_cases() {
  const char* start = R"({"threadId":"ag-ui","runId":"r","messages":[],)"
                      R"("forwardedProps":{"input":{"date":"2026-11-21"}}})";
  return {{"runAgUi", at("/ag-ui/daily_auditor", start)}};
}

}  // namespace belay::cli::tests
