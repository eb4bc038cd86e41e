// Creates the options of every run, whether it is started by the library, the
// command line or a server.

#include "belay/value.h"

namespace belay {
namespace {

using std::chrono::milliseconds;

template <typename T>
std::optional<T> first(const std::optional<T>& one, const std::optional<T>& other) {
  return one ? one : other;
}

Result<Done> within(std::string_view what, std::int64_t number, std::int64_t least,
                    std::int64_t most, std::string_view unit = "") {
  if (number >= least && number <= most) return Done{};
  return error(ErrorCode::invalid, "Invalid " + std::string(what) + " " + std::to_string(number) +
                                       ": expected " + std::to_string(least) + " to " +
                                       std::to_string(most) + std::string(unit) + ".");
}

Result<Done> check_configuration(const std::string& text) {
  if (text.empty()) return Done{};
  if (text.size() > limits::configuration_bytes_max) {
    return error(ErrorCode::invalid, "The configuration of the run is too large: " +
                                         std::to_string(limits::configuration_bytes_max) +
                                         " bytes are allowed.");
  }
  auto value = parse_json(text);
  if (value.ok() && value->as_object()) return Done{};
  return error(ErrorCode::invalid, "The configuration of the run must be a JSON object.");
}

Result<Done> check(const RunOptions& options) {
  if (options.max_retries) {
    BELAY_CHECK(within("number of attempts", *options.max_retries, 1, limits::run_attempts_max));
  }
  constexpr std::string_view unit = " milliseconds";
  BELAY_CHECK(within("timeout of the run", options.timeout.count(), 1,
                     milliseconds(limits::run_timeout_max).count(), unit));
  if (options.approval_expires) {
    BELAY_CHECK(within("expiry of approvals", options.approval_expires->count(), 1,
                       milliseconds(limits::approval_expiry_max).count(), unit));
  }
  BELAY_CHECK(check_configuration(options.configuration));
  constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
  BELAY_CHECK(within("number of supersteps", options.supersteps, 1, any));
  BELAY_CHECK(within("number of parallel nodes", options.parallel, 1, any));
  for (const auto* nodes : {&options.breakpoints.before, &options.breakpoints.after}) {
    BELAY_CHECK(within("number of breakpoints", static_cast<std::int64_t>(nodes->size()), 0,
                       limits::breakpoints_max));
  }
  constexpr std::int64_t most = limits::budget_max;
  BELAY_CHECK(within("budget of tokens", options.budget.tokens.value_or(0), 0, most));
  return within("budget of money", options.budget.money.value_or(0), 0, most);
}

}  // namespace

RunSettings::RunSettings(const RunOptions& options)
    : max_retries(options.max_retries),
      require_approval(options.require_approval),
      timeout(options.timeout),
      approval_expires(options.approval_expires),
      durability(options.durability),
      supersteps(options.supersteps),
      parallel(options.parallel),
      budget(options.budget),
      breakpoints(options.breakpoints),
      configuration(options.configuration) {}

RunSettings RunSettings::over(const RunSettings& defaults) const {
  RunSettings both;
  both.max_retries = first(max_retries, defaults.max_retries);
  both.require_approval = first(require_approval, defaults.require_approval);
  both.timeout = first(timeout, defaults.timeout);
  both.approval_expires = first(approval_expires, defaults.approval_expires);
  both.durability = first(durability, defaults.durability);
  both.supersteps = first(supersteps, defaults.supersteps);
  both.parallel = first(parallel, defaults.parallel);
  both.budget.tokens = first(budget.tokens, defaults.budget.tokens);
  both.budget.money = first(budget.money, defaults.budget.money);
  both.breakpoints = first(breakpoints, defaults.breakpoints);
  both.configuration = configuration.empty() ? defaults.configuration : configuration;
  return both;
}

Result<RunOptions> RunSettings::options() const {
  RunOptions options;
  options.max_retries = max_retries;
  options.require_approval = require_approval.value_or(options.require_approval);
  options.timeout = timeout.value_or(options.timeout);
  options.approval_expires = approval_expires;
  options.durability = durability.value_or(options.durability);
  options.supersteps = supersteps.value_or(options.supersteps);
  options.parallel = parallel.value_or(options.parallel);
  options.budget = budget;
  options.breakpoints = breakpoints.value_or(options.breakpoints);
  options.configuration = configuration;
  BELAY_CHECK(check(options));
  return options;
}

}  // namespace belay
