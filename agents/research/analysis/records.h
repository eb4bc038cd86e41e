#pragma once
// agents/research/analysis/records.h - the records of analyses: deliverables, findings and requests
// to pause.

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "belay/collection.h"

namespace belay::research {

// An analysis, for lists. Its thread is that of its run; `id` is its name.
struct AnalysisRow {
  static constexpr std::string_view collection = "research_analyses";

  std::string id{};
  std::string ticker{};
  std::string asOf{};
  Instant createdAt{};
  std::string batch{};              // AnalysisRequest::batch
  std::vector<std::string> data{};  // absolute folders; empty: those of the program

  std::string key() const { return id; }
  static auto indexed() { return std::tuple{&AnalysisRow::ticker, &AnalysisRow::batch}; }
  static auto ordered() { return std::tuple{ordered_index("created", &AnalysisRow::createdAt)}; }
};

// The result of a subtask, saved in its commit.
struct Deliverable {
  static constexpr std::string_view collection = "research_deliverables";

  std::string analysis{};
  std::string specialist{};
  std::string subtask{};
  std::string deliverable{};  // "ratio_table"
  std::string destination{};  // "rows", "cache" or "graph"
  Value results{};            // see results_json.h
  std::string prose{};        // a text of the model, or an extract; empty: none
  std::string proseBy{};      // "extract", or "PROVIDER:MODEL"
  Value quotes{};             // verbatim, of prose: {"sentence", "item", "offset", "text"}
  Instant createdAt{};

  static std::string key_of(const std::string& analysis, const std::string& specialist,
                            const std::string& subtask) {
    return analysis + "/" + specialist + "/" + subtask;
  }
  std::string key() const { return key_of(analysis, specialist, subtask); }
  static auto indexed() { return std::tuple{&Deliverable::analysis}; }
};

// A finding, with its provenance.
struct FindingRow {
  static constexpr std::string_view collection = "research_findings";

  std::string analysis{};
  std::string ticker{};
  std::string specialist{};
  std::string subtask{};
  std::string code{};
  std::string severity{};
  std::string periodEnd{};
  std::string metric{};
  std::string quote{};
  std::string item{};
  std::int64_t offset = -1;  // of the quote in the filing, in bytes; -1: none
  Instant createdAt{};

  std::string key() const {
    return analysis + "/" + specialist + "/" + subtask + "/" + code + "/" + periodEnd;
  }
  static auto indexed() {
    return std::tuple{&FindingRow::analysis, &FindingRow::ticker, &FindingRow::code};
  }
};

// Requests that an analysis pauses before its next subtasks, as long as the record exists.
struct PauseRequest {
  static constexpr std::string_view collection = "research_pauses";

  std::string analysis{};
  std::string by{};
  Instant createdAt{};

  std::string key() const { return analysis; }
  static auto indexed() { return std::tuple(); }
};

}  // namespace belay::research
