#include "graph/ledger.h"

namespace belay {
namespace {

Result<Done> check(const std::optional<std::int64_t>& limit, std::int64_t most, std::int64_t spent,
                   std::int64_t reserved, const std::string& what, const std::string& unit) {
  if (!limit || most <= *limit - spent - reserved) return Done{};
  return error(ErrorCode::exhausted,
               "The run's budget of " + std::to_string(*limit) + " " + unit + " is too small for " +
                   what + ", which may cost " + std::to_string(most) + ": " +
                   std::to_string(spent) + " are spent and " + std::to_string(reserved) +
                   " reserved; give the run a larger budget, or ask for less.");
}

}  // namespace

Cost operator+(const Cost& a, const Cost& b) { return {a.tokens + b.tokens, a.money + b.money}; }
Cost operator-(const Cost& a, const Cost& b) { return {a.tokens - b.tokens, a.money - b.money}; }

Result<Done> Ledger::reserve(const Cost& most, const std::string& what) {
  const auto& [spent, reserved] = spending_;
  BELAY_CHECK(check(budget_.tokens, most.tokens, spent.tokens, reserved.tokens, what, "tokens"));
  BELAY_CHECK(check(budget_.money, most.money, spent.money, reserved.money, what,
                    "millionths of its unit of money"));
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
