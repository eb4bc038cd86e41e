#pragma once
// agents/research/checkpoints/checkpoint.h - AgentCheckpoint: the state of an agent after a
// subtask, as a row of a collection, and the rows that restores and retention need next to it.
//
// Each save adds a row. The newest row of an agent, by checkpoint_time, is the one to restore;
// its times strictly increase (agent_checkpointer.h), so that (analysis_id, agent_type,
// checkpoint_time) is unique: it is the key.
//
// With encryption, tickers, agent types, analysis ids and times stay readable, since they are
// ordered; all other members are encrypted.

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "belay/collection.h"

namespace belay::research {

// Limits of a checkpoint; a save above them fails with `invalid`. Bytes, unless stated otherwise.
inline constexpr std::size_t kAnalysisBytesMax = 64;
inline constexpr std::size_t kAgentTypeBytesMax = 50;
inline constexpr std::size_t kTickerBytesMax = 10;
inline constexpr std::size_t kSubtaskBytesMax = 100;
inline constexpr std::size_t kSubtasksMax = 1'000;             // number of them
inline constexpr std::size_t kReasonBytesMax = 2'000;          // of set_failure()
inline constexpr std::size_t kCheckpointBytesMax = 1'000'000;  // JSON text
inline constexpr std::size_t kCheckpointDepthMax = 60;         // nested arrays and objects

struct AgentCheckpoint {
  static constexpr std::string_view collection = "agent_checkpoints";

  std::string analysis_id{};  // letters, digits, '-', '_' and '.', as is agent_type
  std::string agent_type{};   // "financial"
  std::string stock_ticker{};
  Instant checkpoint_time{};  // set by the save

  double progress_pct = 0;        // 0 to 100, two decimals
  std::string current_subtask{};  // the next one to execute; empty: all are completed
  std::vector<std::string> completed_subtasks{};
  std::vector<std::string> pending_subtasks{};
  std::map<std::string, double> subtask_progress{};  // 0 to 1; since version 1.1

  Value working_memory{};   // WorkingMemory::dump()
  Value interim_results{};  // partial results that are stored nowhere else yet
  Value agent_config{};

  std::string failure_reason{};  // empty: not saved because of a failure
  Value error_details{};         // object; null: none
  std::int64_t retry_count = 0;

  std::string agent_version{};  // set by the save: the version of the agent in this program

  std::string key() const;
  static auto indexed() { return std::tuple(); }
  static auto ordered() {
    using C = AgentCheckpoint;
    return std::tuple{
        ordered_index("newest", &C::analysis_id, &C::agent_type, &C::checkpoint_time),
        ordered_index("stock_agent", &C::stock_ticker, &C::agent_type, &C::checkpoint_time)};
  }
};

// The newest checkpoint of an agent: saved in the commit of that checkpoint. A restore compares a
// cached checkpoint with it, without reading the stored one; retention finds what is due by it.
struct CheckpointHead {
  static constexpr std::string_view collection = "agent_checkpoint_heads";

  std::string analysis_id{};
  std::string agent_type{};
  std::string newest{};  // key of the checkpoint
  std::string digest{};  // SHA-256 of its checkpoint_text(), hexadecimal
  Instant saved_at{};    // its checkpoint_time
  Instant due{};         // retention removes the agent's checkpoints from then on
  Instant expires{};     // set by a node that removes the head; see checkpoint_rows.h

  std::string key() const;
  static auto indexed() { return std::tuple{&CheckpointHead::analysis_id}; }
  static auto ordered() { return std::tuple{ordered_index("due", &CheckpointHead::due)}; }
  Instant expires_at() const { return expires; }
};

// While it exists, no checkpoint of the analysis is removed.
struct PreservedAnalysis {
  static constexpr std::string_view collection = "agent_checkpoints_preserved";

  std::string analysis_id{};
  Instant since{};

  std::string key() const { return analysis_id; }
  static auto indexed() { return std::tuple(); }
};

// A checkpoint that was moved after the success of its analysis. It is kept until its owner removes
// it.
struct ArchivedCheckpoint {
  static constexpr std::string_view collection = "agent_checkpoints_archive";

  std::string id{};  // key of the checkpoint
  std::string analysis_id{};
  Instant archived_at{};
  Value checkpoint{};  // as stored; a text if that is not JSON

  std::string key() const { return id; }
  static auto indexed() { return std::tuple{&ArchivedCheckpoint::analysis_id}; }
};

std::string head_key(const std::string& analysis_id, const std::string& agent_type);
// Fails with `invalid` if one of the names is empty, too long, or has other characters than those
// of AgentCheckpoint::analysis_id.
Result<Done> check_agent(std::string_view analysis_id, std::string_view agent_type);
Result<Done> check_analysis(std::string_view analysis_id);
// Checks all members; `invalid` names the first invalid one. A subtask must occur only once, and
// the current one must be pending.
Result<Done> check_checkpoint(const AgentCheckpoint& checkpoint);

// Returns the checkpoint as JSON, an object with one member for each column. `invalid` as for
// check_checkpoint(), for values that JSON cannot represent, and above the limits.
Result<Value> checkpoint_value(const AgentCheckpoint& checkpoint);
// The same as text, with sorted members: equal checkpoints have equal texts.
Result<std::string> checkpoint_text(const AgentCheckpoint& checkpoint);
// Reads it back. Fails with `invalid` for a member that is unknown, of another kind, or invalid:
// an agent must not resume with a part of its state.
Result<AgentCheckpoint> checkpoint_from(const Value& value);

// Returns the completed part in percent, rounded to two decimals; 100 if there are no subtasks.
double progress_pct(std::size_t completed, std::size_t total);
// Sets the subtasks, their progress and the percentage. `completed`: the number of the first ones
// that are completed.
void set_progress(AgentCheckpoint& checkpoint, const std::vector<std::string>& subtasks,
                  std::size_t completed);
// Sets the reason and the details of a failure, and counts the retry. The reason is cut to
// kReasonBytesMax bytes, and then ends with " ..."; invalid UTF-8 is replaced.
void set_failure(AgentCheckpoint& checkpoint, const Error& failure);

}  // namespace belay::research
