// Threads that wait for a decision. Measures pauses and resumes per second, the disk space and
// memory of a waiting thread, and the time to continue one of a hundred thousand.

#include <cstdio>
#include <filesystem>

#include "bench/machine.h"
#include "bench/options.h"
#include "bench/pages.h"

namespace {

using namespace belay;
using namespace belay::bench;

constexpr int threads_per_round = 1'000;
constexpr int many_threads = 100'000;
constexpr int resumed_of_many = 1'000;
constexpr int in_flight = 64;

// Forwards all calls and sums the durations of the commits.
class TimedStore final : public Store {
 public:
  explicit TimedStore(Store& store) : store_(store) {}
  Task<Result<CommitOutcome>> commit(Commit commit) override {
    double began = wall_seconds();
    auto outcome = co_await store_.commit(std::move(commit));
    seconds += wall_seconds() - began;
    co_return outcome;
  }
  Task<Result<Done>> read(Reader reader) override { return store_.read(std::move(reader)); }
  Result<SessionId> open_session() override { return store_.open_session(); }
  void close_session(const SessionId& session) override { store_.close_session(session); }
  Result<bool> is_alive(const SessionId& session) override { return store_.is_alive(session); }

  double seconds = 0;

 private:
  Store& store_;
};

double file_bytes(const std::string& path) {
  double bytes = 0;
  for (const char* more : {"", "-wal"}) {
    std::error_code none;
    auto size = std::filesystem::file_size(path + more, none);
    if (!none) bytes += static_cast<double>(size);
  }
  return bytes;
}

std::vector<InterruptId> open_questions(World& world, Store& store, std::size_t wanted) {
  std::function<Result<std::vector<InterruptId>>(Snapshot&)> reader =
      [wanted](Snapshot& view) -> Result<std::vector<InterruptId>> {
    ApprovalFilter filter;
    filter.tenant = default_tenant();
    filter.only_open = true;
    filter.limit = wanted;
    BELAY_TRY(auto rows, view.approvals(filter));
    std::vector<InterruptId> ids;
    for (const ApprovalRow& row : rows) ids.push_back(row.interrupt);
    return ids;
  };
  return value_or_exit(world.wait_for(read<std::vector<InterruptId>>(store, std::move(reader))));
}

struct Resuming {
  Runtime& runtime;
  std::vector<InterruptId> left;
};

Task<Done> approve_one(Runtime& runtime, InterruptId interrupt) {
  Decision decision;
  decision.approved = true;
  decision.decided_by = "bench";
  auto answer = co_await runtime.decide(default_tenant(), interrupt, std::move(decision));
  if (!answer.ok()) exit_with(answer.error().message);
  if (answer->view.row.status != RunStatus::completed) exit_with("A decided run did not end.");
  co_return Done{};
}

Task<Done> approve_all(Resuming& resuming) {
  while (!resuming.left.empty()) {
    InterruptId interrupt = resuming.left.back();
    resuming.left.pop_back();
    co_await approve_one(resuming.runtime, interrupt);
  }
  co_return Done{};
}

void resume_all(World& world, Runtime& runtime, std::vector<InterruptId> questions) {
  Resuming resuming{runtime, std::move(questions)};
  int going = in_flight;
  std::vector<Spawned> tasks(static_cast<std::size_t>(in_flight));
  world.loop->post([&] {
    for (Spawned& task : tasks) {
      task = spawn<Done>(*world.loop, approve_all(resuming), [&](Done) {
        if (--going == 0) world.loop->stop();
      });
    }
  });
  world.loop->run();
}

struct Round {
  double pauses = 0;  // per second
  double pause_cpu_us = 0;
  double resumes = 0;
  double resume_cpu_us = 0;
  double appends = 0;
  double other_load = 0;
};

Round pause_and_resume(World& world, const std::string& path) {
  auto store = value_or_exit(open_sqlite_store(path, *world.clock, *world.random));
  auto graph = page_for_approval();
  auto runtime = world.runtime(*store, graph);
  Round round;
  Span pausing;
  perform(*world.loop, *runtime, graph, threads_per_round, in_flight);
  pausing.stop();
  auto questions = open_questions(world, *store, threads_per_round);
  Span resuming;
  resume_all(world, *runtime, std::move(questions));
  resuming.stop();
  round.pauses = threads_per_round / pausing.seconds;
  round.pause_cpu_us = pausing.cpu * 1e6 / threads_per_round;
  round.resumes = threads_per_round / resuming.seconds;
  round.resume_cpu_us = resuming.cpu * 1e6 / threads_per_round;
  round.other_load = std::max(pausing.other_load, resuming.other_load);
  return round;
}

void measure_rounds(World& world, const Options& options, const std::string& directory) {
  std::vector<double> pauses, pause_cpu, resumes, resume_cpu, appends, load;
  double wait_left = options.max_wait;
  for (int i = 0; i < options.rounds; ++i) {
    wait_for_quiet(wait_left);
    Round round = pause_and_resume(world, directory + "/round" + std::to_string(i));
    pauses.push_back(round.pauses);
    pause_cpu.push_back(round.pause_cpu_us);
    resumes.push_back(round.resumes);
    resume_cpu.push_back(round.resume_cpu_us);
    appends.push_back(synced_appends_per_second(directory, 0.3));
    load.push_back(round.other_load);
  }
  std::printf(
      "| rounds | pauses/s | CPU us a pause | resumes/s | CPU us a resume | 8 KB append + "
      "fdatasync /s | others' load |\n|---|---|---|---|---|---|---|\n"
      "| %d | %.0f | %.0f | %.0f | %.0f | %.0f | %.2f |\n\n",
      options.rounds, median(pauses), median(pause_cpu), median(resumes), median(resume_cpu),
      median(appends), median(load));
}

void measure_many(World& world, const std::string& path) {
  auto sqlite = value_or_exit(open_sqlite_store(path, *world.clock, *world.random));
  TimedStore store(*sqlite);
  auto graph = page_for_approval();
  auto runtime = world.runtime(store, graph);
  perform(*world.loop, *runtime, graph, threads_per_round, in_flight);
  double memory = resident_bytes();
  double bytes = file_bytes(path);
  perform(*world.loop, *runtime, graph, many_threads - threads_per_round, in_flight);
  double more = many_threads - threads_per_round;
  double memory_each = (resident_bytes() - memory) / more;
  value_or_exit(sqlite->compact());
  double bytes_each = (file_bytes(path) - bytes) / more;

  std::vector<double> whole, beyond;
  auto questions = open_questions(world, store, resumed_of_many);
  for (const InterruptId& question : questions) {
    store.seconds = 0;
    double began = wall_seconds();
    world.wait_for(approve_one(*runtime, question));
    double took = wall_seconds() - began;
    whole.push_back(took * 1e3);
    beyond.push_back((took - store.seconds) * 1e3);
  }
  auto state = static_cast<double>(first_page().text.size() + first_page().title.size());
  std::printf("| %d threads wait | |\n|---|---|\n", many_threads);
  std::printf("| bytes on the disk a thread, indexes included | %.0f |\n", bytes_each);
  std::printf("| of these the state's own text | %.0f |\n", state);
  std::printf("| memory a thread, bytes | %.0f |\n", memory_each);
  std::printf("| resuming one, ms: p50, p99 | %.2f, %.2f |\n", quantile(whole, 0.5),
              quantile(whole, 0.99));
  std::printf("| the same without its commits, ms: p50, p99 | %.2f, %.2f |\n",
              quantile(beyond, 0.5), quantile(beyond, 0.99));
}

}  // namespace

int main(int count, char** arguments) {
  Options options = options_from(count, arguments);
  Workplace place(options.directory);
  World world;
  std::printf("%s\n\n", description().c_str());
  std::printf(
      "SQLite, WAL, synchronous=FULL; %d threads of 1 KB that wait for a person after one node, "
      "%d in flight; then all are approved. Medians.\n\n",
      threads_per_round, in_flight);
  measure_rounds(world, options, place.path);
  measure_many(world, place.path + "/many");
}
