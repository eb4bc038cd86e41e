#pragma once
// driver/protection.h - what a runtime protects: its dependencies by name, and its places for runs.

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

  // Other processes hear of its circuit by `broadcast`, which may be null.
  void protect(std::string dependency, DependencyOptions options, Clock& clock,
               Broadcast* broadcast, Executor& executor) {
    auto made = std::make_unique<Dependency>(dependency, options, clock);
    if (broadcast) share(dependency, *made, *broadcast, executor);
    std::swap(dependencies_[std::move(dependency)], made);
    // Somebody may still use it, or wait for it.
    if (made) replaced_.push_back(std::move(made));
  }
  // Null where nobody protects it.
  Dependency* find(std::string_view name) const {
    auto found = dependencies_.find(name);
    return found == dependencies_.end() ? nullptr : found->second.get();
  }
  // What the node uses, in the order in which all wait for them, so that no two attempts can wait
  // for each other. The model is not among them: it is entered call by call, after all these.
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
  // What is heard is a hint: it opens nothing by itself.
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
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);  // for what is heard too late
  std::vector<Subscription> listening_;
};

}  // namespace belay
