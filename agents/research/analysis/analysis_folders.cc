#include "agents/research/analysis/analysis_folders.h"

#include <algorithm>
#include <filesystem>

namespace belay::research {
namespace {

// Returns whether `folder` is `root` or below it, by their names.
bool is_within(const std::string& folder, const std::string& root) {
  std::filesystem::path path = std::filesystem::path(folder).lexically_normal();
  std::filesystem::path top = std::filesystem::path(root).lexically_normal();
  if (!path.is_absolute() || !top.is_absolute()) return false;
  auto [at, end_of_path] = std::mismatch(top.begin(), top.end(), path.begin(), path.end());
  return at == top.end() || at->empty();
}

Result<Done> check_permitted(const ResearchParts& parts, const std::vector<std::string>& folders) {
  if (!parts.permitted_data) return Done{};
  for (const std::string& folder : folders) {
    bool is_permitted =
        std::any_of(parts.permitted_data->begin(), parts.permitted_data->end(),
                    [&](const std::string& root) { return is_within(folder, root); });
    if (is_permitted) continue;
    return error(ErrorCode::forbidden,
                 "This process reads only its own data folders, and not those of the order. The "
                 "setting research_folders permits others.");
  }
  return Done{};
}

}  // namespace

Task<Result<AnalysisRow>> read_analysis_row(std::string analysis, Context& context) {
  BELAY_CO_TRY(std::optional<AnalysisRow> row,
               co_await context.records().get<AnalysisRow>(std::move(analysis)));
  co_return std::move(row).value_or(AnalysisRow());
}

Result<AnalysisRequest> with_folders(const ResearchParts& parts, AnalysisRequest request,
                                     const AnalysisRow& row) {
  BELAY_CHECK(check_permitted(parts, row.data));
  request.data = row.data;
  if (request.data.empty() && !parts.data.empty()) request.data.push_back(parts.data);
  return request;
}

Result<Done> check_input(const AnalysisRequest& request) {
  if (request.yes) {
    return error(
        ErrorCode::invalid,
        "The input has \"yes\". An option of the run skips the approval: requireApproval.");
  }
  if (request.data.empty()) return Done{};
  return error(
      ErrorCode::invalid,
      "The input names data folders. Only `belay research analyze --data` can select them.");
}

}  // namespace belay::research
