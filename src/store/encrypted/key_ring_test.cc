// Parsing of keys: accepted and rejected texts, and that no message contains a key.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "belay/storage.h"
#include "store/encrypted/keys.h"
#include "store/encrypted/macs.h"
#include "tests/support/encryption_fixture.h"

namespace belay::encrypted {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string kHex = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const std::string kBase64 = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

std::string bytes_of(const KeyRing& keys) {
  return {reinterpret_cast<const char*>(keys.keys().active().bytes.data()), kKeyBytes};
}

TEST(KeyRings, TheFirstKeyIsTheActiveOne) {
  KeyRing keys = ring("# of May\n" + key_line("k2", '2') + "\n# older\n" + key_line("k1", '1'));
  EXPECT_THAT(keys.ids(), ElementsAre("k2", "k1"));
  EXPECT_EQ(keys.keys().active().id, "k2");
  EXPECT_TRUE(KeyRing().empty());
}

TEST(KeyRings, HexadecimalAndBase64SayTheSame) {
  std::string expected;
  for (char byte = 0; byte < 32; ++byte) expected += byte;
  EXPECT_EQ(bytes_of(ring("k:" + kHex)), expected);
  EXPECT_EQ(bytes_of(ring("k: " + kBase64 + " \r\n")), expected);
}

TEST(KeyRings, WhatIsNoKeyIsRefusedByItsLineAndNeverShown) {
  struct Case {
    std::string text;
    std::string says;
  };
  const Case cases[] = {
      {"", "The keys are empty."},
      {"# nothing\n", "The keys are empty."},
      {kHex, "Line 1 of the keys has no colon"},
      {"\n\n" + kBase64 + ":x", "Line 3 of the keys has an invalid id before its colon"},
      {":" + kHex, "has an invalid id before its colon"},
      {"k 1:" + kHex, "has an invalid id before its colon"},
      {std::string(33, 'k') + ":" + kHex, "has an invalid id before its colon"},
      {"k:" + kHex.substr(1), "no key of 32 bytes"},
      {"k:" + kHex + "0", "no key of 32 bytes"},
      {"k:g" + kHex.substr(1), "no key of 32 bytes"},
      {"k:" + kBase64.substr(0, 43), "no key of 32 bytes"},
      {"k:" + kBase64.substr(0, 42) + "==", "no key of 32 bytes"},
      {"k:" + kBase64.substr(0, 42) + "9=", "no key of 32 bytes"},
      {"k:" + kHex + "\nk:" + kHex, "Line 2 of the keys has the id \"k\" for the second time"},
  };
  for (const Case& one : cases) {
    auto keys = KeyRing::from_text(one.text);
    ASSERT_FALSE(keys.ok()) << one.says;
    EXPECT_EQ(keys.error().code, ErrorCode::invalid);
    EXPECT_THAT(keys.error().message, HasSubstr(one.says));
    EXPECT_THAT(keys.error().message, Not(HasSubstr(kHex.substr(2, 20))));
    EXPECT_THAT(keys.error().message, Not(HasSubstr(kBase64.substr(2, 20))));
  }
}

TEST(KeyRings, KeysOfTenantsAndUsesDiffer) {
  KeyRing keys = ring("k:" + kHex);
  auto derived = [&](KeyUse use, const std::string& tenant) {
    TenantKey key;
    derive_tenant_key(keys.keys().active(), use, TenantId(tenant), key);
    return std::string(reinterpret_cast<const char*>(key.data()), kKeyBytes);
  };
  std::set<std::string> all;
  for (KeyUse use : {KeyUse::old_values, KeyUse::values, KeyUse::blobs, KeyUse::digests,
                     KeyUse::chain, KeyUse::index}) {
    for (const char* tenant : {"a", "b"}) all.insert(derived(use, tenant));
    EXPECT_EQ(derived(use, "a"), derived(use, "a"));
  }
  EXPECT_EQ(all.size(), 12u);
}

TEST(KeyRings, ACodeIsOfItsKeyUseTenantAndText) {
  KeyRing keys = ring("k:" + kHex + "\nother:" + std::string(64, 'a'));
  const NamedKey& active = keys.keys().active();
  Macs macs;
  Digest code = macs.of(active, KeyUse::chain, TenantId("a"), "text");
  EXPECT_EQ(macs.of(active, KeyUse::chain, TenantId("a"), "text"), code) << "used again";
  EXPECT_EQ(Macs().of(active, KeyUse::chain, TenantId("a"), "text"), code);
  EXPECT_NE(macs.of(active, KeyUse::index, TenantId("a"), "text"), code);
  EXPECT_NE(macs.of(active, KeyUse::chain, TenantId("b"), "text"), code);
  EXPECT_NE(macs.of(active, KeyUse::chain, TenantId("a"), "texts"), code);
  EXPECT_NE(macs.of(*keys.keys().find("other"), KeyUse::chain, TenantId("a"), "text"), code);
  EXPECT_NE(code, sha256("text"));
}

}  // namespace
}  // namespace belay::encrypted
