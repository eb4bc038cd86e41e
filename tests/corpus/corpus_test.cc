// Files that older versions of Belay wrote through the whole engine: opened, read, checked, and
// continued to the ends of their runs.

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "store/encrypted/compression.h"
#include "tests/conformance/temporary_folder.h"
#include "tests/corpus/journeys.h"

namespace belay::corpus {
namespace {

using conformance::TemporaryFolder;
using ::testing::HasSubstr;

struct OldFile {
  std::string name;  // empty: created by this version
  EncryptionOptions (*encryption)();
  bool is_before_row_seals = false;  // with a key, but without seals of rows
};
void PrintTo(const OldFile& file, std::ostream* out) { *out << file.name; }

std::string unpacked(const std::string& name) {
  std::ifstream file(std::string(BELAY_STORES) + "/" + name, std::ios::binary);
  std::string packed(std::istreambuf_iterator<char>(file), {});
  std::string bytes;
  bool is_sound = encrypted::Compression().decompress(packed, bytes);
  return is_sound ? bytes : std::string();
}

class OldFiles : public ::testing::TestWithParam<OldFile> {
 protected:
  OldFiles() {
    if (GetParam().name.empty()) {
      Journeys(path_, GetParam().encryption()).set_out();
    } else {
      std::ofstream(path_, std::ios::binary) << unpacked(GetParam().name + ".db.zst");
    }
  }

  // Returns the options with which the file can be opened.
  static EncryptionOptions encryption() {
    EncryptionOptions encryption = GetParam().encryption();
    encryption.accept_plaintext = GetParam().is_before_row_seals;
    return encryption;
  }
  std::unique_ptr<Journeys> open() { return std::make_unique<Journeys>(path_, encryption()); }
  static void expect_sound(Journeys& journeys) {
    CheckReport report = journeys.check();
    EXPECT_EQ(report.runs, 4u);
    EXPECT_TRUE(report.runs_without_graph.empty());
    for (const Violation& each : report.violations) {
      ADD_FAILURE() << each.rule << " " << each.subject << ": " << each.message;
    }
  }
  static EncryptionReport look(Journeys& journeys) {
    return block_on(journeys.loop(), inspect_encryption(journeys.stored(), journeys.random(),
                                                        GetParam().encryption(), default_tenant()))
        .value();
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.file("store.db");
};

TEST_P(OldFiles, AreReadCheckedAndCarriedOn) {
  {
    auto journeys = open();
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

TEST_P(OldFiles, SayWhatTheirDigestsAreAndARotationMasksThem) {
  if (GetParam().encryption().keys.empty()) GTEST_SKIP() << "without a key they are what they are";
  auto journeys = open();
  EXPECT_EQ(look(*journeys).plaintext_digests > 0, GetParam().is_before_row_seals);
  auto report = block_on(journeys->loop(), reencrypt(journeys->stored(), journeys->random(),
                                                     encryption(), default_tenant()));
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->complete);
  // From now on the store accepts no plaintext.
  journeys.reset();
  journeys = std::make_unique<Journeys>(path_, GetParam().encryption());
  EXPECT_EQ(look(*journeys).plaintext_digests, 0u);
  expect_sound(*journeys);
  EXPECT_EQ(journeys->agree("hills").value().view.row.outcome, "kept");
  EXPECT_TRUE(journeys->agree("sea").ok());
  expect_sound(*journeys);
}

TEST_P(OldFiles, ThatArePlainComeUnderAKey) {
  if (!GetParam().encryption().keys.empty()) GTEST_SKIP() << "it has one";
  {
    auto journeys = open();
    EncryptionOptions encryption = encrypting_options();
    encryption.accept_plaintext = true;
    auto report = block_on(journeys->loop(), reencrypt(journeys->stored(), journeys->random(),
                                                       std::move(encryption), default_tenant()));
    ASSERT_TRUE(report.ok()) << report.error().message;
  }
  Journeys journeys(path_, encrypting_options());
  expect_sound(journeys);
  EXPECT_EQ(journeys.agree("hills").value().view.row.outcome, "kept");
  EXPECT_TRUE(journeys.agree("sea").ok());
  expect_sound(journeys);
}

INSTANTIATE_TEST_SUITE_P(Of, OldFiles,
                         ::testing::Values(OldFile{"schema-3-sealed", encrypting_options, true},
                                           OldFile{"schema-4", plaintext_options},
                                           OldFile{"schema-4-sealed", encrypting_options, true},
                                           OldFile{"schema-7", plaintext_options},
                                           OldFile{"schema-7-sealed", encrypting_options},
                                           OldFile{"schema-8", plaintext_options},
                                           OldFile{"schema-8-sealed", encrypting_options},
                                           OldFile{"schema-9", plaintext_options},
                                           OldFile{"schema-9-sealed", encrypting_options},
                                           OldFile{"", plaintext_options},
                                           OldFile{"", encrypting_options}));

}  // namespace
}  // namespace belay::corpus
