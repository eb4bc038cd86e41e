#include "graph/recorded_model.h"

#include <algorithm>

#include "belay/limits.h"

namespace belay {
namespace {

Cost cost_of(const std::optional<ModelPrice>& price, std::int64_t input, std::int64_t output) {
  constexpr std::int64_t million = 1'000'000;
  Cost cost;
  cost.tokens = input + output;
  if (price) cost.money = (input * price->input + output * price->output + million - 1) / million;
  return cost;
}

}  // namespace

std::optional<ModelPrice> RecordedModel::price(const ModelRequest& request) const {
  return attempt_.model ? attempt_.model->price(request) : std::nullopt;
}

std::int64_t RecordedModel::input_tokens_max(const ModelRequest& request) const {
  return attempt_.model ? attempt_.model->input_tokens_max(request)
                        : Model::input_tokens_max(request);
}

RecordedModel::Call RecordedModel::place(int number, const ModelRequest& request) const {
  Call call;
  call.number = number;
  call.row.run = attempt_.run;
  call.row.task = attempt_.task;
  call.row.node = attempt_.node;
  call.row.effect_class = EffectClass::keyed;
  call.row.attempt = 0;
  call.row.created_at = attempt_.now;
  Value document = document_of(request);
  std::string hash = request_hash(document);
  std::string name = std::string(model_call_prefix) + std::to_string(attempt_.attempt) + "/" +
                     std::to_string(number);
  for (int variant = 1;; ++variant) {
    call.row.name = variant == 1 ? name : name + "/" + std::to_string(variant);
    const EffectRow* known = attempt_.journal->find(call.row.name);
    if (!known) break;
    auto record = call_record_in(*known);
    if (!record.ok() || record->request != hash) {
      call.other_request = true;
      continue;
    }
    call.row = *known;
    call.record = *std::move(record);
    call.is_answered = call.record.reply || call.record.error;
    break;
  }
  call.record.request = std::move(hash);
  if (!call.is_answered && !attempt_.replays) {
    call.record.prompt = prompt_of(request, std::move(document));
  }
  call.row.updated_at = std::max(attempt_.now, call.row.created_at);
  return call;
}

Value RecordedModel::prompt_of(const ModelRequest& request, Value document) const {
  document = shown_document(request, std::move(document));
  if (attempt_.redact_prompt) document = (*attempt_.redact_prompt)(request, std::move(document));
  // The stored prompt is only for display: the call must not fail if the prompt cannot be stored.
  return is_recordable(document) ? std::move(document) : Value();
}

Result<ModelReply> RecordedModel::replayed(const Call& call) const {
  std::string which = "of call " + std::to_string(call.number) + " of the model in attempt " +
                      std::to_string(attempt_.attempt) + " of \"" + std::string(attempt_.node) +
                      "\"";
  if (call.other_request) {
    return error(
        ErrorCode::conflict,
        "The request " + which +
            " differs from the recorded one: the code, or data that it depends on, has changed.");
  }
  return error(ErrorCode::not_found,
               "No reply " + which +
                   " is recorded: the call was never made, or its attempt did not complete.");
}

Result<Cost> RecordedModel::most(const ModelRequest& request) const {
  auto price = attempt_.model->price(request);
  if (attempt_.ledger->budget().money && !price) {
    return error(ErrorCode::invalid,
                 "The run has a budget of money, but its model has no price. Set a price for the "
                 "model, or a budget of tokens.");
  }
  return cost_of(price, attempt_.model->input_tokens_max(request), *request.max_output_tokens);
}

// Reserves the maximum cost; the reservation is durable when this returns. If an earlier process
// reserved for the same call and died, its request might have been sent: its whole reservation is
// counted as spent.
Task<Result<Done>> RecordedModel::reserve(Call& call, ModelRequest& request) {
  if (!request.max_output_tokens) request.max_output_tokens = limits::output_tokens_default;
  BELAY_CO_TRY(Cost most_of_it, most(request));
  BELAY_CO_CHECK(attempt_.ledger->reserve(
      most_of_it, "a call of the model by \"" + std::string(attempt_.node) + "\""));
  if (call.record.cost) {
    attempt_.ledger->settle(*call.record.cost, *call.record.cost);
    call.record.lost = call.record.lost.value_or(Cost{}) + *call.record.cost;
  }
  call.record.cost = most_of_it;
  call.row.status = EffectStatus::intended;
  ++call.row.attempt;
  BELAY_CO_TRY(call.row.envelope, envelope_of(call.record));
  EffectRow row = call.row;
  auto written = co_await attempt_.journal->write(std::move(row));
  if (!written.ok()) attempt_.ledger->settle(most_of_it, Cost{});
  co_return std::move(written);
}

// Replaces the reservation by the real cost. The whole reservation counts as spent if the reply has
// no usage, or if the outcome of the call is unknown (`uncertain`); any other error costs nothing.
void RecordedModel::settle(Call& call, const std::optional<ModelPrice>& price) {
  if (!call.record.cost) return;
  Cost reserved = *call.record.cost;
  if (call.record.error) {
    bool is_unknown = call.record.error->code == name_of(ErrorCode::uncertain);
    if (!is_unknown) call.record.cost = Cost{};
  } else if (const auto& usage = call.record.reply->usage) {
    call.record.cost = cost_of(price, usage->input_tokens, usage->output_tokens);
  }
  attempt_.ledger->settle(reserved, *call.record.cost);
}

Result<ModelReply> RecordedModel::keep(Call& call, Result<ModelReply> reply) {
  call.row.status = reply.ok() ? EffectStatus::done : EffectStatus::failed;
  auto envelope = envelope_of(call.record);
  if (!envelope.ok()) {
    // A reply must not be returned if it cannot be stored: after a crash, the node could not
    // continue with it.
    reply = envelope.error();
    call.record.reply.reset();
    call.record.error = recorded(envelope.error());
    call.row.status = EffectStatus::failed;
    envelope = envelope_of(call.record);
  }
  if (!envelope.ok()) return std::move(envelope).error();
  call.row.envelope = *std::move(envelope);
  attempt_.journal->keep(call.row);
  return reply;
}

Task<Result<ModelReply>> RecordedModel::generate(ModelRequest request) {
  Call call = place(++calls_, request);
  if (call.is_answered && call.record.reply) {
    if (request.on_text_delta && !call.record.reply->text.empty()) {
      request.on_text_delta(call.record.reply->text);
    }
    co_return *std::move(call.record.reply);
  }
  if (call.is_answered) co_return error_in(*call.record.error);
  if (attempt_.replays) co_return replayed(call);
  if (counts() && attempt_.model->input_tokens_max(request) > 0) {
    auto reserved = co_await reserve(call, request);
    if (!reserved.ok() && reserved.error().code == ErrorCode::cancelled) {
      co_return std::move(reserved).error();
    }
    if (!reserved.ok()) {
      call.record.error = recorded(reserved.error());
      co_return keep(call, std::move(reserved).error());
    }
  }
  auto price = attempt_.model->price(request);
  if (auto own = std::exchange(request.verdict, verdict_)) {
    // A reader within the node refuses its own reply; the attempt's verdict covers all replies.
    verdict_->when_given([own](bool accepted) { accepted ? own->accept() : own->refuse(); });
    request.verdict = std::move(own);
  }
  std::optional<Instant> begun = attempt_.journal->present();
  auto reply = co_await attempt_.model->generate(std::move(request));
  call.row.took_ms = detail::milliseconds_since(begun, *attempt_.journal);
  if (reply.ok()) {
    call.record.reply = *reply;
  } else {
    call.record.error = recorded(reply.error());
  }
  settle(call, price);
  co_return keep(call, std::move(reply));
}

}  // namespace belay
