#include "agents/research/analysis/analysis_fixture.h"

namespace belay::research {

Analysis order_of(const std::string& ticker, std::vector<std::string> only) {
  Analysis analysis;
  analysis.request.ticker = ticker;
  analysis.request.only = std::move(only);
  analysis.request.data = {BELAY_SOURCE_DIR "/agents/research/data"};
  return analysis;
}

}  // namespace belay::research
