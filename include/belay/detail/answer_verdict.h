#pragma once
// belay/detail/answer_verdict.h - the verdict of whoever reads a model's answer, for what keeps it.

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace belay {

// Whether an answer was of use to its reader. A model that keeps answers, to give them again to the
// same request, keeps one when it is accepted, and forgets one that is refused. Of a node's
// requests the node's end decides. Destroyed before it is given: nothing is kept, nothing
// forgotten.
class AnswerVerdict {
 public:
  void accept() { give(true); }
  void refuse() { give(false); }  // for good, also after accept()
  void when_given(std::function<void(bool accepted)> then);
  // False: this reader was given an answer to that request before, and can't have wanted it.
  bool is_first(std::string request) { return asked_.insert(std::move(request)).second; }

 private:
  void give(bool accepted);
  std::vector<std::function<void(bool)>> waiting_;
  std::set<std::string> asked_;
  std::optional<bool> given_;
};

}  // namespace belay
