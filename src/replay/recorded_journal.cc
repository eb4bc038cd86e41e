#include "replay/recorded_journal.h"

#include <algorithm>

#include "graph/call_record.h"

namespace belay {
namespace {

Error error_in_row(const EffectRow& row) {
  auto body = value_in(row.envelope);
  const std::string* message = body.ok() ? (*body)["message"].as_string() : nullptr;
  const std::string* code = body.ok() ? (*body)["code"].as_string() : nullptr;
  auto known = code ? error_code_named(*code) : std::nullopt;
  return error(known.value_or(ErrorCode::unavailable), message ? *message : "");
}

}  // namespace

const EffectRow* RecordedJournal::lacks(Missing missing) const {
  if (!missing_) missing_ = std::move(missing);
  return nullptr;
}

bool RecordedJournal::was_uncertain(const EffectRow& row) const {
  auto begun = begun_.find(row.name);
  std::int64_t calls = begun == begun_.end() ? 0 : begun->second;
  for (const ApprovalRow& approval : run_.approvals) {
    if (approval.task != task_) continue;
    auto shown = value_in(approval.payload);
    if (!shown.ok() || (*shown)["effect"] != Value(row.name)) continue;
    auto asked_after = (*shown)["calls"].as_int();
    if (!asked_after || *asked_after <= calls) continue;
    uncertain_ = row;
    uncertain_.status = EffectStatus::uncertain;
    uncertain_.attempt = *asked_after;
    uncertain_.envelope.clear();
    return true;
  }
  return false;
}

const EffectRow* RecordedJournal::find(std::string_view name) const {
  auto found = run_.effects.find({task_, std::string(name)});
  bool is_there = found != run_.effects.end();
  if (name.starts_with(cost_prefix)) return is_there ? &found->second : nullptr;
  if (name.starts_with(model_call_prefix)) {
    if (is_there) return &found->second;
    // The second number is that of the call in the attempt; a third one is added if the request
    // differs from the recorded one.
    bool is_other = std::count(name.begin(), name.end(), '/') > 2;
    return lacks({is_other ? "request to the model" : "model call",
                  is_other ? "another request" : "none", std::string(name)});
  }
  std::string what = "effect " + std::string(name);
  if (!is_there) {
    if (!failed_with_) lacks({what, "none", "called"});
    detail::throw_failure(
        failed_with_.value_or(error(ErrorCode::not_found, "The " + what + " is not recorded.")));
  }
  const EffectRow& row = found->second;
  if (failed_with_ && row.updated_at > now_) detail::throw_failure(*failed_with_);
  if (was_uncertain(row)) return &uncertain_;
  switch (row.status) {
    case EffectStatus::done:
    case EffectStatus::skipped:
      return &row;
    case EffectStatus::failed:
      detail::throw_failure(error_in_row(row));
    case EffectStatus::intended:
    case EffectStatus::uncertain:
      break;
  }
  lacks({what, std::string(name_of(row.status)), "called"});
  detail::throw_failure(
      error(ErrorCode::not_found, "The outcome of the " + what + " is not recorded."));
}

Task<Result<Done>> RecordedJournal::write(EffectRow row) {
  begin_again(row);
  starts_again_ = true;
  co_return error(ErrorCode::cancelled, "The replay starts the attempt again.");
}

}  // namespace belay
