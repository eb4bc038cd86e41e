#pragma once
// worker/composite_notifier.h - combines two notifiers: notifications of either one wake workers.

#include <utility>

#include "belay/hints.h"

namespace belay {

class CompositeNotifier final : public WorkNotifier {
 public:
  // Both must outlive it.
  CompositeNotifier(WorkNotifier& one, WorkNotifier& other) : one_(one), other_(other) {}

  void notify(std::string_view queue) override {
    one_.notify(queue);
    other_.notify(queue);
  }
  Subscription subscribe(std::string_view queue, std::function<void()> called) override {
    using Two = std::pair<Subscription, Subscription>;
    Subscription first = one_.subscribe(queue, called);
    return std::make_shared<Two>(std::move(first), other_.subscribe(queue, std::move(called)));
  }

 private:
  WorkNotifier& one_;
  WorkNotifier& other_;
};

}  // namespace belay
