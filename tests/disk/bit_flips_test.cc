// A bit that is flipped on the disk or during a read: a process that continues with the store gets
// a typed error, a violation from the checkers, or the original values.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/conformance/temporary_folder.h"
#include "tests/crash/campaign_size.h"
#include "tests/disk/recorded_run.h"

namespace belay::disk {
namespace {

using conformance::TemporaryFolder;

const Instant kBegins = *instant_from("2026-11-21T12:00:00Z");
const Instant kLater = *instant_from("2026-11-21T18:00:00Z");

// The store of two threads: one has ended, one waits for an approval.
struct Kept {
  Files files;
  std::string ended;  // the final state of the ended run
  std::string goes;   // the final state that the other run must reach
};

std::string state_of(const RunView& view) { return to_json(view.state); }

Kept keep() {
  Kept kept;
  TemporaryFolder folder;
  Outside outside;
  PowerCut cut;
  {
    RecordingDisk disk;
    {
      auto process = Process::begin(folder.path(), outside, kBegins, 1).value();
      kept.ended = state_of(process->play(true, "ended").value());
      process->play(false, "goes").value();
    }
    for (const Operation& operation : disk.operations()) cut.apply(operation);
  }
  kept.files = cut.files(Image::all_kept);
  auto process = Process::begin(folder.path(), outside, kLater, 2).value();
  kept.goes = state_of(process->play(true, "goes").value());
  return kept;
}

enum class Answer { right, refused, reported, silent };
struct Judged {
  Answer answer = Answer::right;
  std::string what;  // for `silent`
  bool other_goes_on = false;
};

// Checks one thread: the right state, a typed error, or a wrong state.
Answer judge_thread(Process& process, const std::string& thread, const std::string& expected) {
  auto view = process.play(true, thread);
  if (!view.ok() || view->row.status != RunStatus::completed) return Answer::refused;
  return state_of(*view) == expected ? Answer::right : Answer::silent;
}

// Checks the results of a new process on these files.
Judged judge(const Files& files, const Kept& kept) {
  TemporaryFolder folder;
  RecordingDisk disk;  // does not really sync
  lay_out(files, folder.path());
  Outside outside;
  auto opened = Process::begin(folder.path(), outside, kLater, 3);
  if (!opened.ok()) return {Answer::refused, "", false};
  Process& process = **opened;
  auto before = process.violations();
  Answer ended = judge_thread(process, "ended", kept.ended);
  Answer goes = judge_thread(process, "goes", kept.goes);
  auto after = process.violations();
  Judged judged;
  judged.other_goes_on = ended == Answer::right || goes == Answer::right;
  bool is_reported = !before.ok() || !after.ok() || !before->empty() || !after->empty();
  if (ended == Answer::silent || goes == Answer::silent) {
    judged.answer = is_reported ? Answer::reported : Answer::silent;
    judged.what = ended == Answer::silent ? "the ended thread has another state"
                                          : "the waiting thread comes to another state";
  } else if (ended == Answer::refused || goes == Answer::refused) {
    judged.answer = Answer::refused;
  } else {
    judged.answer = is_reported ? Answer::reported : Answer::right;
  }
  return judged;
}

struct Campaign {
  std::map<Answer, std::size_t> count;
  std::size_t one_goes_on = 0;  // of the rejected cases
  std::vector<std::string> troubles;

