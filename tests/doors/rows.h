#pragma once
// tests/doors/rows.h - the table of what holds behind every door: settings, validations, limits.
//
// A row sets something, asks for one thing, and expects one answer, whichever door it is asked
// at. To add one, write it into rows.cc; a setting without a row, or without a reason why it has
// none, fails the test.

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "belay/value.h"

namespace belay::doors {

// The doors, as bits.
enum : unsigned {
  library = 1,       // AgentGraph and Runtime, in a program of one's own
  command = 2,       // belay run, on a store
  remote = 4,        // the same with --server; what a person sets is set by who asks
  server = 8,        // the same; all is set for the server
  agent_route = 16,  // POST /api/agents/daily-audit, POST /api/notes
  runs_route = 32,   // POST /api/agents/daily_auditor/runs, PUT /api/notes/ID
  every = 63,
};

// Begins an audit, or a routine.
struct Start {
  std::string agent = "daily-audit";
  std::string date = "2024-01-15";
  std::string language = {};
  std::string time_zone = {};
  std::optional<std::int64_t> attempts = std::nullopt;
  std::optional<std::int64_t> timeout_ms = std::nullopt;
  bool no_approval = false;
};

// Approves what waits, with some members of it changed; nothing is changed where there are none.
struct Approve {
  Start start = {};
  Value::Object changes = {};
};

// Saves a record: of a note with the words that the door has for it.
struct Save {
  std::string collection = "notes";
  Value::Object members = {};
};

struct Row {
  std::string name;
  std::string about;                               // the setting; empty: none
  std::map<std::string, std::string> environment;  // "{hang}": the address of a model that hangs
  std::variant<Start, Approve, Save> asked;
  // "paused", "completed saved", "saved", or the code of an error: "invalid". Then the members that
  // `look` names, of what came: "paused {state.date=2024-01-15}".
  std::string expected;
  std::vector<std::string> look = {};
  unsigned doors = every;  // those that have words for it
};

const std::vector<Row>& rows();

// Why a setting has no row: what it is about is no matter of these doors.
const std::map<std::string, std::string>& settings_without_rows();

}  // namespace belay::doors
