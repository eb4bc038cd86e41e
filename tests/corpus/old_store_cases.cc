// Stores that older versions of Belay wrote through the whole engine: opened, read, checked, and
// continued to the ends of their runs.

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <set>

#include "store/encrypted/compression.h"
#include "tests/corpus/journeys.h"
#include "tests/corpus/old_stores.h"

namespace belay::corpus {

std::string OldStore::file() const {
  const OldStoreKind& kind = old_store_kind();
  return kind.prefix + std::to_string(schema) + (is_encrypted ? "-sealed" : "") + kind.ending;
}

bool OldStore::is_before_row_seals() const {
  return is_encrypted && schema > 0 && schema < old_store_kind().row_seals_since;
}

void PrintTo(const OldStore& store, std::ostream* out) {
  *out << (store.schema == 0 ? "a store of this version" : store.file());
}

std::vector<OldStore> old_stores() {
  std::vector<OldStore> stores;
  for (std::size_t schema = old_store_kind().first_schema; schema < old_store_kind().newest_schema;
       ++schema) {
    stores.insert(stores.end(), {{schema, false}, {schema, true}});
  }
  stores.insert(stores.end(), {{0, false}, {0, true}});
  return stores;
}

namespace {

using ::testing::HasSubstr;

constexpr std::string_view kAdvice =
    "make_corpus writes them at the newest commit of their schema: tests/data/stores/README.md.";

// Returns the contents of the file, empty if there is no sound one.
std::string unpacked(const OldStore& store) {
  std::ifstream file(stores_folder() / store.file(), std::ios::binary);
  std::string packed(std::istreambuf_iterator<char>(file), {});
  std::string contents;
  bool is_sound = encrypted::Compression().decompress(packed, contents);
  return is_sound ? contents : std::string();
}

class OldStores : public ::testing::TestWithParam<OldStore> {
 protected:
  void SetUp() override {
    if (GetParam().schema == 0) {
      Journeys(place_->name(), key()).set_out();
      return;
    }
    std::string contents = unpacked(GetParam());
    ASSERT_NE(contents, "") << "tests/data/stores/" << GetParam().file()
                            << " is missing or damaged. " << kAdvice;
    place_->restore(contents);
    ASSERT_EQ(place_->schema(), std::to_string(GetParam().schema));
  }

  static EncryptionOptions key() {
    return GetParam().is_encrypted ? encrypting_options() : plaintext_options();
  }
  // Returns the options with which the store can be opened.
  static EncryptionOptions encryption() {
    EncryptionOptions encryption = key();
    encryption.accept_plaintext = GetParam().is_before_row_seals();
    return encryption;
  }
  std::unique_ptr<Journeys> open() {
    return std::make_unique<Journeys>(place_->name(), encryption());
  }
  static void expect_sound(Journeys& journeys) {
    CheckReport report = journeys.check();
    EXPECT_EQ(report.runs, 4u);
    EXPECT_TRUE(report.runs_without_graph.empty());
    for (const Violation& each : report.violations) {
      ADD_FAILURE() << each.rule << " " << each.subject << ": " << each.message;
    }
  }
  static EncryptionReport look(Journeys& journeys) {
    return block_on(journeys.loop(), inspect_encryption(journeys.stored(), journeys.random(), key(),
                                                        default_tenant()))
        .value();
  }

