#include "agents/research/prose/prose_fixture.h"

#include <fstream>
#include <iterator>

namespace belay::research {
namespace {

TenKText real_report(const std::string& file) {
  std::ifstream in(BELAY_SOURCE_DIR "/agents/research/data/edgar/10k/" + file, std::ios::binary);
  return TenKText({std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()});
}

}  // namespace

TenKText apple_report() { return real_report("AAPL-10-K-2024-11-01.txt"); }

TenKText nvidia_report() { return real_report("NVDA-10-K-2025-02-26.txt"); }

}  // namespace belay::research
