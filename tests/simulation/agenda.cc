#include "tests/simulation/agenda.h"

#include <algorithm>

namespace belay::simulation {

void Agenda::post(ProcessId process, Work work) { ready_[process].push_back({0, std::move(work)}); }

Agenda::TimerId Agenda::after(ProcessId process, microseconds delay, Work work) {
  TimerId id = next_timer_++;
  Instant due = now_ + std::max(delay, microseconds(0));
  timers_.emplace(std::pair(due, id), Timer{process, std::move(work)});
  due_.emplace(id, due);
  return id;
}

void Agenda::cancel(TimerId timer) {
  auto due = due_.find(timer);
  if (due == due_.end()) return;
  timers_.erase(std::pair(due->second, timer));
  due_.erase(due);
}

void Agenda::forget(ProcessId process) {
  // Destroying the entries can cancel other timers of this process.
  auto ready = ready_.extract(process);
  std::vector<Work> gone;
  for (auto each = timers_.begin(); each != timers_.end();) {
    if (each->second.process != process) {
      ++each;
      continue;
    }
    due_.erase(each->first.second);
    gone.push_back(std::move(each->second.work));
    each = timers_.erase(each);
  }
  paused_.erase(process);
}

void Agenda::pause(ProcessId process, Instant until) {
  Instant& paused = paused_[process];
  paused = std::max(paused, until);
}

bool Agenda::is_paused(ProcessId process) const {
  auto paused = paused_.find(process);
  return paused != paused_.end() && paused->second > now_;
}

bool Agenda::step(Instant until) {
  while (true) {
    let_due_timers_in();
    if (std::deque<Entry>* queue = pick()) {
      Entry entry = std::move(queue->front());
      queue->pop_front();
      // The timer was cancelled after it had become due.
      if (entry.timer != 0 && due_.erase(entry.timer) == 0) continue;
      entry.work();
      return true;
    }
    if (!move_on(until)) return false;
  }
}

void Agenda::let_due_timers_in() {
  while (!timers_.empty() && timers_.begin()->first.first <= now_) {
    auto due = timers_.extract(timers_.begin());
    ready_[due.mapped().process].push_back({due.key().second, std::move(due.mapped().work)});
  }
}

bool Agenda::move_on(Instant until) {
  Instant next = Instant::max();
  if (!timers_.empty()) next = timers_.begin()->first.first;
  for (const auto& [process, queue] : ready_) {
    auto paused = paused_.find(process);
    if (!queue.empty() && paused != paused_.end()) next = std::min(next, paused->second);
  }
  if (next == Instant::max() || next > until) {
    if (until != Instant::max()) now_ = std::max(now_, until);
    return false;
  }
  now_ = std::max(now_, next);
  return true;
}

std::deque<Agenda::Entry>* Agenda::pick() {
  std::vector<std::deque<Entry>*> able;
  for (auto& [process, queue] : ready_) {
    if (!queue.empty() && !is_paused(process)) able.push_back(&queue);
  }
  if (able.empty()) return nullptr;
  if (able.size() == 1) return able.front();
  return able[random_.bits() % able.size()];
}

}  // namespace belay::simulation
