// The lines of progress of a command.

#include "cli/progress.h"

#include <gtest/gtest.h>

namespace belay::cli::tests {
namespace {

class ProgressLines : public ::testing::Test {
 protected:
  ProgressEvent event(ProgressEvent::Kind kind) {
    ProgressEvent made;
    made.kind = kind;
    made.thread = ThreadId("t");
    made.node = "work";
    made.attempt = 1;
    made.duration = std::chrono::milliseconds(1'500);
    return made;
  }
  // Returns the lines about some parallel tasks of a node.
  std::string lines_of(int tasks) {
    ::testing::internal::CaptureStderr();
    Output output{OutputOptions{.live = is_terminal}};
    Progress progress(output, phrases_of(Language::en));
    for (int i = 0; i < tasks; ++i) {
      progress.on_progress(event(ProgressEvent::Kind::node_started));
    }
    for (int i = 0; tasks > 1 && i < tasks; ++i) {
      progress.on_progress(event(ProgressEvent::Kind::task_finished));
    }
    progress.on_progress(event(ProgressEvent::Kind::node_finished));
    return ::testing::internal::GetCapturedStderr();
  }
  bool is_terminal = false;
};

TEST_F(ProgressLines, CountTheParallelTasksOfANode) {
  EXPECT_EQ(lines_of(12), "  ✓ work 12 / 12 1.5 s\n");
  EXPECT_EQ(lines_of(1), "  ✓ work 1.5 s\n");
  is_terminal = true;
  EXPECT_NE(lines_of(3).find("● work 2 / 3"), std::string::npos);
}

}  // namespace
}  // namespace belay::cli::tests
