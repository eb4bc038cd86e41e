#include "mcp/background.h"

#include "base/start_thread.h"

namespace belay::mcp {
namespace {

constexpr std::size_t short_tasks_max = 100;

}  // namespace

Background::~Background() {
  if (!thread_.joinable()) return;
  loop_->post([this] {
    tasks_.lasting_ones.clear();
    tasks_.is_ending = true;
    if (tasks_.short_ones.empty()) return loop_->stop();
    loop_->call_after(grace_, [this] { loop_->stop(); });
  });
  thread_.join();
}

void Background::start(Task<Done> task) { run(std::move(task), false); }

void Background::keep(Task<Done> task) { run(std::move(task), true); }

void Background::run(Task<Done> task, bool lasts) {
  std::lock_guard lock(mutex_);
  if (!loop_) {
    loop_ = make_event_loop(1);
    thread_ = start_thread([this] {
      loop_->run();
      // Here, because the tasks have timers of the loop.
      tasks_ = Tasks();
    });
  }
  auto shared = std::make_shared<Task<Done>>(std::move(task));
  loop_->post([this, shared, lasts] {
    auto& group = lasts ? tasks_.lasting_ones : tasks_.short_ones;
    if (group.size() >= short_tasks_max) return;
    std::uint64_t number = ++tasks_.last;
    Spawned& slot = group[number];
    slot = spawn<Done>(*loop_, std::move(*shared), [this, &group, number](Done) {
      // Later: a task must not be destroyed while it ends.
      loop_->post([this, &group, number] {
        group.erase(number);
        if (tasks_.is_ending && tasks_.short_ones.empty()) loop_->stop();
      });
    });
  });
}

}  // namespace belay::mcp
