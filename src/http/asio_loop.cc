#include "http/asio_loop.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>

#include "base/blocking_pool.h"
#include "http/asio_context.h"

namespace belay::http {
namespace {

using LoopTime = std::chrono::steady_clock::time_point;

class Loop final : public AsioLoop {
 public:
  explicit Loop(std::size_t blocking_threads) : pool_(blocking_threads) {}

  Context& context() override { return context_; }

  void post(Work work) override { boost::asio::post(context_.io, std::move(work)); }

  TimerId call_after(std::chrono::microseconds delay, Work work) override {
    TimerId id = next_timer_++;
    LoopTime due = std::chrono::steady_clock::now() + delay;
    timers_.emplace(std::pair(due, id), std::move(work));
    due_times_.emplace(id, due);
    wait_for_timers();
    return id;
  }

  void cancel(TimerId timer) override {
    auto found = due_times_.find(timer);
    if (found == due_times_.end()) return;
    timers_.erase(std::pair(found->second, timer));
    due_times_.erase(found);  // the alarm might be set for it: then it fires without effect
  }

  bool offload(Work work) override { return pool_.submit(std::move(work)); }

  void run() override {
    context_.io.run();
    context_.io.restart();
  }

  void stop() override { context_.io.stop(); }

 private:
  // Sets the alarm for the first timer, unless it fires by then anyway.
  void wait_for_timers() {
    if (timers_.empty()) return;
    LoopTime first = timers_.begin()->first.first;
    if (alarm_set_ && alarm_.expiry() <= first) return;
    alarm_set_ = true;
    alarm_.expires_at(first);  // cancels the wait for the later time
    alarm_.async_wait([this](boost::system::error_code error) {
      if (error) return;
      alarm_set_ = false;
      fire_due_timers();
      wait_for_timers();
    });
  }

  void fire_due_timers() {
    LoopTime now = std::chrono::steady_clock::now();
    while (!timers_.empty() && timers_.begin()->first.first <= now) {
      auto node = timers_.extract(timers_.begin());
      due_times_.erase(node.key().second);
      node.mapped()();
    }
  }

  // Declared before the context: handlers that its destructor destroys can cancel their timers.
  std::map<std::pair<LoopTime, TimerId>, Work> timers_;
  std::map<TimerId, LoopTime> due_times_;
  TimerId next_timer_ = 1;

  Context context_;
  // Keeps run() running without work.
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> working_{
      context_.io.get_executor()};
  boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                    boost::asio::wait_traits<std::chrono::steady_clock>,
                                    boost::asio::io_context::executor_type>
      alarm_{context_.io};
  bool alarm_set_ = false;

  BlockingPool pool_;  // last: its threads can post until it is destroyed
};

}  // namespace

std::unique_ptr<AsioLoop> make_asio_loop(std::size_t blocking_threads) {
  return std::make_unique<Loop>(blocking_threads);
}

}  // namespace belay::http
