#include "models/model_list.h"

#include <algorithm>

#include "base/in_quotes.h"
#include "models/json_sanitizer.h"

namespace belay::models {
namespace {

// Of models that requests name. The names come from code; those of a program that takes them from
// its input must not open connections without bound.
constexpr std::size_t named_models_max = 100;

CircuitBreaker::Verdict verdict_of(const Result<ModelReply>& reply) {
  if (reply.ok()) return CircuitBreaker::Verdict::worked;
  return reply.error().code == ErrorCode::unavailable ? CircuitBreaker::Verdict::failed
                                                      : CircuitBreaker::Verdict::unknown;
}

// Returns whether the next model is tried: if this one is unavailable or has no credit left. An
// invalid request would fail with every model.
bool is_worth_another(const Error& failed) {
  return failed.code == ErrorCode::unavailable || failed.code == ErrorCode::exhausted;
}

// Combines the errors of all models into one. It is `unavailable`, and can be retried, if at least
// one of them is.
Error all_failed(std::vector<Error> errors) {
  if (errors.size() == 1) return std::move(errors.front());
  auto can_come_back = [](const Error& one) { return one.code == ErrorCode::unavailable; };
  bool any = std::any_of(errors.begin(), errors.end(), can_come_back);
  std::string message = "None of the models responded.";
  std::optional<std::chrono::milliseconds> soonest;
  for (const Error& one : errors) {
    message += " " + one.message;
    if (!can_come_back(one)) continue;
    auto wait = one.retry_after.value_or(std::chrono::milliseconds(0));
    soonest = std::min(soonest.value_or(wait), wait);
  }
  Error all = error(any ? ErrorCode::unavailable : ErrorCode::exhausted, std::move(message));
  if (soonest && soonest->count() > 0) all.retry_after = soonest;
  return all;
}

}  // namespace

Task<Result<ModelReply>> ModelList::ask(const Member& member, ModelRequest request) {
  if (!member.guard) co_return co_await member.model->generate(std::move(request));
  auto slot = co_await member.guard->dependency.enter();
  if (!slot.ok()) co_return std::move(slot).error();
  auto turn = co_await member.guard->rate.enter(member.name);
  if (!turn.ok()) co_return std::move(turn).error();
  auto reply = co_await member.model->generate(std::move(request));
  slot->ended(verdict_of(reply));
  co_return std::move(reply);
}

// The pointer is valid as long as the list: members are never removed.
Result<const ModelList::Member*> ModelList::named(const std::string& name) const {
  for (const Member& member : members_) {
    if (member.name == name) return &member;
  }
  if (auto found = named_.find(name); found != named_.end()) return &found->second;
  if (!open_ || named_.size() == named_models_max) {
    return error(ErrorCode::invalid, "The model " + in_quotes(quotable(name, 100)) +
                                         " is not one of this program's models" +
                                         (open_ ? ", and it has opened too many others." : "."));
  }
  BELAY_TRY(Member member, open_(name));
  return &named_.emplace(name, std::move(member)).first->second;
}

Task<Result<ModelReply>> ModelList::generate(ModelRequest request) {
  if (!request.model.empty()) {
    auto member = named(request.model);
    if (!member.ok()) co_return std::move(member).error();
    co_return co_await ask(**member, std::move(request));
  }
  std::vector<Error> errors;
  bool has_told = false;
  for (const Member& member : members_) {
    ModelRequest one = request;
    if (request.on_text_delta) {
      one.on_text_delta = [&has_told, &tell = request.on_text_delta](std::string_view piece) {
        has_told = true;
        tell(piece);
      };
    }
    auto reply = co_await ask(member, std::move(one));
    if (reply.ok()) co_return std::move(reply);
    // Streamed text cannot be withdrawn: if a delta was delivered, the call fails, and the node's
    // next attempt starts from the beginning.
    if (has_told || !is_worth_another(reply.error())) co_return std::move(reply);
    errors.push_back(std::move(reply).error());
  }
  co_return all_failed(std::move(errors));
}

std::string ModelList::name() const {
  std::string names;
  for (const Member& member : members_) {
    std::string own = member.model->name();
    names += (names.empty() ? "" : ", ") + (own.empty() ? member.name : own);
  }
  return names;
}

std::optional<ModelPrice> ModelList::price(const ModelRequest& request) const {
  if (!request.model.empty()) {
    auto member = named(request.model);
    return member.ok() ? (*member)->model->price(request) : std::nullopt;
  }
  ModelPrice most;
  for (const Member& member : members_) {
    auto price = member.model->price(request);
    if (!price) return std::nullopt;
    most.input = std::max(most.input, price->input);
    most.output = std::max(most.output, price->output);
  }
  return most;
}

std::int64_t ModelList::input_tokens_max(const ModelRequest& request) const {
  if (!request.model.empty()) {
    auto member = named(request.model);
    if (member.ok()) return (*member)->model->input_tokens_max(request);
    return Model::input_tokens_max(request);
  }
  std::int64_t most = 0;
  for (const Member& member : members_) {
    most = std::max(most, member.model->input_tokens_max(request));
  }
  return most;
}

}  // namespace belay::models
