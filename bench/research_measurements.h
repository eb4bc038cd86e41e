#pragma once
// bench/research_measurements.h - the parts of research_bench. Each prints its tables.

#include <string>

#include "bench/options.h"
#include "bench/pages.h"

namespace belay::bench {

// A model without calls: the texts of the analyses are extracts.
class WithoutModel final : public Model {
 public:
  Task<Result<ModelReply>> generate(ModelRequest) override {
    co_return error(ErrorCode::invalid, "The benchmark calls no model.");
  }
  std::int64_t input_tokens_max(const ModelRequest&) const override { return 0; }
};

// The program `belay research analyze`: its time, and its memory with large files. Must be the
// first part: the memory of a child is at least the highest of this process before.
void measure_programs(const Options& options, const std::string& belay, const std::string& path);

// Analyses of many companies on SQLite: the share of checkpoints in time and bytes.
void measure_batches(World& world, const std::string& path);

}  // namespace belay::bench
