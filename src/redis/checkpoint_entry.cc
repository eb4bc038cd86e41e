#include "redis/checkpoint_entry.h"

#include "store/stored_digest.h"

namespace belay::redis {
namespace {

constexpr std::string_view format = "BLY1";
constexpr std::size_t digest_bytes = 32;
constexpr std::size_t row_bytes_least = 5 * 8;

void append_eight_bytes(std::string& out, std::uint64_t number) {
  for (int i = 0; i < 8; ++i) out += static_cast<char>((number >> (8 * i)) & 0xff);
}

void append_text(std::string& out, std::string_view text) {
  append_eight_bytes(out, text.size());
  out += text;
}

void append_id(std::string& out, const Uuid& id) {
  out.append(reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size());
}

std::string digest_over(const CheckpointRow& checkpoint, std::string_view body) {
  return store::bytes_of(sha256(store::kept_hash(checkpoint) + store::bytes_of(sha256(body))));
}

// The fields that identify the commit and its run.
std::string head_of(const CheckpointRow& checkpoint) {
  std::string head;
  append_id(head, checkpoint.run);
  append_id(head, checkpoint.id);
  append_eight_bytes(head, checkpoint.epoch);
  append_eight_bytes(head, checkpoint.seq);
  append_eight_bytes(head, checkpoint.state_seq);
  return head;
}

// Reads from the front of bytes. Reads beyond the end are reported once, at the end.
class Taking {
 public:
  explicit Taking(std::string_view bytes) : left_(bytes) {}
  std::uint64_t number() {
    std::string_view bytes = take(8);
    std::uint64_t number = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) {
      number = (number << 8) | static_cast<unsigned char>(bytes[i]);
    }
    return number;
  }
  std::string_view text() { return take(number()); }
  std::size_t left() const { return left_.size(); }
  bool is_good() const { return is_good_; }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > left_.size()) {
      is_good_ = false;
      left_ = {};
      return {};
    }
    std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }

  std::string_view left_;
  bool is_good_ = true;
};

}  // namespace

std::string checkpoint_entry(const CheckpointRow& checkpoint, const std::vector<ValueRow>& values) {
  std::string body = head_of(checkpoint);
  append_eight_bytes(body, values.size());
  for (const ValueRow& row : values) {
    append_text(body, row.channel);
    append_eight_bytes(body, row.seq);
    append_eight_bytes(body, static_cast<std::uint64_t>(row.index));
    append_eight_bytes(body, static_cast<std::uint64_t>(row.kind));
    append_text(body, row.envelope);
  }
  std::string entry(format);
  entry += digest_over(checkpoint, body);
  entry += body;
  return entry;
}

std::optional<std::vector<ValueRow>> values_in_entry(std::string_view entry,
                                                     const CheckpointRow& checkpoint) {
  if (entry.size() < format.size() + digest_bytes || !entry.starts_with(format)) {
    return std::nullopt;
  }
  std::string_view digest = entry.substr(format.size(), digest_bytes);
  std::string_view body = entry.substr(format.size() + digest_bytes);
  std::string head = head_of(checkpoint);
  if (!body.starts_with(head) || digest != digest_over(checkpoint, body)) return std::nullopt;
  Taking taking(body.substr(head.size()));
  std::uint64_t count = taking.number();
  if (count > taking.left() / row_bytes_least) return std::nullopt;
  std::vector<ValueRow> values(count);
  for (ValueRow& row : values) {
    row.run = checkpoint.run;
    row.channel = taking.text();
    row.seq = taking.number();
    row.index = static_cast<std::int64_t>(taking.number());
    std::uint64_t kind = taking.number();
    if (kind > static_cast<std::uint64_t>(WriteOp::reduce)) return std::nullopt;
    row.kind = static_cast<WriteOp>(kind);
    row.envelope = taking.text();
  }
  if (!taking.is_good() || taking.left() > 0) return std::nullopt;
  return values;
}

std::string checkpoint_key(const RunRow& run) {
  std::string tenant = run.tenant == default_tenant() ? "" : run.tenant.text + ":";
  return tenant + "checkpoint:" + run.thread.text + ":" + run.graph;
}

}  // namespace belay::redis
