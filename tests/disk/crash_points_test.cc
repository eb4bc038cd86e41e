// Every disk operation of a run is tried as the last one before a power cut.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/crash/campaign_size.h"
#include "tests/disk/recorded_run.h"

namespace belay::disk {
namespace {

struct CrashCampaign {
  std::size_t images = 0;  // different ones that were continued
  std::vector<std::string> troubles;
};

// An image that remains the same for several operations is checked after the last of them, when the
// most commits have been acknowledged.
CrashCampaign cut_everywhere(const Recorded& recorded, std::size_t every) {
  CrashCampaign campaign;
  for (Image image : {Image::all_kept, Image::unsynced_dropped, Image::unsynced_reordered,
                      Image::torn_512, Image::torn_4096}) {
    PowerCut cut;
    std::size_t count = 0;
    Files files = cut.files(image);
    std::size_t different = 0;
    auto judge = [&] {
      if (different++ % every != 0) return;
      ++campaign.images;
      std::string trouble = trouble_with(files, count, recorded, recorded);
      if (trouble.empty()) return;
      campaign.troubles.push_back("after " + std::to_string(count) + " operations, " +
                                  name_of(image) + ": " + trouble);
    };
    for (const Operation& operation : recorded.operations) {
      cut.apply(operation);
      Files next = cut.files(image, count);
      if (next != files) {
        judge();
        files = std::move(next);
      }
      ++count;
    }
    judge();
  }
  return campaign;
}

TEST(CrashPoints, OfAnyOperationAndImageARunGoesOnAndNothingAcknowledgedIsLost) {
  Recorded recorded = record();
  ASSERT_EQ(recorded.view.value().row.status, RunStatus::completed);
  ASSERT_EQ(recorded.outside.count("mail"), 1u);
  ASSERT_GT(recorded.operations.size(), 400u);
  // A part suffices under a sanitizer; the -O2 build runs all.
  CrashCampaign campaign = cut_everywhere(recorded, crash::kSanitized ? 40 : 1);
  EXPECT_THAT(campaign.troubles, ::testing::IsEmpty());
  std::printf("evidence: crash points %zu operations, %zu images\n", recorded.operations.size(),
              campaign.images);
}

// The canary: a disk that lies about its syncs must be detected.
TEST(CrashPoints, ADiskThatLiesAboutItsSyncsIsFoundOut) {
  Recorded recorded = record([](RecordingDisk& disk) { disk.lie_about_syncs(); });
  ASSERT_EQ(recorded.view.value().row.status, RunStatus::completed);
  CrashCampaign campaign = cut_everywhere(recorded, 50);
  EXPECT_THAT(campaign.troubles, ::testing::Contains(::testing::HasSubstr("I1 ")));
}

}  // namespace
}  // namespace belay::disk
