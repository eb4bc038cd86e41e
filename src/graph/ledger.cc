#include "graph/ledger.h"

#include <algorithm>

namespace belay {
namespace {

Result<Done> check(const std::optional<std::int64_t>& limit, std::int64_t most, std::int64_t spent,
                   std::int64_t reserved, const std::string& what, const std::string& unit) {
  if (!limit || most <= *limit - spent - reserved) return Done{};
  return error(ErrorCode::exhausted,
               "Budget exceeded: " + what + " needs up to " + std::to_string(most) + " " + unit +
                   ", but only " +
                   std::to_string(std::max<std::int64_t>(*limit - spent - reserved, 0)) + " of " +
                   std::to_string(*limit) + " remain (" + std::to_string(spent) + " spent, " +
                   std::to_string(reserved) + " reserved). Increase the budget or request less.");
}

}  // namespace

Cost operator+(const Cost& a, const Cost& b) { return {a.tokens + b.tokens, a.money + b.money}; }
Cost operator-(const Cost& a, const Cost& b) { return {a.tokens - b.tokens, a.money - b.money}; }

Result<Done> Ledger::reserve(const Cost& most, const std::string& what) {
  const auto& [spent, reserved] = spending_;
  BELAY_CHECK(check(budget_.tokens, most.tokens, spent.tokens, reserved.tokens, what, "tokens"));
  BELAY_CHECK(check(budget_.money, most.money, spent.money, reserved.money, what,
                    "millionths of a money unit"));
  spending_.reserved = reserved + most;
  return Done{};
}

void Ledger::settle(const Cost& reserved, const Cost& spent) {
  spending_.reserved = spending_.reserved - reserved;
  spending_.spent = spending_.spent + spent;
}

void Ledger::remember(const Spending& known) {
  spending_.spent = spending_.spent + known.spent;
  spending_.reserved = spending_.reserved + known.reserved;
}

}  // namespace belay