  void add(const Judged& judged, const std::string& where) {
    ++count[judged.answer];
    if (judged.answer == Answer::refused && judged.other_goes_on) ++one_goes_on;
    if (judged.answer == Answer::silent) troubles.push_back(where + ": " + judged.what);
  }
  void tell(const char* what) {
    std::printf(
        "evidence: %s: %zu right, %zu refused (in %zu the other thread went on), %zu found "
        "by the checkers, %zu unnoticed\n",
        what, count[Answer::right], count[Answer::refused], one_goes_on, count[Answer::reported],
        count[Answer::silent]);
  }
};

constexpr std::size_t kPage = 4096;
// Every n-th of the pages and of the reads: a part suffices under a sanitizer.
constexpr std::size_t kEvery = crash::kSanitized ? 3 : 1;

// BELAY_SOAK_FLIPS is the number of bits per page; the other cases increase accordingly.
std::size_t flips_a_page() {
  return crash::number_from("BELAY_SOAK_FLIPS", crash::kSanitized ? 1 : 4);
}

// Checks one thread with the calls that the external systems have received, continued by a new
// process.
Judged judge_journey(const Files& files, const std::string& expected, Outside outside) {
  TemporaryFolder folder;
  RecordingDisk disk;  // does not really sync
  lay_out(files, folder.path());
  outside.acknowledged.clear();
  auto opened = Process::begin(folder.path(), outside, kLater, 3);
  if (!opened.ok()) return {Answer::refused, "", false};
  auto before = (*opened)->violations();
  Judged judged;
  judged.answer = judge_thread(**opened, "journey", expected);
  auto after = (*opened)->violations();
  bool is_reported = !before.ok() || !after.ok() || !before->empty() || !after->empty();
  if (is_reported && judged.answer != Answer::refused) judged.answer = Answer::reported;
  if (judged.answer == Answer::silent) judged.what = "it comes to another state";
  if (judged.answer == Answer::right && outside.distinct("pay") > 1) {
    judged = {Answer::silent, "it was paid under more than one key", false};
  }
  return judged;
}

TEST(BitFlips, AtRestGiveATypedErrorAFindingOrTheRightState) {
  Kept kept = keep();
  testing::SeededRandom random(crash::number_from("BELAY_SOAK_SEED", 4));
  Campaign campaign;
  for (const auto& [name, content] : kept.files) {
    // The WAL has its own test.
    if (name != "store.db") continue;
    for (std::size_t page = 0; page < content.size() / kPage; page += kEvery) {
      for (std::size_t i = 0; i < flips_a_page(); ++i) {
        std::uint64_t bit = 8 * kPage * page + random.bits() % (8 * kPage);
        Files files = kept.files;
        flip_bit(files[name].data(), bit);
        campaign.add(judge(files, kept), name + " bit " + std::to_string(bit));
      }
    }
  }
  campaign.tell("bit flips at rest");
  EXPECT_THAT(campaign.troubles, ::testing::IsEmpty());
}

// SQLite reads the WAL up to the first frame whose checksum is wrong: later frames count as never
// written, and the run continues from there.
TEST(BitFlips, InTheLogLeaveWhatStoodBeforeThem) {
  Recorded recorded = record();
  std::string expected = state_of(recorded.view.value());
  testing::SeededRandom random(crash::number_from("BELAY_SOAK_SEED", 5));
  Campaign campaign;
  PowerCut cut;
  std::size_t count = 0;
  std::size_t every = std::max<std::size_t>(1, 60 / flips_a_page());
  for (const Operation& operation : recorded.operations) {
    cut.apply(operation);
    if (++count % every != 0) continue;
    Files files = cut.files(Image::all_kept);
    auto log = files.find("store.db-wal");
    if (log == files.end() || log->second.empty()) continue;
    std::uint64_t bit = random.bits() % (8 * log->second.size());
    flip_bit(log->second.data(), bit);
    campaign.add(judge_journey(files, expected, recorded.outside.until(count)),
                 "after " + std::to_string(count) + " operations, bit " + std::to_string(bit));
  }
  campaign.tell("bit flips in the log");
  EXPECT_GT(campaign.count[Answer::right], 0u);
  EXPECT_THAT(campaign.troubles, ::testing::IsEmpty());
}

// If a bit is flipped during a read, it can be written back to the disk.
TEST(BitFlips, AtAnyReadGiveATypedErrorAFindingOrTheRightState) {
  Recorded sound =
      record([](RecordingDisk& disk) { disk.fail(Fault::flipped_bit, SIZE_MAX, false); });
  std::string expected = state_of(sound.view.value());
  std::size_t cases = 10 * flips_a_page() / kEvery;
  std::size_t step = std::max<std::size_t>(1, sound.tried / cases);
  Campaign campaign;
  for (std::size_t at = 0; at < sound.tried; at += step) {
    for (bool for_ever : {false, true}) {
      Recorded recorded =
          record([&](RecordingDisk& disk) { disk.fail(Fault::flipped_bit, at, for_ever); });
      PowerCut cut;
      for (const Operation& operation : recorded.operations) cut.apply(operation);
      Judged judged = judge_journey(cut.files(Image::all_kept), expected, recorded.outside);
      bool is_other = recorded.view.ok() && state_of(*recorded.view) != expected;
      if (is_other && judged.answer == Answer::right) {
        judged = {Answer::silent, "the run itself came to another state", false};
      }
      campaign.add(judged, (for_ever ? "from read " : "at read ") + std::to_string(at));
    }
  }
  campaign.tell("bit flips at reads");
  EXPECT_THAT(campaign.troubles, ::testing::IsEmpty());
}

}  // namespace
}  // namespace belay::disk
