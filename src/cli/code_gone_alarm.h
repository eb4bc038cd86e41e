#pragma once
// cli/code_gone_alarm.h - reports runs whose code is gone, once each, in the log of a worker or
// server.
//
// A pass reads at most pages_per_look pages of runs that have not ended; the one after it continues
// behind them. In a store with fewer runs, a pass reads all of them.

#include <set>
#include <string>

#include "belay/limits.h"
#include "cli/command_context.h"
#include "load/code_gone.h"

namespace belay::cli {

class CodeGoneAlarm {
 public:
  static constexpr std::size_t pages_per_look = limits::bounded(16);

  // `world` must outlive the object. REQUIRES: world.local is set.
  explicit CodeGoneAlarm(CommandContext& world) : world_(world) {}

  // Declares the graphs of this process for the other ones (load/declared_programs.h), then looks
  // once a minute. A failure of the store is not reported: each other call reports it, too.
  Task<Done> run();

 private:
  Task<Result<Done>> declare();
  Task<Result<Done>> look();

  void report(const RunRow& run);

  CommandContext& world_;
  bool is_declared_ = false;
  CodeGoneCursor cursor_;
  std::set<RunId> reported_;
};

}  // namespace belay::cli
