// Implements Context::reserve(), settle() and spend(): the costs of a node's own tools.

#include "graph/costs.h"

namespace belay {

// Returns the row of the next cost of this name: a new one, or an existing one that is reserved but
// not settled because its process died.
EffectRow Context::cost_row(const std::string& name) {
  EffectRow row;
  row.run = attempt_.run;
  row.task = attempt_.task;
  row.node = attempt_.node;
  row.effect_class = EffectClass::keyed;
  row.attempt = 0;
  row.created_at = attempt_.now;
  const EffectRow* known = nullptr;
  do {
    row.name = std::string(cost_prefix) + std::to_string(attempt_.attempt) + "/" + name + "/" +
               std::to_string(++costs_->taken[name]);
    known = attempt_.journal->find(row.name);
  } while (known && known->status != EffectStatus::intended);
  if (known) row = *known;
  row.updated_at = attempt_.now;
  return row;
}

Result<Done> Context::check_cost(const std::string& name, const Cost& cost) const {
  if (name.empty() || cost.tokens < 0 || cost.money < 0) {
    return error(ErrorCode::invalid, "A cost needs a name, and is not below zero: \"" + name +
                                         "\" of the node \"" + std::string(attempt_.node) + "\".");
  }
  return Done{};
}

Task<Result<Done>> Context::reserve(std::string name, Cost most) {
  BELAY_CO_CHECK(check_cost(name, most));
  if (!attempt_.journal || !attempt_.ledger || !attempt_.ledger->is_limited()) co_return Done{};
  // settle() could not distinguish two open reservations of the same name.
  if (!costs_->unsettled.insert(name).second) {
    co_return error(ErrorCode::invalid,
                    "The cost \"" + name + "\" of the node \"" + std::string(attempt_.node) +
                        "\" is reserved twice in one attempt. Settle it before it is reserved "
                        "again, or give each cost its own name.");
  }
  auto reserved = co_await reserve_cost(name, most);
  if (!reserved.ok()) costs_->unsettled.erase(name);
  co_return std::move(reserved);
}

Task<Result<Done>> Context::reserve_cost(std::string name, Cost most) {
  BELAY_CO_CHECK(attempt_.ledger->reserve(most, "\"" + name + "\""));
  EffectRow row = cost_row(name);
  CallRecord record;
  if (row.attempt > 0) {
    // The process of an earlier reservation died. The tool might have been called: count the whole
    // reservation as spent.
    BELAY_CO_TRY(record, call_record_in(row));
    Cost before = record.cost.value_or(Cost{});
    attempt_.ledger->settle(before, before);
    record.lost = record.lost.value_or(Cost{}) + before;
  }
  record.cost = most;
  row.status = EffectStatus::intended;
  ++row.attempt;
  BELAY_CO_TRY(row.envelope, envelope_of(record));
  EffectRow intent = row;
  auto written = co_await attempt_.journal->write(std::move(intent));
  if (written.ok()) {
    costs_->open.emplace_back(std::move(name), std::move(row));
  } else {
    attempt_.ledger->settle(most, Cost{});
  }
  co_return std::move(written);
}

void Context::settle(std::string_view name, Cost spent) {
  auto open = std::find_if(costs_->open.begin(), costs_->open.end(),
                           [&](const auto& each) { return each.first == name; });
  if (open == costs_->open.end()) return;
  EffectRow row = std::move(open->second);
  costs_->open.erase(open);
  costs_->unsettled.erase(std::string(name));
  CallRecord record = call_record_in(row).value();
  attempt_.ledger->settle(*record.cost, spent);
  record.cost = spent;
  row.status = EffectStatus::done;
  row.envelope = envelope_of(record).value();
  attempt_.journal->keep(std::move(row));
}

Result<Done> Context::spend(std::string name, Cost spent) {
  BELAY_CHECK(check_cost(name, spent));
  if (!attempt_.journal || !attempt_.ledger || !attempt_.ledger->is_limited()) return Done{};
  BELAY_CHECK(attempt_.ledger->reserve(spent, "\"" + name + "\""));
  attempt_.ledger->settle(spent, spent);
  EffectRow row = cost_row(name);
  CallRecord record;
  record.cost = spent;
  row.status = EffectStatus::done;
  BELAY_TRY(row.envelope, envelope_of(record));
  attempt_.journal->keep(std::move(row));
  return Done{};
}

}  // namespace belay
