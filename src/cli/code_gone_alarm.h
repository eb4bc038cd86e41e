#pragma once
// cli/code_gone_alarm.h - reports runs whose code is gone, once each, in the log of a worker or
// server.

#include <set>
#include <string>

#include "cli/command_context.h"

namespace belay::cli {

class CodeGoneAlarm {
 public:
  // `world` must outlive the object. REQUIRES: world.local is set.
  explicit CodeGoneAlarm(CommandContext& world) : world_(world) {}

  // Declares the graphs of this process for the other ones (load/declared_programs.h), then looks
  // once a minute. A failure of the store is not reported: each other call reports it, too.
  Task<Done> run();

 private:
  Task<Result<Done>> declare();
  Task<Result<Done>> look();

  CommandContext& world_;
  bool is_declared_ = false;
  std::set<RunId> reported_;
};

}  // namespace belay::cli
