#include "models/reply_cache.h"

#include <algorithm>

#include "belay/value.h"
#include "models/json_answer.h"

namespace belay::models {
namespace {

// Memory of an entry in addition to its texts: two copies of the key, a list node, a map node.
constexpr std::size_t entry_overhead = 256;
// Refused replies remembered for each request: a model that keeps failing must not fill the cache.
constexpr std::size_t refusals_max = 8;

Value document_of(const Message& message) {
  Value::Array calls;
  for (const ToolCall& call : message.tool_calls) {
    calls.push_back(Value(Value::Array{call.id, call.name, call.arguments}));
  }
  return Value(Value::Array{static_cast<int>(message.role), message.text, std::move(calls),
                            message.tool_call_id});
}

// Not as an initializer list: GCC 12 at -O2 then warns of an access outside of its bounds.
Value document_of(const ToolDefinition& tool) {
  Value::Array members;
  members.reserve(3);
  members.emplace_back(tool.name);
  members.emplace_back(tool.description);
  members.push_back(tool.parameters);
  return Value(std::move(members));
}

template <typename T>
Value value_of(const std::optional<T>& member) {
  return member ? Value(*member) : Value();
}

bool is_kept(const ModelReply& reply) {
  return reply.stop_reason == StopReason::complete && reply.tool_calls.empty() &&
         !reply.text.empty();
}

// Encodes a reply for the shared cache. The text contains the hash of its request: a reply is not
// used if it was stored under the key of another request.
std::string text_of(const Digest& key, const ModelReply& reply, Instant made) {
  return to_json(Value::object({{"request", to_hex(key)},
                                {"made", to_text(made)},
                                {"text", reply.text},
                                {"provider", reply.provider},
                                {"model", reply.model},
                                {"method", reply.method},
                                {"notice", reply.notice}}));
}

struct SharedAnswer {
  ModelReply reply;
  Instant made{};
};

std::optional<SharedAnswer> answer_in(std::string_view text, const Digest& key) {
  auto document = parse_json(text);
  if (!document.ok() || (*document)["request"] != Value(to_hex(key))) return std::nullopt;
  SharedAnswer answer;
  for (auto [name, member] : {std::pair("text", &ModelReply::text),
                              {"provider", &ModelReply::provider},
                              {"model", &ModelReply::model},
                              {"method", &ModelReply::method},
                              {"notice", &ModelReply::notice}}) {
    const std::string* said = (*document)[name].as_string();
    if (!said) return std::nullopt;
    answer.reply.*member = *said;
  }
  const std::string* made = (*document)["made"].as_string();
  auto at = made ? instant_from(*made) : std::nullopt;
  if (!at || !is_kept(answer.reply)) return std::nullopt;
  answer.made = *at;
  answer.reply.usage = Usage{};  // no model was called: no cost
  return answer;
}

std::size_t bytes_of(const ModelReply& reply) {
  return reply.text.size() + reply.provider.size() + reply.model.size() + reply.method.size() +
         reply.notice.size() + entry_overhead;
}

}  // namespace

Digest CachedModel::key_of(const ModelRequest& request) const {
  Value::Array messages;
  for (const Message& message : request.messages) messages.push_back(document_of(message));
  Value::Array tools;
  for (const ToolDefinition& tool : request.tools) tools.push_back(document_of(tool));
  Value::Array all{identity_,
                   request.purpose,
                   std::move(messages),
                   request.response_schema,
                   request.input,
                   value_of(request.max_output_tokens),
                   std::move(tools),
                   static_cast<int>(request.tool_choice),
                   value_of(request.temperature),
                   value_of(request.seed)};
  // Absent from keys that earlier versions have stored in a shared cache.
  if (!request.model.empty()) all.emplace_back(request.model);
  return sha256(to_json(Value(std::move(all))));
}

void CachedModel::remove(Entries::iterator entry) {
  bytes_ -= entry->bytes;
  by_key_.erase(entry->key);
  entries_.erase(entry);
}

CachedModel::Entry* CachedModel::find(const Digest& key) {
  auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  Entries::iterator entry = found->second;
  Instant now = clock_.now();
  // If the clock was set back, an entry from the future must not live longer than its ttl.
  if (now >= entry->made + options_.ttl || now < entry->made) {
    remove(entry);
    return nullptr;
  }
  entries_.splice(entries_.begin(), entries_, entry);
  return &*entry;
}

void CachedModel::keep(Entry entry) {
  entry.bytes =
      bytes_of(entry.reply.value_or(ModelReply())) + entry.refused.size() * sizeof(Digest);
  if (auto found = by_key_.find(entry.key); found != by_key_.end()) remove(found->second);
  if (entry.bytes > options_.bytes_max || options_.entries_max == 0) return;
  while (!entries_.empty() &&
         (entries_.size() >= options_.entries_max || bytes_ + entry.bytes > options_.bytes_max)) {
    remove(std::prev(entries_.end()));
  }
  bytes_ += entry.bytes;
  entries_.push_front(std::move(entry));
  by_key_.emplace(entries_.front().key, entries_.begin());
}

void CachedModel::accept(const Digest& key, const ModelReply& reply) {
  Instant now = clock_.now();
  Entry entry{key, reply, now, {}, 0};
  if (const Entry* known = find(key)) entry.refused = known->refused;
  std::erase(entry.refused, sha256(reply.text));
  keep(std::move(entry));
  if (options_.shared) options_.shared->put(key, text_of(key, reply, now), options_.ttl);
}

// Another reader might have accepted another reply to the same request: that one stays.
void CachedModel::refuse(const Digest& key, const ModelReply& reply) {
  Entry entry{key, std::nullopt, clock_.now(), {}, 0};
  if (const Entry* known = find(key)) entry = *known;
  if (entry.reply && entry.reply->text == reply.text) entry.reply.reset();
  if (options_.shared) {
    if (entry.refused.size() == refusals_max) entry.refused.erase(entry.refused.begin());
    entry.refused.push_back(sha256(reply.text));
    if (!entry.reply) options_.shared->erase(key);
  }
  if (entry.reply || !entry.refused.empty()) return keep(std::move(entry));
  if (auto found = by_key_.find(key); found != by_key_.end()) remove(found->second);
}

void CachedModel::await_verdict(AnswerVerdict& verdict, const Digest& key, ModelReply reply,
                                bool is_new) {
  verdict.when_given(
      [place = weak_from_this(), key, reply = std::move(reply), is_new](bool accepted) {
        auto cache = place.lock();
        if (!cache) return;
        if (!accepted) return cache->refuse(key, reply);
        if (is_new) cache->accept(key, reply);
      });
}

// Returns the reply cached here, else the shared one; never one that a reader refused.
Task<std::optional<ModelReply>> CachedModel::find_kept(Digest key) {
  std::optional<ModelReply> found;
  if (const Entry* known = find(key); known && known->reply) {
    found = known->reply;
    co_return found;
  }
  if (!options_.shared) co_return found;
  // While this awaits, a reader can refuse a reply: the refusals are read again below.
  auto text = co_await options_.shared->get(key);
  auto answer = text ? answer_in(*text, key) : std::nullopt;
  Instant now = clock_.now();
  if (!answer || now < answer->made || now >= answer->made + options_.ttl) co_return found;
  Entry entry{key, answer->reply, answer->made, {}, 0};
  if (const Entry* known = find(key)) entry.refused = known->refused;
  // The deletion in the shared cache might be in progress or lost.
  Digest text_hash = sha256(answer->reply.text);
  bool is_refused =
      std::find(entry.refused.begin(), entry.refused.end(), text_hash) != entry.refused.end();
  if (is_refused) co_return found;
  keep(std::move(entry));
  found = std::move(answer->reply);
  co_return found;
}

Task<Result<ModelReply>> CachedModel::generate(ModelRequest request) {
  Digest key = key_of(request);
  std::shared_ptr<AnswerVerdict> verdict = request.verdict;
  std::optional<ModelReply> known;
  // A second equal request of one attempt asks for another reply: it bypasses the cache.
  if (!verdict || verdict->is_first(to_hex(key))) known = co_await find_kept(key);
  if (known) {
    // No model was called: no cost.
    if (known->usage) known->usage = Usage{};
    if (request.on_text_delta) request.on_text_delta(known->text);
    if (verdict) await_verdict(*verdict, key, *known, false);
    co_return *std::move(known);
  }
  Value schema = request.response_schema;
  auto reply = co_await model_->generate(std::move(request));
  if (!reply.ok() || !is_kept(*reply)) co_return std::move(reply);
  if (verdict) {
    await_verdict(*verdict, key, *reply, true);
  } else if (schema.is_null() || !json_fault(*reply, schema)) {
    accept(key, *reply);
  }
  co_return std::move(reply);
}

}  // namespace belay::models
