// Long on purpose: the sealer and everything that it rejects, with one set of keys.

// Encrypts and decrypts single envelopes, and checks that changed ones are rejected.

#include "store/encrypted/envelope_sealer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <zstd.h>

#include <charconv>

#include <set>

#include "store/encrypted/cipher.h"
#include "store/encrypted/compression.h"
#include "store/envelope_subject.h"
#include "tests/support/encryption_fixture.h"

namespace belay::encrypted {
namespace {

using testing::HasSubstr;

const TenantId kTenant{"ana's practice"};
constexpr std::string_view kSubject = "value 1 text";

EncryptionOptions compressed() {
  EncryptionOptions encryption;
  encryption.compress = EncryptionOptions::Compress::always;
  return encryption;
}

class Sealer {
 public:
  explicit Sealer(EncryptionOptions encryption) : sealer(std::move(encryption), random) {}

  std::string seal(std::string envelope, const store::Subject& subject = kSubject,
                   const TenantId& tenant = kTenant) {
    auto sealed = sealer.seal(tenant, subject, envelope, blobs);
    EXPECT_TRUE(sealed.ok()) << sealed.error().message;
    return envelope;
  }
  Result<std::string> open(std::string envelope, const store::Subject& subject = kSubject,
                           const TenantId& tenant = kTenant) {
    BELAY_TRY(auto id, sealer.open(tenant, subject, envelope));
    if (!id) return envelope;
    for (const BlobRow& blob : blobs) {
      if (blob.id == *id) return sealer.open_blob(tenant, envelope, blob);
    }
    return error(ErrorCode::not_found, "no such blob");
  }

