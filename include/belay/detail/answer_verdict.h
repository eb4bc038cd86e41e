#pragma once
// belay/detail/answer_verdict.h - acceptance or refusal of a model's replies, for reply caches.

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace belay {

// Reports whether a reply was useful to its reader. A model that caches replies keeps one
// if it is accepted and deletes one if it is refused. For the requests of a node, the end
// of the node decides. If the object is destroyed without a verdict, the cache neither
// keeps nor deletes anything.
class AnswerVerdict {
 public:
  void accept() { give(true); }
  void refuse() { give(false); }  // final, also after accept()
  void when_given(std::function<void(bool accepted)> then);
  // False: this reader already received a reply to that request; a cached one would not help it.
  bool is_first(std::string request) { return asked_.insert(std::move(request)).second; }

 private:
  void give(bool accepted);
  std::vector<std::function<void(bool)>> waiting_;
  std::set<std::string> asked_;
  std::optional<bool> given_;
};

}  // namespace belay
