#include <algorithm>

#include "belay/context.h"
#include "graph/call_record.h"

namespace belay {
namespace {

EffectStep::Next next_for(const EffectRow& known, bool may_begin, WhenUncertain policy) {
  using Next = EffectStep::Next;
  switch (known.status) {
    case EffectStatus::done:
      return Next::give;
    case EffectStatus::skipped:
      return Next::give_up;
    case EffectStatus::failed:
      // The failure is known: a further call cannot repeat the effect.
      return Next::intend;
    case EffectStatus::intended:
      // Without the right to begin, another process or attempt recorded the intent and did not
      // record an outcome: the effect might have happened. Treated as uncertain.
      if (may_begin) return Next::call;
      break;
    case EffectStatus::uncertain:
      break;
  }
  switch (policy) {
    case WhenUncertain::ask:
      return Next::ask;
    case WhenUncertain::retry:
      return Next::intend;
    case WhenUncertain::skip:
      return Next::give_up;
    case WhenUncertain::probe:
      return Next::probe;
  }
  return Next::ask;
}

}  // namespace

std::int64_t detail::milliseconds_since(std::optional<Instant> begun, const Journal& journal) {
  std::optional<Instant> now = journal.present();
  if (!begun || !now) return -1;
  // A clock can be set back.
  auto took = std::chrono::duration_cast<std::chrono::milliseconds>(*now - *begun);
  return std::max<std::int64_t>(0, took.count());
}

EffectStep::EffectStep(Journal& journal, EffectRow fresh, WhenUncertain policy)
    : journal_(journal), row_(std::move(fresh)) {
  const EffectRow* known = journal.find(row_.name);
  bool is_keyed = row_.effect_class == EffectClass::keyed;
  if (!known) {
    next_ = is_keyed ? Next::call : Next::intend;
    return;
  }
  Instant now = row_.updated_at;
  row_ = *known;
  row_.updated_at = now;
  if (is_keyed) {
    // A repeated call is safe: the receiver recognises its idempotency key.
    next_ = known->status == EffectStatus::done ? Next::give : Next::call;
  } else {
    next_ = next_for(*known, journal.may_begin(row_.name), policy);
  }
}

void EffectStep::end_call() { row_.took_ms = detail::milliseconds_since(begun_at_, journal_); }

EffectRow EffectStep::intent() {
  row_.status = EffectStatus::intended;
  row_.envelope.clear();
  row_.took_ms = -1;
  ++row_.attempt;
  return row_;
}

EffectRow EffectStep::begun() const {
  EffectRow row = row_;
  row.status = EffectStatus::intended;
  row.envelope.clear();
  row.took_ms = -1;
  return row;
}

EffectRow EffectStep::outcome(std::string_view json) const {
  EffectRow row = row_;
  row.status = EffectStatus::done;
  row.envelope = json_envelope(json);
  return row;
}

EffectRow EffectStep::failed(const Error& why) const {
  EffectRow row = row_;
  row.status = EffectStatus::failed;
  row.envelope = json_envelope(
      to_json(Value::object({{"code", name_of(why.code)}, {"message", why.message}})));
  return row;
}

EffectRow EffectStep::uncertain() const {
  EffectRow row = row_;
  row.status = EffectStatus::uncertain;
  row.envelope.clear();
  return row;
}

void EffectStep::call_was_uncertain(WhenUncertain policy) {
  row_ = uncertain();
  next_ = next_for(row_, false, policy);
}

EffectRow EffectStep::skipped() const {
  EffectRow row = row_;
  row.status = EffectStatus::skipped;
  row.envelope.clear();
  return row;
}

EffectRow Context::effect_row(std::string name, EffectClass effect_class) {
  if (is_call_record(name)) {
    detail::throw_failure(
        error(ErrorCode::invalid, "An effect can't be called \"" + name +
                                      "\": names that begin with \"model/\" or \"cost/\" are "
                                      "Belay's own; choose another."));
  }
  // The journal identifies an effect by its name: a second effect of the same name would receive
  // the result of the first one and would not be called.
  if (!effects_used_.insert(name).second) {
    detail::throw_failure(error(
        ErrorCode::invalid, "The effect \"" + name + "\" of the node \"" +
                                std::string(attempt_.node) +
                                "\" is used twice in one attempt. Give each effect its own name, "
                                "such as \"" +
                                name + "/1\" and \"" + name + "/2\"."));
  }
  EffectRow row;
  row.run = attempt_.run;
  row.task = attempt_.task;
  row.name = std::move(name);
  row.node = attempt_.node;
  row.effect_class = effect_class;
  row.attempt = 0;
  row.created_at = attempt_.now;
  row.updated_at = attempt_.now;
  return row;
}

std::string Context::idempotency_key(std::string_view name) const {
  std::string key = attempt_.run.text() + "/" + attempt_.task.text();
  if (!name.empty()) key += "/" + std::string(name);
  return key;
}

InterruptResponse Context::ask_about(const EffectRow& row, std::chrono::milliseconds expires) {
  InterruptRequest question;
  question.name = "effect " + row.name;
  question.text =
      "Did the effect \"" + row.name + "\" of \"" + row.node + "\" happen? Its outcome is unknown.";
  question.choices = {{"happened", "it happened", true}, {"redo", "do it again", false}};
  question.payload = Value::object({{"effect", row.name},
                                    {"node", row.node},
                                    {"key", idempotency_key(row.name)},
                                    {"begun", to_text(row.created_at)},
                                    // Makes the question about each call a different question.
                                    {"calls", row.attempt},
                                    {"result", Value()}});
  question.expires = expires;
  attempt_.journal->keep(row);
  InterruptResponse answer = interrupt(std::move(question));
  if (answer.approved || !answer.decided_by.empty()) return answer;
  detail::throw_failure(error(ErrorCode::uncertain, "Nobody said in time whether the effect \"" +
                                                        row.name + "\" of \"" + row.node +
                                                        "\" has happened."));
}

}  // namespace belay
