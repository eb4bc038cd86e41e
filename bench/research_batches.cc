// Analyses of many companies in one process on SQLite, with a checkpoint per subtask; the same
// without the checkpoints, in turns.

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <numeric>

#include "agents/research/analysis/coordinator.h"
#include "bench/machine.h"
#include "bench/research_companies.h"
#include "bench/research_measurements.h"
#include "store/forwarding_store.h"

namespace belay::bench {
namespace {

using research::Analysis;

constexpr std::size_t companies_of_batch = 200;
constexpr std::size_t companies_of_turn = 10;
// 5 KB for each of five checkpoints of thirteen specialists of 200 companies.
constexpr double checkpoint_megabytes_max = 25.0 * 13 / 5;

enum class Checkpoints {
  saved,      // one per subtask
  not_saved,  // each subtask is a step, whose checkpoint is not saved
  off,        // each specialist is a step
};
constexpr std::array<Checkpoints, 3> all_kinds = {Checkpoints::saved, Checkpoints::not_saved,
                                                  Checkpoints::off};

const char* name_of(Checkpoints kind) {
  switch (kind) {
    case Checkpoints::saved:
      return "a checkpoint per subtask";
    case Checkpoints::not_saved:
      return "a step per subtask, without checkpoints";
    case Checkpoints::off:
      return "a step per specialist, without checkpoints";
  }
  return "";
}

struct RowCount {
  double rows = 0;
  double bytes = 0;  // of their contents and of the values of their indexes
};

// Counts the rows of checkpoints that are committed.
class CountingStore final : public ForwardingStore {
 public:
  explicit CountingStore(Store& inner) : ForwardingStore(inner) {}

  Task<Result<CommitOutcome>> commit(Commit commit) override {
    ++commits;
    for (const RecordPut& record : commit.rows.records) {
      if (record.collection == research::AgentCheckpoint::collection) count(record, checkpoints);
      if (record.collection == research::CheckpointHead::collection) count(record, heads);
    }
    co_return co_await inner().commit(std::move(commit));
  }

  double commits = 0;
  RowCount checkpoints;
  RowCount heads;

 private:
  static void count(const RecordPut& record, RowCount& rows) {
    // A removed row is replaced by one that has expired, without contents.
    if (record.envelope.empty() || record.expires_at != Instant()) return;
    rows.rows += 1;
    rows.bytes += static_cast<double>(record.key.size() + record.envelope.size());
    for (const auto& [name, value] : record.indexed) {
      rows.bytes += static_cast<double>(name.size() + value.size());
    }
  }
};

// A process that executes analyses with one kind of checkpoints.
class Batch {
 public:
  Batch(World& world, const CompanyCopies& copies, std::string file, Checkpoints kind,
        bool is_preserved)
      : world_(world),
        copies_(copies),
        kind_(kind),
        is_preserved_(is_preserved),
        file_(std::move(file)),
        store_(value_or_exit(open_sqlite_store(file_, *world.clock, *world.random))),
        counted_(*store_),
        graph_(value_or_exit(research::analysis_graph(parts_))) {
    RuntimeParts parts{counted_, *world.loop, *world.clock, *world.random, model_};
    parts_->data = copies.folder();
    if (kind_ == Checkpoints::not_saved) {
      parts_->checkpoints.enabled = false;
      parts.observer = [this](const ProgressEvent& event) { let_begin(event); };
    }
    runtime_ = value_or_exit(Runtime::open(std::move(parts)));
    runtime_->add(graph_);
  }

  // Executes the analyses from `begin` to `end`, `together` at the same time.
  void execute(std::size_t begin, std::size_t end, std::size_t together) {
    next_ = begin;
    end_ = end;
    std::size_t running = together;
    std::vector<Spawned> tasks(together);
    Span span;
    world_.loop->post([&] {
      for (Spawned& task : tasks) {
        task = spawn<Done>(*world_.loop, take_turns(), [&](Done) {
          if (--running == 0) world_.loop->stop();
        });
      }
    });
    world_.loop->run();
    span.stop();
    seconds.push_back(span.seconds);
    cpu.push_back(span.cpu);
    other_load.push_back(span.other_load);
  }

  // Of the file, with the write-ahead log.
  double file_bytes() const {
    double bytes = 0;
    for (const char* suffix : {"", "-wal"}) {
      std::error_code missing;
      auto size = std::filesystem::file_size(file_ + suffix, missing);
      if (!missing) bytes += static_cast<double>(size);
    }
    return bytes;
  }
  const CountingStore& counted() const { return counted_; }
  Checkpoints kind() const { return kind_; }

  // Of each turn.
  std::vector<double> seconds;
  std::vector<double> cpu;
  std::vector<double> other_load;

 private:
  // The analysis begins with checkpoints. They are switched off when the node has started, which it
  // does before the posted function.
  void let_begin(const ProgressEvent& event) {
    bool is_begin = event.kind == ProgressEvent::Kind::node_started && event.node == "begin" &&
                    event.graph == research::kAnalysisGraph;
    if (!is_begin) return;
    parts_->checkpoints.enabled = true;
    world_.loop->post([this] { parts_->checkpoints.enabled = false; });
  }

  Task<Done> preserve(std::string analysis) {
    research::PreservedAnalysis row;
    row.analysis_id = std::move(analysis);
    std::vector<RecordWrite> writes;
    writes.push_back(value_or_exit(record_write(row, research_owner)));
    TenantId tenant = default_tenant();
    auto saved = co_await runtime_->save(std::move(tenant), std::move(writes));
    value_or_exit(std::move(saved));
    co_return Done{};
  }

