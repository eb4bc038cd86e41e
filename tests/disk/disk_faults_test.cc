// Every disk call of a run is tried as a failing one: once, or from then on.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "tests/crash/campaign_size.h"
#include "tests/disk/recorded_run.h"

namespace belay::disk {
namespace {

struct Named {
  Fault fault;
  const char* name;
};
constexpr Named kFaults[] = {
    {Fault::write_error, "write error"}, {Fault::full, "disk full"},
    {Fault::short_write, "short write"}, {Fault::read_error, "read error"},
    {Fault::short_read, "short read"},   {Fault::sync_error, "sync error"},
    {Fault::open_error, "open error"},
};

struct FaultCampaign {
  std::size_t calls = 0;   // that the faults could have affected
  std::size_t runs = 0;    // in which a call has failed
  std::size_t images = 0;  // that were continued
  std::vector<std::string> troubles;
};

// Executes the run with one fault, and continues it after the death of the process alone and after
// a power cut.
void judge(const Named& named, std::size_t after, bool for_ever, const Recorded& expected,
           FaultCampaign& campaign) {
  Recorded recorded = record([&](RecordingDisk& disk) { disk.fail(named.fault, after, for_ever); });
  ++campaign.runs;
  std::string where = std::string(named.name) + (for_ever ? " from call " : " at call ") +
                      std::to_string(after) + ": ";
  if (!recorded.view.ok()) {
    ErrorCode code = recorded.view.error().code;
    bool is_typed = code == ErrorCode::unavailable || code == ErrorCode::uncertain ||
                    code == ErrorCode::corrupt || code == ErrorCode::exhausted;
    // SQLite reads the missing part of a short read as zeros: sometimes a page without rows.
    // Existing data is then not found, or a second start is rejected; nothing may be lost.
    bool reads_nothing = named.fault == Fault::short_read;
    if (!is_typed && !reads_nothing) {
      campaign.troubles.push_back(where + std::string(name_of(code)) + ": " +
                                  recorded.view.error().message);
    }
  }
  recorded.misreads = for_ever && named.fault == Fault::short_read;
  PowerCut cut;
  for (const Operation& operation : recorded.operations) cut.apply(operation);
  std::vector<Files> seen;
  for (Image image : {Image::all_kept, Image::unsynced_dropped, Image::failed_sync_dropped}) {
    Files files = cut.files(image);
    if (std::find(seen.begin(), seen.end(), files) != seen.end()) continue;
    seen.push_back(files);
    ++campaign.images;
    std::string trouble = trouble_with(files, recorded.operations.size(), recorded, expected);
    if (!trouble.empty()) campaign.troubles.push_back(where + name_of(image) + ": " + trouble);
  }
}

std::size_t calls_of(Fault fault) {
  Recorded recorded = record([&](RecordingDisk& disk) { disk.fail(fault, SIZE_MAX, false); });
  EXPECT_TRUE(recorded.view.ok());
  return recorded.tried;
}

// Tries `cases` calls of each kind; all of them take hours under a sanitizer.
FaultCampaign fail_everywhere(std::size_t cases) {
  FaultCampaign campaign;
  Recorded expected = record();
  for (const Named& named : kFaults) {
    std::size_t calls = calls_of(named.fault);
    campaign.calls += calls;
    std::size_t step = std::max<std::size_t>(1, calls / cases);
    for (std::size_t after = 0; after < calls; after += step) {
      judge(named, after, false, expected, campaign);
      judge(named, after, true, expected, campaign);
    }
  }
  return campaign;
}

TEST(DiskFaults, AfterAnyCallThatFailsTheRunGoesOnAndNothingAcknowledgedIsLost) {
  // The number of calls of each kind to try; 0: all of them.
  std::uint64_t cases = crash::number_from("BELAY_SOAK_FAULTS", crash::kSanitized ? 4 : 40);
  FaultCampaign campaign = fail_everywhere(cases == 0 ? SIZE_MAX : cases);
  EXPECT_THAT(campaign.troubles, ::testing::IsEmpty());
  std::printf("evidence: disk faults in %zu runs, of %zu calls; %zu images\n", campaign.runs,
              campaign.calls, campaign.images);
}

}  // namespace
}  // namespace belay::disk
