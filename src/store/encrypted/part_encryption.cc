// Seals of parts of rows, and the search values of records.

#include <utility>

#include "store/encrypted/bench.h"

namespace belay::encrypted {
namespace {

void pack(std::string_view text, std::string& out) {
  for (std::size_t i = 0; i < 4; ++i) out += static_cast<char>(text.size() >> (8 * i) & 0xff);
  out += text;
}

// Returns nothing if pack() did not create the data.
std::optional<std::vector<std::string>> unpacked(std::string_view data) {
  std::vector<std::string> texts;
  while (!data.empty()) {
    if (data.size() < 4) return std::nullopt;
    std::size_t size = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      size |= static_cast<std::size_t>(static_cast<unsigned char>(data[i])) << (8 * i);
    }
    data.remove_prefix(4);
    if (data.size() < size) return std::nullopt;
    texts.emplace_back(data.substr(0, size));
    data.remove_prefix(size);
  }
  return texts;
}

std::string text_of(const store::RecordField& field) {
  std::string text;
  store::add(text, field.collection);
  store::add(text, field.user.text);
  store::add(text, field.name);
  store::add(text, field.value);
  return text;
}

// Half of the digest keeps the index small; finding a collision requires the key.
std::string short_text_of(const Digest& digest) { return to_hex(digest).substr(0, 32); }

}  // namespace

Result<Done> EnvelopeSealer::seal(const TenantId& tenant, const store::RowPart& part) {
  if (!encrypts()) return Done{};
  std::string envelope = envelope_front(kRowBase, 0);
  for (std::string* text : part.texts) {
    pack(*text, envelope);
    text->clear();
  }
  BELAY_CHECK(seal_here(tenant, part.subject, envelope));
  *part.seal = std::move(envelope);
  return Done{};
}

Result<std::vector<std::string>> EnvelopeSealer::texts_in(const TenantId& tenant,
                                                          const store::Subject& subject,
                                                          std::string_view seal) {
  BELAY_TRY(Parts parts, parts_of(seal, subject));
  if (parts.base != kRowBase || !parts.is_encrypted || parts.is_old || parts.is_reference) {
    return corrupt(subject, "lacks its seal");
  }
  Lease bench(*this);
  BELAY_TRY(std::string_view data, decrypted(*bench, tenant, subject, parts));
  std::string inflated;
  if (parts.is_compressed) {
    if (!(*bench).compression.decompress(data, inflated)) {
      return corrupt(subject, "does not decompress, or claims to hold more than is allowed");
    }
    data = inflated;
  }
  auto texts = unpacked(data);
  if (!texts) return corrupt(subject, "has the seal of another row");
  return *std::move(texts);
}

Result<Done> EnvelopeSealer::open(const TenantId& tenant, const store::RowPart& part) {
  std::string seal = std::exchange(*part.seal, {});
  if (seal.empty()) return check_authentic(false, part.subject);
  BELAY_TRY(std::vector<std::string> texts, texts_in(tenant, part.subject, seal));
  if (texts.empty() && store::may_lack_texts(part.subject.row)) texts.resize(part.texts.size());
  if (texts.size() != part.texts.size()) {
    return corrupt(part.subject, "has the seal of another row");
  }
  for (std::size_t i = 0; i < texts.size(); ++i) *part.texts[i] = std::move(texts[i]);
  return Done{};
}

Result<std::optional<Rewrite>> EnvelopeSealer::part_under_active_key(const TenantId& tenant,
                                                                     const StoredEnvelope& stored) {
  StoredEnvelope kept = stored;
  store::RowPart part{{kept.subject, kept.bound}, &kept.envelope};
  for (std::string& text : kept.texts) part.texts.push_back(&text);
  if (!kept.envelope.empty()) {
    BELAY_TRY(Parts parts, parts_of(kept.envelope, part.subject));
    if (is_under_active_key(parts)) return std::optional<Rewrite>();
  }
  BELAY_CHECK(open(tenant, part));
  std::vector<std::string> shown = kept.texts;
  BELAY_CHECK(seal(tenant, part));
  Rewrite rewrite{stored.position, store::digest_of(stored), std::move(kept.envelope)};
  rewrite.texts = std::move(kept.texts);
  if (auto record = store::record_of_index(stored.subject)) {
    for (std::size_t i = 0; i + 1 < shown.size(); i += 2) {
      store::RecordField field{record->collection, record->user, shown[i], shown[i + 1]};
      rewrite.texts[i] = shown[i];
      rewrite.texts[i + 1] = index_value(tenant, field);
    }
  }
  return std::optional(std::move(rewrite));
}

std::string EnvelopeSealer::index_value(const TenantId& tenant, const store::RecordField& field) {
  if (!encrypts() || is_ordered(field.name)) return std::string(field.value);
  Lease bench(*this);
  const NamedKey& key = encryption_.keys.keys().active();
  return short_text_of((*bench).macs.of(key, KeyUse::index, tenant, text_of(field)));
}

std::vector<std::string> EnvelopeSealer::index_values(const TenantId& tenant,
                                                      const store::RecordField& field) {
  std::vector<std::string> values;
  if (may_be_plain_) values.emplace_back(field.value);
  if (!encrypts()) return values;
  Lease bench(*this);
  for (const auto& key : encryption_.keys.keys().all()) {
    values.push_back(short_text_of((*bench).macs.of(*key, KeyUse::index, tenant, text_of(field))));
  }
  return values;
}

}  // namespace belay::encrypted