  Task<Done> take_turns() {
    while (next_ < end_) {
      std::size_t i = next_++;
      Analysis order = copies_.order(i);
      order.request.checkpoints = kind_ != Checkpoints::off;
      std::string id = "analysis-" + std::to_string(i);
      StartOptions options = options_of_analysis(id);
      if (is_preserved_) co_await preserve(std::move(id));
      auto run = co_await runtime_->start(graph_, std::move(order), std::move(options));
      RunView view = value_or_exit(std::move(run));
      if (view.row.outcome != "complete") exit_with("Incomplete: " + view.row.error);
    }
    co_return Done{};
  }

  World& world_;
  const CompanyCopies& copies_;
  const Checkpoints kind_;
  const bool is_preserved_;
  const std::string file_;
  std::unique_ptr<Store> store_;
  CountingStore counted_;
  WithoutModel model_;
  std::shared_ptr<research::ResearchParts> parts_ = std::make_shared<research::ResearchParts>();
  Graph<Analysis> graph_;
  std::unique_ptr<Runtime> runtime_;
  std::size_t next_ = 0;
  std::size_t end_ = 0;
};

// Executes all analyses with each kind, in turns.
std::vector<std::unique_ptr<Batch>> execute_in_turns(World& world, const CompanyCopies& copies,
                                                     const std::string& path,
                                                     std::size_t together) {
  std::vector<std::unique_ptr<Batch>> batches;
  for (Checkpoints kind : all_kinds) {
    std::string file =
        path + "/batch" + std::to_string(together) + "-" + std::to_string(batches.size()) + ".db";
    batches.push_back(std::make_unique<Batch>(world, copies, std::move(file), kind, false));
  }
  for (std::size_t i = 0; i < copies.count(); i += companies_of_turn) {
    std::rotate(batches.begin(), batches.begin() + 1, batches.end());
    for (auto& batch : batches) batch->execute(i, i + companies_of_turn, together);
  }
  std::sort(batches.begin(), batches.end(),
            [](const auto& left, const auto& right) { return left->kind() < right->kind(); });
  return batches;
}

double sum(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

// Returns the median over the turns of the part that `all` takes more than `rest`, in percent.
double share(const std::vector<double>& all, const std::vector<double>& rest) {
  std::vector<double> shares;
  for (std::size_t i = 0; i < all.size(); ++i) shares.push_back((1 - rest[i] / all[i]) * 100);
  return median(shares);
}

void print_times(const std::vector<std::unique_ptr<Batch>>& batches, std::size_t together) {
  constexpr double count = companies_of_batch;
  for (const auto& batch : batches) {
    std::printf("| %s | %zu | %.1f | %.1f | %.1f | %.0f | %.2f |\n", name_of(batch->kind()),
                together, sum(batch->seconds), sum(batch->seconds) * 1e3 / count,
                sum(batch->cpu) * 1e3 / count, batch->counted().commits / count,
                median(batch->other_load));
  }
  const Batch& saved = *batches[0];
  const Batch& not_saved = *batches[1];
  std::printf("| share of the checkpoints, median of %zu turns | %zu | %.1f %% | | %.1f %% | | |\n",
              saved.seconds.size(), together, share(saved.seconds, not_saved.seconds),
              share(saved.cpu, not_saved.cpu));
  double exceptions = not_saved.counted().checkpoints.rows;
  if (exceptions > 0) std::printf("(%.0f checkpoints of the second row are saved)\n", exceptions);
  std::fflush(stdout);
}

// The bytes of checkpoints that are kept: each analysis is preserved.
void print_bytes(World& world, const CompanyCopies& copies, const std::string& path) {
  Batch kept(world, copies, path + "/kept.db", Checkpoints::saved, true);
  Batch none(world, copies, path + "/none.db", Checkpoints::not_saved, true);
  kept.execute(0, copies.count(), 1);
  none.execute(0, copies.count(), 1);
  const RowCount& rows = kept.counted().checkpoints;
  const RowCount& heads = kept.counted().heads;
  double in_file = kept.file_bytes() - none.file_bytes();
  std::printf(
      "\n| stored checkpoints of %zu companies | | at most |\n|---|---|---|\n"
      "| checkpoints | %.0f | |\n"
      "| bytes of a checkpoint, with its indexes | %.0f | 5,000 |\n"
      "| the same and a head for each | %.0f | 5,000 |\n"
      "| all checkpoints and heads | %.1f MB | %.0f MB |\n"
      "| file with them / without them | %.1f / %.1f MB | |\n"
      "| their part of the file | %.1f MB | %.0f MB |\n",
      copies.count(), rows.rows, rows.bytes / rows.rows, (rows.bytes + heads.bytes) / rows.rows,
      (rows.bytes + heads.bytes) / 1e6, checkpoint_megabytes_max, kept.file_bytes() / 1e6,
      none.file_bytes() / 1e6, in_file / 1e6, checkpoint_megabytes_max);
}

}  // namespace

void measure_batches(World& world, const std::string& path) {
  CompanyCopies copies(path + "/companies", companies_of_batch);
  std::printf(
      "\n%zu companies, thirteen specialists each, one process, SQLite; %.0f appends of 8 KB with "
      "fdatasync a second\n\n"
      "| | at the same time | s | ms of an analysis | CPU, ms of an analysis | commits of an "
      "analysis | others' load |\n|---|---|---|---|---|---|---|\n",
      companies_of_batch, synced_appends_per_second(path, 0.5));
  for (std::size_t together : {1, 16}) {
    print_times(execute_in_turns(world, copies, path, together), together);
  }
  print_bytes(world, copies, path);
  std::printf("\nResident memory of the process: %.0f MB\n", resident_bytes() / 1e6);
}

}  // namespace belay::bench
