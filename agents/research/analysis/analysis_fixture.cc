#include "agents/research/analysis/analysis_fixture.h"

namespace belay::research {

ResearchParts bundled_parts() {
  ResearchParts parts;
  parts.data = BELAY_SOURCE_DIR "/agents/research/data";
  return parts;
}

Analysis order_of(const std::string& ticker, std::vector<std::string> only) {
  Analysis analysis;
  analysis.request.ticker = ticker;
  analysis.request.only = std::move(only);
  return analysis;
}

}  // namespace belay::research