  std::unique_ptr<StorePlace> place_ = old_store_kind().new_place();
};

class PlainOldStores : public OldStores {};
class EncryptedOldStores : public OldStores {};

TEST_P(OldStores, AreReadCheckedAndCarriedOn) {
  {
    auto journeys = open();
    EXPECT_EQ(place_->schema(), std::to_string(old_store_kind().newest_schema));
    expect_sound(*journeys);
    RunView home = journeys->status("home");
    EXPECT_EQ(home.row.outcome, "kept");
    EXPECT_EQ(to_json(home.state["seen"]),
              R"(["the door","the road to the garden","old harbour","lighthouse"])");
    EXPECT_GE(home.state["letter"].as_string()->size(), 70'000u);
    EXPECT_EQ(journeys->status("edited").state["place"], Value("plains"));
    EXPECT_EQ(journeys->status("hills").approvals.size(), 1u);
    EXPECT_EQ(journeys->status("sea").approvals.size(), 2u);

    EXPECT_EQ(journeys->agree("hills", Value("valley")).value().view.row.outcome, "kept");
    EXPECT_TRUE(journeys->agree("sea").ok());
    expect_sound(*journeys);
  }
  auto journeys = open();
  EXPECT_TRUE(journeys->agree("sea").ok());
  RunView sea = journeys->status("sea");
  EXPECT_EQ(sea.row.outcome, "kept");
  EXPECT_THAT(to_json(sea.state["seen"]), HasSubstr("swam at the lighthouse"));
  EXPECT_EQ(journeys->status("hills").state["place"], Value("valley"));
  expect_sound(*journeys);
}

TEST_P(EncryptedOldStores, SayWhatTheirDigestsAreAndARotationMasksThem) {
  auto journeys = open();
  EXPECT_EQ(look(*journeys).plaintext_digests > 0, GetParam().is_before_row_seals());
  auto report = block_on(journeys->loop(), reencrypt(journeys->stored(), journeys->random(),
                                                     encryption(), default_tenant()));
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->complete);
  // From now on the store accepts no plaintext.
  journeys.reset();
  journeys = std::make_unique<Journeys>(place_->name(), key());
  EXPECT_EQ(look(*journeys).plaintext_digests, 0u);
  expect_sound(*journeys);
  EXPECT_EQ(journeys->agree("hills").value().view.row.outcome, "kept");
  EXPECT_TRUE(journeys->agree("sea").ok());
  expect_sound(*journeys);
}

TEST_P(PlainOldStores, ComeUnderAKey) {
  {
    auto journeys = open();
    EncryptionOptions encryption = encrypting_options();
    encryption.accept_plaintext = true;
    auto report = block_on(journeys->loop(), reencrypt(journeys->stored(), journeys->random(),
                                                       std::move(encryption), default_tenant()));
    ASSERT_TRUE(report.ok()) << report.error().message;
  }
  Journeys journeys(place_->name(), encrypting_options());
  expect_sound(journeys);
  EXPECT_EQ(journeys.agree("hills").value().view.row.outcome, "kept");
  EXPECT_TRUE(journeys.agree("sea").ok());
  expect_sound(journeys);
}

TEST(OldStoreFiles, AreThereForEachSchemaBeforeTheNewestAndForNoOther) {
  const OldStoreKind& kind = old_store_kind();
  std::set<std::string> needed(kind.other_files.begin(), kind.other_files.end());
  for (const OldStore& store : old_stores()) {
    if (store.schema > 0) needed.insert(store.file());
  }
  std::set<std::string> there;
  for (const auto& entry : std::filesystem::directory_iterator(stores_folder())) {
    std::string name = entry.path().filename().string();
    if (name.starts_with(kind.prefix)) there.insert(name);
  }
  EXPECT_EQ(there, needed) << "A new migration requires files of the schema before it: " << kAdvice;
}

std::string name_of(const ::testing::TestParamInfo<OldStore>& info) {
  std::string schema = std::to_string(info.param.schema);
  return (info.param.schema == 0 ? "ThisVersion" : "Schema" + schema) +
         (info.param.is_encrypted ? "Encrypted" : "Plain");
}
std::vector<OldStore> stores_with(bool is_encrypted) {
  std::vector<OldStore> stores = old_stores();
  std::erase_if(
      stores, [is_encrypted](const OldStore& store) { return store.is_encrypted != is_encrypted; });
  return stores;
}

INSTANTIATE_TEST_SUITE_P(Of, OldStores, ::testing::ValuesIn(old_stores()), name_of);
INSTANTIATE_TEST_SUITE_P(Of, PlainOldStores, ::testing::ValuesIn(stores_with(false)), name_of);
INSTANTIATE_TEST_SUITE_P(Of, EncryptedOldStores, ::testing::ValuesIn(stores_with(true)), name_of);

}  // namespace
}  // namespace belay::corpus
