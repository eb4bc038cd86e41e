#include "agents/checkpointer/value_parts.h"

#include "agents/checkpointer/checkpoint_rules.h"

namespace belay::checkpointer {

Task<Result<Done>> put_part(CheckpointAccess at, PartBody body, Instant now) {
  BELAY_CO_CHECK(check_text("\"threadId\"", body.threadId, 1, kThreadBytesMax));
  bool is_valid = uuid_from(body.blob) && body.part >= 0 && body.part < kPartsMax &&
                  is_base64(body.data) && !body.data.empty();
  if (!is_valid) {
    co_return error(ErrorCode::invalid, "A part has a UUID, a number below " +
                                            std::to_string(kPartsMax) + " and base64 data.");
  }
  StoredPart part;
  part.threadId = std::move(body.threadId);
  part.blob = std::move(body.blob);
  part.part = body.part;
  part.data = std::move(body.data);
  part.createdAt = now;
  set_keys(part);
  BELAY_CO_TRY(RecordWrite write, record_write(part, at.owner));
  std::vector<RecordWrite> writes;
  writes.push_back(std::move(write));
  co_return co_await at.service.save_records(at.who, std::move(writes));
}

Task<Result<std::string>> read_part(CheckpointAccess at, PartName name) {
  auto records = records_of(at.service, at.who, at.owner);
  std::string key = key_of({name.threadId, name.blob, std::to_string(name.part)});
  BELAY_CO_TRY(auto found, co_await records->get<StoredPart>(std::move(key)));
  if (found) co_return std::move(found->data);
  co_return error(ErrorCode::not_found, "The part " + std::to_string(name.part) + " of the value " +
                                            name.blob + " does not exist.");
}

Task<Result<Done>> check_parts_of(CheckpointAccess at, std::string thread,
                                  const TypedValue& value) {
  for (std::int64_t part = 0; part < value.parts; ++part) {
    PartName name{thread, value.blob, part};
    BELAY_CO_CHECK(co_await read_part(at, std::move(name)));
  }
  co_return Done{};
}

}  // namespace belay::checkpointer
