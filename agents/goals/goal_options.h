#pragma once
// goals/goal_options.h - the options of a goal on the command line.

#include <optional>
#include <string>
#include <vector>

#include "belay/command.h"
#include "belay/value.h"

namespace belay::goals {

class GoalOptions {
 public:
  void declare(CommandWords& words);
  // Parses the options. Fails with `invalid`, with the option's name.
  Result<Done> validate();
  // The changes of apply_changes(). An option with an empty value restores the default.
  const Value& changes() const { return changes_; }
  void set_objective(const std::string& objective);

 private:
  Result<Done> add_number(const char* option, const char* member,
                          const std::optional<std::string>& text, std::int64_t most);
  Value::Object& params();

  std::optional<std::string> tools_, steps_, temperature_, max_tokens_, token_budget_, cost_budget_,
      token_limit_, model_, memory_, priority_;
  Value changes_ = Value::Object();
};

}  // namespace belay::goals
