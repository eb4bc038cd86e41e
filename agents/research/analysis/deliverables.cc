#include "agents/research/analysis/deliverables.h"

#include <algorithm>

#include "agents/research/analysis/results_json.h"
#include "agents/research/specialists/specialists.h"

namespace belay::research {
namespace {

constexpr std::size_t kDeliverablesPerRead = limits::bounded(8);

std::pair<std::size_t, std::size_t> position_of(const Deliverable& made) {
  return {specialist_position(made.specialist), subtask_position(made.specialist, made.subtask)};
}

}  // namespace

Task<Result<std::vector<Deliverable>>> read_deliverables(Records& records, std::string analysis) {
  std::vector<Deliverable> all;
  RecordFilter filter;
  filter.collection = Deliverable::collection;
  filter.field = "analysis";
  filter.value = std::move(analysis);
  filter.limit = kDeliverablesPerRead;
  while (true) {
    RecordFilter page = filter;
    BELAY_CO_TRY(std::vector<RecordRow> rows, co_await records.find(std::move(page)));
    for (const RecordRow& row : rows) {
      BELAY_CO_TRY(Deliverable made, record_from<Deliverable>(row));
      all.push_back(std::move(made));
    }
    if (rows.size() < filter.limit) break;
    filter.after = rows.back().key;
  }
  std::sort(all.begin(), all.end(), [](const Deliverable& a, const Deliverable& b) {
    return position_of(a) < position_of(b);  // no two are equal
  });
  co_return std::move(all);
}

Result<Results> results_of(const std::vector<Deliverable>& deliverables) {
  Results all;
  for (const Deliverable& made : deliverables) {
    BELAY_TRY(Results results, results_from(made.results));
    std::move(results.figures.begin(), results.figures.end(), std::back_inserter(all.figures));
    std::move(results.findings.begin(), results.findings.end(), std::back_inserter(all.findings));
  }
  return all;
}

}  // namespace belay::research