  SeededRandom random;
  EnvelopeSealer sealer;
  std::vector<BlobRow> blobs;
};

std::string type_of(std::string_view envelope) {
  return std::string(parts_of(envelope, kSubject).value().type);
}

std::string bytes_from(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    int byte = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

ErrorCode code_of(const Result<std::string>& opened) {
  return opened.ok() ? ErrorCode::not_found : opened.error().code;
}

std::string envelope_of(std::string_view type, std::string_view data) {
  return envelope_front(type, 0) + std::string(data);
}

TEST(Encryption, TheTypeNamesTheWholeChain) {
  std::string small = json_envelope("\"hello\"");
  std::string large = json_envelope(prose(1'000));
  EncryptionOptions as_it_is;
  as_it_is.compress = EncryptionOptions::Compress::never;
  EXPECT_EQ(Sealer(as_it_is).seal(large), large);
  as_it_is.compress = EncryptionOptions::Compress::with_key;
  EXPECT_EQ(Sealer(as_it_is).seal(large), large);
  EXPECT_EQ(Sealer(compressed()).seal(small), small);
  EXPECT_EQ(type_of(Sealer(compressed()).seal(large)), "json+zstd");
  EXPECT_EQ(type_of(Sealer(encrypted()).seal(small)), "json+xaes256gcm;k=k1");
  EXPECT_EQ(type_of(Sealer(encrypted()).seal(large)), "json+zstd+xaes256gcm;k=k1");
  EncryptionOptions uncompressed = encrypted();
  uncompressed.compress = EncryptionOptions::Compress::never;
  EXPECT_EQ(type_of(Sealer(uncompressed).seal(large)), "json+xaes256gcm;k=k1");
  EncryptionOptions in_blobs = encrypted();
  in_blobs.blob_above = 100;
  EXPECT_EQ(type_of(Sealer(in_blobs).seal(large)), "json+blob+xaes256gcm;k=k1");
  in_blobs.keys = KeyRing();
  EXPECT_EQ(type_of(Sealer(in_blobs).seal(large)), "json+blob");
}

TEST(Encryption, WhatHardlyCompressesStaysAsItIs) {
  Sealer sealer(compressed());
  std::string noise;
  for (int i = 0; i < 2'000; ++i) noise += static_cast<char>(sealer.random.bits());
  std::string envelope = json_envelope(noise);
  EXPECT_EQ(sealer.seal(envelope), envelope);
}

TEST(Encryption, WhateverIsSealedOpensAgain) {
  EXPECT_TRUE(rc::check([] {
    EncryptionOptions encryption;
    auto digit = *rc::gen::inRange('0', ':');
    if (*rc::gen::arbitrary<bool>()) encryption.keys = ring(key_line("key.of-May", digit));
    encryption.compress =
        *rc::gen::element(EncryptionOptions::Compress::with_key,
                          EncryptionOptions::Compress::always, EncryptionOptions::Compress::never);
    encryption.compress_from = *rc::gen::inRange<std::size_t>(0, 300);
    encryption.blob_above = *rc::gen::inRange<std::size_t>(0, 3'000);
    Sealer sealer(encryption);
    std::string data = *rc::gen::arbitrary<std::string>();
    if (*rc::gen::arbitrary<bool>()) data += prose(*rc::gen::inRange<std::size_t>(0, 5'000));
    std::string subject = *rc::gen::arbitrary<std::string>();
    std::string envelope = json_envelope(data);
    auto opened = sealer.open(sealer.seal(envelope, subject), subject);
    RC_ASSERT(opened.ok());
    RC_ASSERT(*opened == envelope);
  }));
}

TEST(Encryption, NoBytesAreNoEnvelopeAndStaySo) {
  Sealer sealer(encrypted());
  EXPECT_EQ(sealer.seal(""), "");
  EXPECT_EQ(sealer.open("").value(), "");
}

TEST(Encryption, WhatIsNoPlainEnvelopeIsNotSealed) {
  Sealer sealer(encrypted());
  for (std::string envelope : {std::string("forged"), envelope_of("json+zstd", "x"),
                               sealer.seal(json_envelope("1")), envelope_of("", "x")}) {
    auto sealed = sealer.sealer.seal(kTenant, kSubject, envelope, sealer.blobs);
    ASSERT_FALSE(sealed.ok());
    EXPECT_EQ(sealed.error().code, ErrorCode::invalid);
  }
}

// Expects `corrupt`, or `invalid` if the type itself was changed.
void expect_refused(Sealer& sealer, const std::string& envelope, const std::string& where,
                    std::size_t data_begins) {
  auto opened = sealer.open(envelope);
  ASSERT_FALSE(opened.ok()) << where;
  bool in_type = envelope.size() > 4 && data_begins > 0;
  if (opened.error().code == ErrorCode::invalid && in_type) return;
  EXPECT_EQ(opened.error().code, ErrorCode::corrupt) << where << ": " << opened.error().message;
  EXPECT_THAT(opened.error().message, HasSubstr("value 1 text")) << where;
}

void expect_every_flip_refused(Sealer& sealer, const std::string& sealed) {
  std::size_t data_begins = 4 + type_of(sealed).size();
  for (std::size_t bit = 0; bit < sealed.size() * 8; ++bit) {
    std::string changed = sealed;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    bool in_data = bit / 8 >= data_begins;
    expect_refused(sealer, changed, "bit " + std::to_string(bit), in_data ? 0 : data_begins);
  }
}

TEST(Encryption, EveryFlippedBitIsRefused) {
  Sealer plain_inside(encrypted());
  expect_every_flip_refused(plain_inside, plain_inside.seal(json_envelope("{\"risk\":7}")));
  Sealer both(encrypted());
  expect_every_flip_refused(both, both.seal(json_envelope(prose(400))));
}

TEST(Encryption, EveryFlippedBitOfACompressedValueIsSeenWithoutAKey) {
  Sealer sealer(compressed());
  std::string envelope = json_envelope(prose(600));
  std::string sealed = sealer.seal(envelope);
  ASSERT_EQ(type_of(sealed), "json+zstd");
  for (std::size_t bit = (4 + 9) * 8; bit < sealed.size() * 8; ++bit) {
    std::string changed = sealed;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    auto opened = sealer.open(changed);
    // If zstd ignores the changed bit, the change is not detected; the text is then unchanged.
    if (opened.ok()) {
      EXPECT_EQ(*opened, envelope) << "bit " << bit;
    } else {
      EXPECT_EQ(opened.error().code, ErrorCode::corrupt) << "bit " << bit;
    }
  }
}

TEST(Encryption, EveryFlippedBitOfABlobIsRefused) {
  for (bool with_key : {false, true}) {
    EncryptionOptions encryption = with_key ? encrypted() : compressed();
    encryption.blob_above = 50;
    Sealer sealer(encryption);
    std::string reference = sealer.seal(json_envelope(prose(with_key ? 200 : 400)));
    ASSERT_EQ(sealer.blobs.size(), 1u);
    BlobRow whole = sealer.blobs.front();
    std::size_t data_begins = 4 + type_of(whole.envelope).size();
    for (std::size_t bit = data_begins * 8; bit < whole.envelope.size() * 8; ++bit) {
      sealer.blobs.front() = whole;
      char& byte = sealer.blobs.front().envelope[bit / 8];
      byte = static_cast<char>(byte ^ (1 << bit % 8));
      auto opened = sealer.open(reference);
      if (opened.ok() && !with_key) continue;  // same contents: its hash was compared
      ASSERT_FALSE(opened.ok()) << bit;
      EXPECT_EQ(opened.error().code, ErrorCode::corrupt) << opened.error().message;
      EXPECT_THAT(opened.error().message, HasSubstr("blob " + to_hex(whole.id)));
    }
  }
}

TEST(Encryption, AnEnvelopeThatIsCutOffIsRefusedAtEveryLength) {
  Sealer sealer(encrypted());
  std::string sealed = sealer.seal(json_envelope(prose(300)));
  for (std::size_t size = 1; size < sealed.size(); ++size) {
    auto opened = sealer.open(sealed.substr(0, size));
    ASSERT_FALSE(opened.ok()) << size;
    EXPECT_EQ(opened.error().code, ErrorCode::corrupt) << size;
  }
  EXPECT_EQ(code_of(sealer.open(sealed + "x")), ErrorCode::corrupt);
}

TEST(Encryption, AnEnvelopeOfAnotherRowOrTenantDoesNotOpen) {
  Sealer sealer(encrypted());
  std::string sealed = sealer.seal(json_envelope("1"));
  EXPECT_TRUE(sealer.open(sealed).ok());
  EXPECT_EQ(code_of(sealer.open(sealed, "value 1 other")), ErrorCode::corrupt);
  EXPECT_EQ(code_of(sealer.open(sealed, kSubject, TenantId("another"))), ErrorCode::corrupt);
  std::string here = sealer.seal(json_envelope("1"), "ab", TenantId("c"));
  EXPECT_FALSE(sealer.open(here, "b", TenantId("ca")).ok());
}

TEST(Encryption, ABlobUnderAnotherNameDoesNotOpen) {
  EncryptionOptions encryption = encrypted();
  encryption.blob_above = 10;
  Sealer sealer(encryption);
  std::string one = sealer.seal(json_envelope("\"one long text\""));
  sealer.seal(json_envelope("\"two long texts\""));
  ASSERT_EQ(sealer.blobs.size(), 2u);
  std::swap(sealer.blobs[0].envelope, sealer.blobs[1].envelope);
  EXPECT_EQ(code_of(sealer.open(one)), ErrorCode::corrupt);
}

TEST(Encryption, EqualLargeValuesAreOneBlobOfATenant) {
  for (bool with_key : {false, true}) {
    EncryptionOptions encryption = with_key ? encrypted() : EncryptionOptions();
    encryption.blob_above = 10;
    Sealer sealer(encryption);
    std::string envelope = json_envelope("\"one long text\"");
    EXPECT_EQ(sealer.open(sealer.seal(envelope)).value(), envelope);
    EXPECT_EQ(sealer.open(sealer.seal(envelope, "another"), "another").value(), envelope);
    ASSERT_EQ(sealer.blobs.size(), 1u);
    EXPECT_EQ(sealer.blobs.front().id == sha256(envelope), !with_key)
        << "with a key its name must not tell its text";
    sealer.seal(envelope, kSubject, TenantId("b"));
    EXPECT_EQ(sealer.blobs.size(), with_key ? 2u : 1u);
  }
}

TEST(Encryption, AMissingAndAWrongKeyAreNamed) {
  std::string sealed = Sealer(encrypted()).seal(json_envelope("1"));
  for (EncryptionOptions encryption : {EncryptionOptions(), encrypted(key_line("k2", 'a'))}) {
    auto opened = Sealer(encryption).open(sealed);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, ErrorCode::invalid);
    EXPECT_THAT(opened.error().message, HasSubstr("the key \"k1\", which is not in the key ring"));
  }
  auto opened = Sealer(encrypted(key_line("k1", 'b'))).open(sealed);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, ErrorCode::invalid);
  EXPECT_THAT(opened.error().message, HasSubstr("has another key with this id"));
}

TEST(Encryption, AnOlderKeyStillOpensAndTheFirstOneSeals) {
  std::string envelope = json_envelope(prose(500));
  std::string old = Sealer(encrypted()).seal(envelope);
  Sealer both(encrypted(key_line("k2", 'b') + key_line("k1", 'a')));
  EXPECT_EQ(both.open(old).value(), envelope);
  EXPECT_EQ(type_of(both.seal(envelope)), "json+zstd+xaes256gcm;k=k2");
  std::string moved = both.sealer.under_active_key(kTenant, kSubject, old).value();
  EXPECT_EQ(Sealer(encrypted(key_line("k2", 'b'))).open(moved).value(), envelope);
}

TEST(Encryption, WithAKeyPlainTextIsRefusedUnlessItIsExpected) {
  std::string plain = json_envelope("{\"risk\":1}");
  std::string zipped = Sealer(compressed()).seal(json_envelope(prose(500)));
  for (const std::string& envelope : {plain, zipped}) {
    auto opened = Sealer(encrypted()).open(envelope);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, ErrorCode::corrupt);
    EXPECT_THAT(opened.error().message, HasSubstr("is plaintext although a key is configured"));
    EncryptionOptions before = encrypted();
    before.accept_plaintext = true;
    EXPECT_TRUE(Sealer(before).open(envelope).ok());
  }
}

TEST(Encryption, AnUnknownTypeNeedsANewerBelay) {
  Sealer sealer{EncryptionOptions()};
  for (const char* type : {"json+lz4", "json+zstd+blob", "json+xaes256gcm;k=", "+zstd",
                           "json+zstd+zstd", "json+aes256gcm", "json+aes256gcm;k="}) {
    EXPECT_EQ(code_of(sealer.open(envelope_of(type, "data"))), ErrorCode::invalid) << type;
  }
  EXPECT_EQ(code_of(sealer.open(envelope_of("json+blob", "too short"))), ErrorCode::corrupt);
}

std::string frame_of(const std::string& text) {
  std::string frame(ZSTD_compressBound(text.size()), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), text.data(), text.size(), 3));
  return frame;
}

TEST(Encryption, ABombIsRefused) {
  Sealer sealer(compressed());
  std::string bomb = frame_of(std::string(kFrameBytesMax + 1, '0'));
  ASSERT_LT(bomb.size(), 100'000u);
  EXPECT_EQ(code_of(sealer.open(envelope_of("json+zstd", bomb))), ErrorCode::corrupt);
  std::string two = frame_of("\"a\"") + frame_of("\"b\"");
  EXPECT_EQ(code_of(sealer.open(envelope_of("json+zstd", two))), ErrorCode::corrupt);
  EXPECT_EQ(code_of(sealer.open(envelope_of("json+zstd", ""))), ErrorCode::corrupt);
}

// The row's values next to its envelope: a status, an attempt.
const store::Subject kDone{"effect 1 pay", "done"};
const store::Subject kFailed{"effect 1 pay", "failed"};

TEST(Encryption, WhatStandsBesideAnEnvelopeCannotBeChanged) {
  Sealer sealer(encrypted());
  std::string sealed = sealer.seal(json_envelope("1"), kDone);
  EXPECT_TRUE(sealer.open(sealed, kDone).ok());
  EXPECT_EQ(code_of(sealer.open(sealed, kFailed)), ErrorCode::corrupt);
  EXPECT_EQ(code_of(sealer.open(sealed, kDone.row)), ErrorCode::corrupt);
}

TEST(Encryption, EvenNothingIsSealedWhereSomethingIsBoundToIt) {
  Sealer sealer(encrypted());
  std::string sealed = sealer.seal("", kDone);
  EXPECT_EQ(type_of(sealed), "row+xaes256gcm;k=k1");
  EXPECT_EQ(sealer.open(sealed, kDone).value(), "");
  EXPECT_EQ(code_of(sealer.open(sealed, kFailed)), ErrorCode::corrupt);
  EXPECT_EQ(code_of(sealer.open("", kDone)), ErrorCode::corrupt) << "it was taken away";
  EXPECT_EQ(Sealer(compressed()).seal("", kDone), "");
}

// '{"risk":7}' sealed by an older Belay: with a nonce of 12 bytes, and bound only to its row.
const std::string kOldSealed = bytes_from(
    "130000006a736f6e2b61657332353667636d3b6b3d6b3178fb3e2414df177b2330ae12d70d325947d5fb0dc37da3e3"
    "b4c032dfdf8a6e2733e032b06c6c33be8bb7");

TEST(Encryption, WhatAnOlderBelaySealedOpensAndGoesUnderTheNewMethod) {
  std::string envelope = json_envelope("{\"risk\":7}");
  Sealer sealer(encrypted());
  EXPECT_EQ(sealer.open(kOldSealed).value(), envelope);
  EXPECT_EQ(code_of(sealer.open(kOldSealed, "value 1 other")), ErrorCode::corrupt);
  auto parts = parts_of(kOldSealed, kSubject);
  EXPECT_FALSE(sealer.sealer.is_under_active_key(*parts)) << "so that a rotation seals it anew";
  std::string moved = sealer.sealer.under_active_key(kTenant, kSubject, kOldSealed).value();
  EXPECT_EQ(type_of(moved), "json+xaes256gcm;k=k1");
  EXPECT_EQ(sealer.open(moved).value(), envelope);
}

TEST(Encryption, WhatAnOlderBelayDidNotBindIsRefusedUnlessItIsExpected) {
  store::Subject bound{std::string(kSubject), "done"};
  EXPECT_EQ(code_of(Sealer(encrypted()).open(kOldSealed, bound)), ErrorCode::corrupt);
  EncryptionOptions before = encrypted();
  before.accept_plaintext = true;
  EXPECT_TRUE(Sealer(before).open(kOldSealed, bound).ok());
}

// https://c2sp.org/XAES-256-GCM has two test vectors, one for each way to double a block.
TEST(Encryption, TheKeysOfMessagesAreThoseOfTheSpecification) {
  struct Vector {
    std::uint8_t byte;
    std::string_view derived;
  };
  for (const Vector& vector :
       {Vector{1, "c8612c9ed53fe43e8e005b828a1631a0bbcb6ab2f46514ec4f439fcfd0fa969b"},
        Vector{3, "e9c621d4cdd9b11b00a6427ad7e559aeedd66b3857646677748f8ca796cb3fd8"}}) {
    TenantKey key;
    std::fill_n(key.data(), kKeyBytes, vector.byte);
    TenantKey derived;
    MessageKeys(key).derive("ABCDEFGHIJKLMNOPQRSTUVWX", derived);
    std::string bytes(reinterpret_cast<const char*>(derived.data()), kKeyBytes);
    EXPECT_EQ(bytes, bytes_from(vector.derived));
  }
}

// Equal values would reveal in the index that two fields have the same text.
TEST(Encryption, TheSameTextIsSearchedByAnotherValueInEachFieldUserCollectionAndTenant) {
  Sealer sealer(encrypted());
  UserId ana("ana"), ben("ben");
  std::set<std::string> values;
  for (const TenantId& tenant : {kTenant, TenantId("other")}) {
    for (std::string_view collection : {"notes", "journal"}) {
      for (const UserId& user : {ana, ben}) {
        for (std::string_view field : {"mood", "title"}) {
          for (std::string_view text : {"low", "high"}) {
            store::RecordField wanted{collection, user, field, text};
            std::string value = sealer.sealer.index_value(tenant, wanted);
            EXPECT_EQ(sealer.sealer.index_values(tenant, wanted).back(), value);
            values.insert(std::move(value));
          }
        }
      }
    }
  }
  EXPECT_EQ(values.size(), 32u);
}

TEST(Encryption, NoNonceComesTwice) {
  std::unique_ptr<Random> random = system_random();
  Cipher cipher(*random);
  KeyRing keys = ring(key_line("k1", 'a'));
  store::Subject subject = kSubject;
  std::vector<std::array<char, kNonceBytes>> nonces(1'000'000);
  for (auto& nonce : nonces) {
    std::string out;
    cipher.seal(keys.keys().active(), Binding{kTenant, subject, "json"}, "1", out);
    std::copy_n(out.begin() + kCheckBytes, kNonceBytes, nonce.begin());
  }
  std::sort(nonces.begin(), nonces.end());
  EXPECT_EQ(std::adjacent_find(nonces.begin(), nonces.end()), nonces.end());
}

}  // namespace
}  // namespace belay::encrypted
