#pragma once
// mcp/background.h - Background: tasks that do not belong to a call, on a separate thread,
// which starts with the first one.

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "belay/task.h"

namespace belay::mcp {

class Background {
 public:
  // `grace`: for which the destructor waits until the tasks of start() have ended.
  explicit Background(std::chrono::milliseconds grace) : grace_(grace) {}
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  // Stops those of keep() immediately.
  ~Background();

  // Starts a task that ends soon. Drops it if too many are in progress. The task must not throw,
  // and not destroy this object.
  void start(Task<Done> task);
  // Starts a task that lasts until the destructor.
  void keep(Task<Done> task);

 private:
  struct Tasks {
    std::map<std::uint64_t, Spawned> short_ones, lasting_ones;
    std::uint64_t last = 0;
    bool is_ending = false;
  };

  void run(Task<Done> task, bool lasts);

  const std::chrono::milliseconds grace_;
  std::mutex mutex_;
  std::unique_ptr<EventLoop> loop_;  // protected by mutex_ until it exists
  Tasks tasks_;                      // used only on the thread
  std::thread thread_;               // last: it uses all members above
};

}  // namespace belay::mcp
