#pragma once
// tests/simulation/judge_protocol.h - checks the threads, runs and records that clients of the
// Agent Server API have made.

#include <map>
#include <string>
#include <vector>

#include "langgraph/run_records.h"
#include "tests/simulation/protocol_clients.h"

namespace belay::simulation {

// The rows and documents that a process has read after the simulation.
struct ProtocolRows {
  struct Thread {
    int status = 0;  // of the response for the thread
    Value document;
    Value::Array runs;      // as the API lists them
    Value assistant;        // the created one
    Value::Array versions;  // of it
  };
  std::map<std::string, Thread> threads;
  std::vector<langgraph::RunRecord> records;  // all
  std::map<std::string, std::string> runs;    // of the service: the thread of each run
};

Task<Result<ProtocolRows>> read_protocol(Process& process, const ProtocolClients& clients,
                                         std::vector<RunRow> runs);

// Returns the faults: acknowledged threads and runs that are lost or exist twice, runs that no
// client has requested, records of runs that do not exist, and deleted threads that exist.
std::vector<std::string> protocol_faults(const ProtocolRows& rows, const ProtocolClients& clients);

}  // namespace belay::simulation
