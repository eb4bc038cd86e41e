// Envelopes, plaintext and encrypted: a parsed envelope is rebuilt unchanged, a sealed one opens to
// the same data, and a changed one never opens.

#include "store/envelope.h"
#include "belay/detail/expiry_envelope.h"
#include "belay/testing.h"
#include "store/encrypted/compression.h"
#include "store/encrypted/digest_mask.h"
#include "store/encrypted/envelope_sealer.h"
#include "tests/fuzz/target.h"

namespace belay::fuzz {
namespace {

constexpr std::string_view kSubject = "value of a run";

KeyRing known_keys() {
  return KeyRing::from_text("k1:" + std::string(64, 'a') + "\nk2:" + std::string(64, 'b')).value();
}

EncryptionOptions with_keys(bool accept_plain) {
  EncryptionOptions encryption;
  encryption.keys = known_keys();
  encryption.accept_plaintext = accept_plain;
  encryption.blob_above = 2'000;
  return encryption;
}

void take_apart(std::string_view input) {
  auto json = json_in_envelope(input);
  auto parts = encrypted::parts_of(input, kSubject);
  if (json.ok()) {
    auto both = detail::with_expiry_message(input);
    require(both.ok() && both->json == *json, "both readers agree");
    std::string again = both->message.empty() ? json_envelope(*json)
                                              : detail::expiry_envelope(both->message, *json);
    require(again == input, "a plain envelope goes together again");
    require(parts.ok() && parts->is_plain() && parts->data.ends_with(*json), "all readers agree");
  } else {
    require_sound(json.error());
  }
  if (!parts.ok()) return require_sound(parts.error());
  std::string again = encrypted::envelope_front(parts->type, parts->data.size());
  require(again.append(parts->data) == input, "an envelope goes together again");
}

// Bytes that another process wrote into the store: only data that the key has sealed can be opened.
void open_foreign(std::string_view input) {
  static testing::SeededRandom random(1);
  static encrypted::EnvelopeSealer strict(with_keys(false), random);
  static encrypted::EnvelopeSealer lenient(with_keys(true), random);
  for (encrypted::EnvelopeSealer* sealer : {&strict, &lenient}) {
    std::string envelope(input);
    auto opened = sealer->open(default_tenant(), kSubject, envelope);
    if (!opened.ok()) {
      require_sound(opened.error());
      require(
          opened.error().code == ErrorCode::corrupt || opened.error().code == ErrorCode::invalid,
          "what does not open is corrupt or wants a key");
    } else if (!envelope.empty() && !*opened) {
      auto parts = encrypted::parts_of(envelope, kSubject);
      require(parts.ok() && parts->is_plain(), "what is open is plain");
    }
    BlobRow blob{sha256(input), std::string(input)};
    auto text = sealer->open_blob(default_tenant(), input, blob);
    if (!text.ok()) require_sound(text.error());
  }
  StoredEnvelope stored;
  stored.subject = kSubject;
  stored.envelope = input;
  for (auto kind : {StoredEnvelope::Kind::tasks, StoredEnvelope::Kind::digest}) {
    stored.kind = kind;
    auto kept = lenient.kept_under_active_key(default_tenant(), stored);
    if (!kept.ok()) require_sound(kept.error());
    auto key = lenient.key_of_kept(default_tenant(), stored);
    if (!key.ok()) require_sound(key.error());
  }
}

// `at` selects the byte that is changed.
void seal_and_open(unsigned at, std::string_view text) {
  static testing::SeededRandom random(2);
  static encrypted::EnvelopeSealer sealer(with_keys(false), random);
  std::string plain = json_envelope(text);
  std::string envelope = plain;
  std::vector<BlobRow> blobs;
  require(sealer.seal(default_tenant(), kSubject, envelope, blobs).ok(), "a plain one is sealed");
  std::string opened = envelope;
  auto blob = sealer.open(default_tenant(), kSubject, opened);
  require(blob.ok(), "what was sealed opens");
  if (*blob) {
    require(blobs.size() == 1 && blobs[0].id == **blob, "a large one is in its blob");
    auto held = sealer.open_blob(default_tenant(), opened, blobs[0]);
    require(held.ok() && *held == plain, "and comes out of it as it was");
  } else {
    require(opened == plain, "it comes out as it was");
  }
  std::string moved = envelope;
  require(!sealer.open(default_tenant(), "value of another", moved).ok(), "it is bound to its row");
  std::string changed = envelope;
  std::size_t place = at * envelope.size() / 256;
  changed[place] = static_cast<char>(changed[place] ^ (1u << at % 8));
  auto refused = sealer.open(default_tenant(), kSubject, changed);
  require(!refused.ok(), "what was changed does not open");
  require_sound(refused.error());
}

void compress_and_back(std::string_view input) {
  static encrypted::Compression compression;
  std::string out;
  if (compression.decompress(input, out)) {
    require(out.size() <= encrypted::kFrameBytesMax, "a frame is bounded");
  }
  std::string frame, back;
  if (!compression.compress(input, frame)) return;
  require(compression.decompress(frame, back) && back == input, "a frame holds what it was given");
}

void mask_and_back(std::string_view input) {
  static const KeyRing ring = known_keys();
  static encrypted::Macs macs;
  static const store::Subject subject{std::string(kSubject), "what it is bound to"};
  const encrypted::NamedKey& key = ring.keys().active();
  using encrypted::Unmasked;
  if (auto parts = encrypted::masked_parts_of(input)) {
    Digest digest{};
    Unmasked found = encrypted::unmask(macs, key, default_tenant(), subject, *parts, digest);
    if (found == Unmasked::well && parts->key_id == key.id && !parts->code.empty()) {
      require(encrypted::masked(macs, key, default_tenant(), subject, digest) == input,
              "a mask can be put on again");
    }
  }
  Digest digest = sha256(input);
  std::string bytes = encrypted::masked(macs, key, default_tenant(), subject, digest);
  auto parts = encrypted::masked_parts_of(bytes);
  Digest back{};
  require(
      parts &&
          encrypted::unmask(macs, key, default_tenant(), subject, *parts, back) == Unmasked::well &&
          back == digest,
      "a mask comes off");
}

// Seals the input's lines as a row part: they can be opened, but not with other bound values.
void seal_part(std::string_view input) {
  static testing::SeededRandom random(4);
  static encrypted::EnvelopeSealer sealer(with_keys(false), random);
  std::vector<std::string> texts;
  while (texts.size() < 5) {
    std::size_t end = std::min(input.find('\n'), input.size());
    texts.emplace_back(input.substr(0, end));
    if (end == input.size()) break;
    input.remove_prefix(end + 1);
  }
  const std::vector<std::string> given = texts;
  std::string seal;
  store::RowPart part{{"run 1", "paused"}, &seal};
  for (std::string& text : texts) part.texts.push_back(&text);
  require(sealer.seal(default_tenant(), part).ok(), "a part is sealed");
  for (const std::string& text : texts) require(text.empty(), "and leaves nothing in plain");
  std::string kept = seal;
  store::RowPart changed = part;
  changed.subject.bound = "running";
  require(!sealer.open(default_tenant(), changed).ok(), "a changed word is seen");
  seal = kept;
  require(sealer.open(default_tenant(), part).ok() && texts == given, "a part opens as it was");
}

}  // namespace
}  // namespace belay::fuzz

BELAY_FUZZ_TARGET(Envelope, "envelope") {
  using namespace belay;
  unsigned way = fuzz::take_byte(input);
  if (way % 4 == 0) {
    fuzz::take_apart(input);
  } else if (way % 4 == 1) {
    fuzz::open_foreign(input);
  } else if (way % 4 == 2) {
    unsigned at = fuzz::take_byte(input);
    fuzz::seal_and_open(at, input);
  } else {
    fuzz::compress_and_back(input);
    fuzz::mask_and_back(input);
    fuzz::seal_part(input);
  }
}
