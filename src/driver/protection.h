#pragma once
// driver/protection.h - the protected dependencies of a runtime by name, and its admission of runs.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/dependency.h"
#include "belay/graph.h"
#include "belay/hints.h"
#include "driver/run_admission.h"

namespace belay {

class Protection {
 public:
  explicit Protection(const ProcessLimits& limits) : places(limits) {}

  // `broadcast`, which can be null, shares the state of the circuit breaker with other processes.
  void protect(std::string dependency, DependencyOptions options, Clock& clock,
               Broadcast* broadcast, Executor& executor) {
    auto made = std::make_unique<Dependency>(dependency, options, clock);
    if (broadcast) share(dependency, *made, *broadcast, executor);
    std::swap(dependencies_[std::move(dependency)], made);
    // Attempts might still use the replaced object, or wait for its slots.
    if (made) replaced_.push_back(std::move(made));
  }
  // Null if the dependency is not protected.
  Dependency* find(std::string_view name) const {
    auto found = dependencies_.find(name);
    return found == dependencies_.end() ? nullptr : found->second.get();
  }
  // Returns the protected dependencies of the node, ordered by name. All attempts wait for slots in
  // this order, so that no two of them can wait for each other. The model is not included: each
  // call waits for its own slot, after all of these.
  std::vector<Dependency*> used_by(const GraphDefinition::Node& node) const {
    std::vector<Dependency*> used;
    if (node.depends_on.empty()) return used;
    for (const auto& [name, dependency] : dependencies_) {
      bool is_used =
          std::find(node.depends_on.begin(), node.depends_on.end(), name) != node.depends_on.end();
      if (is_used) used.push_back(dependency.get());
    }
    return used;
  }

  RunAdmission places;

 private:
  // A received message is only a hint: the circuit breaker opens only when a use in this process
  // fails.
  void share(const std::string& name, Dependency& dependency, Broadcast& broadcast,
             Executor& executor) {
    std::string channel = "circuit:" + name;
    dependency.when_opened = [&broadcast, channel, open_for = dependency.options().open_duration] {
      broadcast.publish_retained(channel, "open", open_for);
    };
    std::weak_ptr<int> alive = alive_;
    listening_.push_back(
        broadcast.subscribe_retained(channel, [&executor, &dependency, alive](std::string) {
          executor.post([&dependency, alive] {
            if (!alive.expired()) dependency.warn();
          });
        }));
  }

  std::map<std::string, std::unique_ptr<Dependency>, std::less<>> dependencies_;
  std::vector<std::unique_ptr<Dependency>> replaced_;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);  // against messages after destruction
  std::vector<Subscription> listening_;
};

}  // namespace belay
