#pragma once
// agents/research/analysis/analysis_state.h - the states of an analysis and of its specialists.

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "belay/clock.h"
#include "belay/value.h"

namespace belay::research {

inline constexpr const char* kAnalysisGraph = "research_analysis";

// The order of a person, as given to `research analyze`.
struct AnalysisRequest {
  std::string ticker{};
  std::vector<std::string> peers{};
  std::vector<std::string> only{};            // specialists; empty: all
  std::string asOf{};                         // empty: the day of the company's last filing
  std::vector<std::string> data{};            // absolute folders; never in a state
  std::map<std::string, std::string> ciks{};  // of tickers that the bundled data does not have
  std::map<std::string, double> constants{};  // that replace declared assumptions
  std::string batch{};                        // that the order belongs to; empty: none
  bool yes = false;                           // skips the gate; never in a state
  bool checkpoints = true;                    // false: a specialist is one step
};

inline bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Returns whether the order includes this specialist.
inline bool is_selected(const AnalysisRequest& request, std::string_view specialist) {
  return request.only.empty() || contains(request.only, specialist);
}

// The files as they were at the start. A file that changes later fails the subtasks that read it:
// all figures of an analysis are from the same data.
struct AnalysisFacts {
  std::string asOf{};  // YYYY-MM-DD
  std::string entity{};
  std::string cik{};
  std::map<std::string, std::string> peerCiks{};  // by ticker
  std::string currency{};
  std::vector<std::string> fiscalYears{};      // that are reported, the oldest first
  std::map<std::string, std::string> files{};  // digests, by path
};

struct SpecialistProgress {
  std::vector<std::string> completed{};  // subtasks
  std::string failure{};                 // of the subtask after these; empty: none
  std::string waitsFor{};                // a deliverable of another specialist; empty: none
};

// A decision of a person: shown with the progress so far.
struct ProgressQuestion {
  std::string analysis{};
  std::string ticker{};
  std::string reason{};                           // "gate", "failures" or "paused"
  std::map<std::string, std::string> progress{};  // "3 of 4", by specialist
  std::map<std::string, std::string> failures{};  // by specialist
  // With an approval: the failed specialists that execute their subtasks again; empty: all.
  std::vector<std::string> only{};
};

// The delivery of the findings to the graph (graph/graph_sink.h).
struct GraphReceipt {
  std::string sink{};     // "file" or "neo4j"; empty: none
  std::string outcome{};  // "delivered", "deferred" or "failed"
  std::string place{};    // a path, or URL and database
  std::int64_t batches = 0;
  std::int64_t delivered = 0;
  std::string message{};  // of a failure
};

// The state of the Lead Coordinator.
struct Analysis {
  // The thread whose analysis this is: a fork has another one, and executes all subtasks again.
  std::string id{};
  AnalysisRequest request{};
  AnalysisFacts facts{};
  std::map<std::string, SpecialistProgress> specialists{};
  // The specialists that have worked since the start or the last decision, as "PHASE NAME".
  std::vector<std::string> attempted{};
  bool isApproved = false;  // the final scoring
  bool isEnded = false;
  GraphReceipt graph{};
  ProgressQuestion question{};
};

// The state of a run of a specialist.
struct SpecialistRun {
  std::string specialist{};
  AnalysisRequest request{};
  AnalysisFacts facts{};
  std::map<std::string, std::vector<std::string>> completedByAll{};  // before it began
  std::vector<std::string> planned{};                                // subtasks, in their order
  bool isResumed = false;  // it has worked before: its checkpoint is restored
  std::vector<std::string> completed{};
  Value workingMemory{};   // WorkingMemory::dump(): a summary of each completed subtask
  Value interimResults{};  // findings, by subtask
  std::int64_t retries = 0;
  Instant checkpointTime{};  // of its last checkpoint
  std::string failure{};
  std::string waitsFor{};
  bool isPaused = false;
};

}  // namespace belay::research
