// The routes of protocols of other clients: LangGraph's Agent Server, A2A, AG-UI.

#include "tests/permissions/permission_table.h"

namespace belay::permissions {

std::vector<Entry> agent_server_entries() {
  using enum About;
  const std::string assistants = "/assistants", of_auditor = "/assistants/daily_auditor";
  const std::string items = R"({"namespace":["a"],"key":"k")";
  // The graph has an approval.
  const char* changed = R"({"metadata":{"graph_id":"assistant"},"supersteps":[{"updates":[)"
                        R"({"values":{"question":"Why?"},"as_node":"__start__"}]}]})";
  return {
      {"agentServerIsOk", "", nobody, "/ok"},
      {"agentServerGetInfo", "", nobody, "/info"},
      {"agentServerSearchAssistants", "", nobody, assistants + "/search", "{}"},
      {"agentServerCountAssistants", "", nobody, assistants + "/count", "{}"},
      {"agentServerGetAssistant", "", nobody, of_auditor},
      {"agentServerGetGraph", "", nobody, of_auditor + "/graph"},
      {"agentServerGetSchemas", "", nobody, of_auditor + "/schemas"},
      {"agentServerGetSubgraphs", "", nobody, of_auditor + "/subgraphs"},
      {"agentServerGetSubgraph", "", nobody, of_auditor + "/subgraphs/x"},
      {"agentServerListVersions", "", nobody, of_auditor + "/versions", "{}"},
      {"agentServerCreateAssistant", "", nobody, assistants, R"({"graph_id":"daily_auditor"})"},
      {"agentServerSetLatestVersion", "of an agent", nobody, of_auditor + "/latest",
       R"({"version":1})", 409},
      {"agentServerUpdateAssistant", "of an agent", nobody, of_auditor, "{}", 409},
      {"agentServerDeleteAssistant", "of an agent", nobody, of_auditor, "", 409},
      {"agentServerCreateThread", "", nobody, "/threads", "{}"},
      {"agentServerCreateThread", "with a state", nobody, "/threads", changed, 200, 404,
       Permission::decide},
      {"agentServerSearchThreads", "", nobody, "/threads/search", "{}"},
      {"agentServerCountThreads", "", nobody, "/threads/count", "{}"},
      {"agentServerPruneThreads", "", nobody, "/threads/prune", R"({"thread_ids":[]})"},
      {"agentServerGetThread", "", thing, "/threads/{thread}"},
      {"agentServerUpdateThread", "", thing, "/threads/{thread}", R"({"metadata":{"a":1}})"},
      {"agentServerDeleteThread", "of a paused run", thing, "/threads/{thread}", "", 409},
      {"agentServerCopyThread", "", thing, "/threads/{thread}/copy", "{}", 200, 409, std::nullopt,
       409},
      {"agentServerPutItem", "", nobody, "/store/items", items + R"(,"value":{}})", 204},
      {"agentServerGetItem", "", nobody, "/store/items?namespace=a&key=k"},
      {"agentServerDeleteItem", "", nobody, "/store/items", items + "}", 204},
      {"agentServerSearchItems", "", nobody, "/store/items/search", "{}"},
      {"agentServerListNamespaces", "", nobody, "/store/namespaces", "{}"},
  };
}

std::vector<Entry> agent_server_run_entries() {
  using enum About;
  const std::string start = R"({"assistant_id":"daily_auditor","input":{"date":"2026-01-01"}})";
  return {
      {"agentServerCreateRun", "of another input", thing, "/threads/{thread}/runs", start, 422},
      {"agentServerStreamRun", "of another input", thing, "/threads/{thread}/runs/stream", start,
       422},
      {"agentServerWaitForNewRun", "of another input", thing, "/threads/{thread}/runs/wait", start,
       422},
      {"agentServerCreateStatelessRun", "", nobody, "/runs", start},
      {"agentServerStreamStatelessRun", "", nobody, "/runs/stream", start},
      {"agentServerWaitForNewStatelessRun", "", nobody, "/runs/wait", start},
      {"agentServerCreateRunBatch", "", nobody, "/runs/batch", "[" + start + "]"},
      {"agentServerListRuns", "", thing, "/threads/{thread}/runs"},
      {"agentServerGetRun", "", thing, "/threads/{thread}/runs/{run}"},
      {"agentServerJoinRun", "", thing, "/threads/{thread}/runs/{run}/join"},
      {"agentServerJoinRunStream", "", thing, "/threads/{thread}/runs/{run}/stream"},
      {"agentServerJoinStatelessRunStream", "", thing, "/runs/{run}/stream"},
      {"agentServerCancelRun", "", thing, "/threads/{thread}/runs/{run}/cancel", "{}", 202},
      {"agentServerCancelRuns", "", nobody, "/runs/cancel", R"({"status":"pending"})", 204},
      {"agentServerDeleteRun", "of a paused run", thing, "/threads/{thread}/runs/{run}", "", 409},
  };
}

std::vector<Entry> agent_server_state_entries() {
  using enum About;
  const char* cron = R"({"assistant_id":"daily_auditor","schedule":"0 9 * * *",)"
                     R"("input":{"date":"2026-01-01"}})";
  return {
      // The document of the response contains the error.
      {"agentServerRunCommand", "that reads", thing, "/threads/{thread}/commands",
       R"({"id":1,"method":"state.get","params":{}})", 200, 200, std::nullopt, 200},
      // A stream can be opened before its thread exists.
      {"agentServerStreamThreadEvents", "of no channel", thing, "/threads/{thread}/stream/events",
       R"({"channels":"x"})", 422, 422, std::nullopt, 422},
      {"agentServerOpenThreadSocket", "without an upgrade", thing,
       "/threads/{thread}/stream/events", "", 426, 426, std::nullopt, 426},
      {"agentServerGetState", "", thing, "/threads/{thread}/state"},
      {"agentServerGetStateAt", "of no checkpoint", thing, "/threads/{thread}/state/x", "", 404},
      {"agentServerGetStateOfCheckpoint", "", thing, "/threads/{thread}/state/checkpoint", "{}"},
      {"agentServerUpdateState", "", thing, "/threads/{thread}/state", R"({"values":{}})", 422},
      {"agentServerGetHistory", "", thing, "/threads/{thread}/history"},
      {"agentServerSearchHistory", "", thing, "/threads/{thread}/history", "{}"},
      {"agentServerCreateCron", "", nobody, "/runs/crons", cron},
      {"agentServerCreateThreadCron", "", thing, "/threads/{thread}/runs/crons", cron},
      {"agentServerSearchCrons", "", nobody, "/runs/crons/search", "{}"},
      {"agentServerCountCrons", "", nobody, "/runs/crons/count", "{}"},
      {"agentServerUpdateCron", "unknown", thing, "/runs/crons/none", "{}", 404},
      {"agentServerDeleteCron", "unknown", thing, "/runs/crons/none", "", 404},
  };
}

std::vector<Entry> a2a_entries() {
  using enum About;
  const char* tasks = R"({"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}})";
  return {
      {"callA2a", "", list, "/a2a/daily_auditor?A2A-Version=1.0", tasks},
      {"getAgentCard", "", nobody, "/a2a/daily_auditor/.well-known/agent-card.json"},
      {"getServerCard", "", nobody, "/.well-known/agent-card.json"},
  };
}

std::vector<Entry> ag_ui_entries() {
  using enum About;
  const char* start = R"({"threadId":"ag-ui","runId":"r","messages":[],)"
                      R"("forwardedProps":{"input":{"date":"2026-02-01","language":"en"}}})";
  const std::string run = "/ag-ui/daily_auditor/threads/{thread}/runs/none";
  return {
      {"runAgUi", "", nobody, "/ag-ui/daily_auditor", start},
      // The protocol of the run is a record of the user who started it.
      {"streamAgUiRun", "of another door", thing, run, "", 404},
  };
}

}  // namespace belay::permissions
