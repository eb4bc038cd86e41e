// Runtime::retry_message() and give_up_message(): changes the status of one message of the outbox.

#include <charconv>

#include "worker/outbox_delivery.h"

namespace belay {
namespace {

struct MessageId {
  RunId run;
  std::uint64_t seq = 0;
  std::int64_t index = 0;
};

template <typename Number>
bool read_number(std::string_view text, Number& into) {
  auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), into);
  return failed == std::errc() && end == text.data() + text.size();
}

// Parses "run/seq/index".
Result<MessageId> message_id(std::string_view text) {
  MessageId id;
  std::size_t first = text.find('/');
  std::size_t second = first == text.npos ? first : text.find('/', first + 1);
  auto run = uuid_from(text.substr(0, first));
  if (second == text.npos || !run ||
      !read_number(text.substr(first + 1, second - first - 1), id.seq) ||
      !read_number(text.substr(second + 1), id.index)) {
    return error(ErrorCode::invalid,
                 "Invalid message id \"" + std::string(text) + "\": expected run/seq/index.");
  }
  id.run = RunId(*run);
  return id;
}

Result<OutboxRow> find_message(Snapshot& view, const TenantId& tenant, const MessageId& id) {
  OutboxFilter filter;
  filter.tenant = tenant;
  filter.run = id.run;
  filter.after.emplace(id.seq, id.index - 1);
  filter.limit = 1;
  BELAY_TRY(std::vector<OutboxRow> rows, view.outbox(filter));
  bool is_there = !rows.empty() && rows[0].seq == id.seq && rows[0].index == id.index;
  if (!is_there) return error(ErrorCode::not_found, "Unknown message id.");
  return std::move(rows[0]);
}

}  // namespace

Task<Result<Done>> OutboxDelivery::move_message(TenantId tenant, std::string text,
                                                OutboxStatus to) {
  BELAY_CO_TRY(MessageId id, message_id(text));
  std::function<Result<OutboxRow>(Snapshot&)> reader = [tenant, id](Snapshot& view) {
    return find_message(view, tenant, id);
  };
  auto found = co_await read<OutboxRow>(parts_.store, reader);
  if (!found.ok()) co_return std::move(found).error();
  if (to == OutboxStatus::given_up && found->status == to) co_return Done{};  // a repeated request
  bool can_be = found->status == OutboxStatus::waiting ||
                (found->status == OutboxStatus::given_up && to == OutboxStatus::waiting);
  if (!can_be) {
    co_return error(ErrorCode::conflict, "The message " + text + " is already " +
                                             std::string(name_of(found->status)) + ".");
  }
  Commit commit;
  commit.tenant = tenant;
  commit.message_guard = OutboxGuard{id.run, id.seq, id.index, found->attempts, found->status};
  found->status = to;
  found->due_at = parts_.clock.now();
  found->envelope.clear();
  commit.rows.outbox.push_back(*std::move(found));
  auto outcome = co_await parts_.store.commit(std::move(commit));
  if (!outcome.ok()) co_return std::move(outcome).error();
  if (*outcome != CommitOutcome::applied) {
    // Race: of two concurrent identical requests, the other one was committed first.
    auto now = co_await read<OutboxRow>(parts_.store, std::move(reader));
    if (now.ok() && now->status == to) co_return Done{};
    co_return error(ErrorCode::conflict,
                    "The message " + text + " changed concurrently. Show it again.");
  }
  look(tenant);
  co_return Done{};
}

}  // namespace belay
