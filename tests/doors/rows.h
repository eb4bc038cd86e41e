#pragma once
// tests/doors/rows.h - the table of rules that apply to every door: settings, validations, limits
//
// A row has settings, one request and one expected result, which is the same for every door. To add
// one, write it into rows.cc; the test fails if a setting has neither a row nor a reason for that.

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "belay/value.h"

namespace belay::doors {

// The doors, as bits.
enum : unsigned {
  library = 1,       // AgentGraph and Runtime, used by a program
  command = 2,       // belay run, on a store
  remote = 4,        // the same with --server; the user's settings are set for the caller
  server = 8,        // the same; all settings are set for the server
  agent_route = 16,  // POST /api/agents/daily-audit, POST /api/notes
  runs_route = 32,   // POST /api/agents/daily_auditor/runs, PUT /api/notes/ID
  every = 63,
  through_server = remote | server | agent_route | runs_route,
};

// Starts an audit or a routine.
struct Start {
  std::string agent = "daily-audit";
  std::string date = "2024-01-15";
  std::string language = {};
  std::string time_zone = {};
  std::optional<std::int64_t> attempts = std::nullopt;
  std::optional<std::int64_t> timeout_ms = std::nullopt;
  bool no_approval = false;
};

// Approves the pending approval, with some members of its payload changed; none: unchanged.
struct Approve {
  Start start = {};
  Value::Object changes = {};
};

// Saves a record; a note with the options that the door has for it.
struct Save {
  std::string collection = "notes";
  Value::Object members = {};
};

struct Row {
  std::string name;
  std::string about;                               // the setting; empty: none
  std::map<std::string, std::string> environment;  // "{hang}": the address of a model that hangs
  std::variant<Start, Approve, Save> asked;
  // "paused", "completed saved", "saved", or an error code: "invalid". Then the members of the
  // result that `look` names: "paused {state.date=2024-01-15}".
  std::string expected;
  std::vector<std::string> look = {};
  unsigned doors = every;  // those that support the request
  std::string key = {};    // permission of the caller's API key; empty: the server has no keys
  // A run of the caller, which a request has started, is in progress at the server.
  bool is_busy = false;
};

const std::vector<Row>& rows();

// The reason why a setting has no row: it has no effect on these doors.
const std::map<std::string, std::string>& settings_without_rows();

}  // namespace belay::doors
