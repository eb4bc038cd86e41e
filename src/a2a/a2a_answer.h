#pragma once
// a2a/a2a_answer.h - A2aAnswer: the approval that a message has answered.
//
// A message that a client sends again must not answer another approval, which is open by then. The
// record is written before the decision, by the first of equal messages.

#include <string>
#include <tuple>

#include "belay/clock.h"
#include "belay/limits.h"

namespace belay::a2a {

struct A2aAnswer {
  static constexpr std::string_view collection = "a2a_answers";

  std::string id{};  // a digest of the id of the message
  std::string task{};
  std::string interrupt{};
  Instant created_at{};

  std::string key() const { return id; }
  static auto indexed() { return std::tuple(); }
  Instant expires_at() const { return created_at + limits::steering_kept; }
};

}  // namespace belay::a2a
