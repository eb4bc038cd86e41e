#include "cli/error_hints.h"

#include "cli/shown_command.h"

namespace belay::cli {
namespace {

constexpr std::string_view kThread = "Thread \"";
constexpr std::string_view kHasNoCommit = "\" has no commit ";

bool is_unknown_thread(std::string_view message) {
  bool is_about_thread = message.starts_with("Unknown thread \"") ||
                         message.starts_with("Execution thread not found or expired: \"");
  return is_about_thread && message.ends_with("\".");
}

}  // namespace

Error with_hint(const CommandContext& world, Error failed) {
  if (failed.code != ErrorCode::not_found) return failed;
  if (is_unknown_thread(failed.message)) {
    failed.message += " List threads with `" + command(world, {"threads"}) + "`.";
    return failed;
  }
  std::size_t end = failed.message.rfind(kHasNoCommit);
  bool is_about_commit = failed.message.starts_with(kThread) && end != failed.message.npos;
  if (!is_about_commit || end < kThread.size()) return failed;
  std::string thread = failed.message.substr(kThread.size(), end - kThread.size());
  failed.message += " List commits with `" + command(world, {"history", thread}) + "`.";
  return failed;
}

}  // namespace belay::cli
