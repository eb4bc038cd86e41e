#include "agents/research/analysis/analysis_folders.h"

#include "agents/research/analysis/records.h"

namespace belay::research {

Task<Result<AnalysisRequest>> with_folders(std::shared_ptr<const ResearchParts> parts,
                                           AnalysisRequest request, Context& context) {
  std::string analysis = context.thread().text;
  BELAY_CO_TRY(std::optional<AnalysisRow> row,
               co_await context.records().get<AnalysisRow>(std::move(analysis)));
  request.data.clear();
  if (!parts->data.empty()) request.data.push_back(parts->data);
  if (row && !row->data.empty()) request.data = std::move(row->data);
  co_return std::move(request);
}

Result<Done> check_no_folders(const AnalysisRequest& request) {
  if (request.data.empty()) return Done{};
  return error(
      ErrorCode::invalid,
      "The input names data folders. Only `belay research analyze --data` can select them.");
}

}  // namespace belay::research
