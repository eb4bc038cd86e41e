#include "bench/fleet_worker.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "bench/machine.h"

namespace belay::bench {
namespace {

constexpr std::string_view worker_word = "--work-on";
constexpr int told_through = 3;  // file descriptor to which a worker writes its reports
constexpr std::chrono::milliseconds node_takes{500};
constexpr int long_nodes = 20;
constexpr std::size_t runs_of_a_worker = 16;

Update<Page> count_once(const Page&, Context&) { return add(&Page::visits, 1); }

Task<Update<Page>> count_slowly(const Page&, Context&) {
  co_await sleep_for(node_takes);
  co_return add(&Page::visits, 1);
}

void tell(Told what, const std::string& thread) {
  Word word;
  word.what = what;
  word.at = wall_seconds();
  thread.copy(word.thread, sizeof word.thread - 1);
  // The parent has ended.
  if (::write(told_through, &word, sizeof word) != sizeof word) std::exit(1);
}

}  // namespace

Graph<Page> short_pages() {
  GraphBuilder<Page> graph{"short pages"};
  graph.node("count", count_once);
  graph.edge(start, "count").edge("count", end);
  return value_or_exit(std::move(graph).build());
}

Graph<Page> long_pages() {
  GraphBuilder<Page> graph{"long pages"};
  std::string last(start);
  for (int i = 1; i <= long_nodes; ++i) {
    std::string name = "node" + std::to_string(i);
    graph.node(name, count_slowly);
    graph.edge(last, name);
    last = name;
  }
  graph.edge(last, end);
  return value_or_exit(std::move(graph).build());
}

Task<Result<CommitOutcome>> WatchedStore::commit(Commit commit) {
  std::string thread = commit.rows.run ? commit.rows.run->thread.text : std::string();
  auto outcome = co_await inner().commit(std::move(commit));
  if (outcome.ok() && *outcome == CommitOutcome::applied && !thread.empty()) applied_(thread);
  co_return outcome;
}

WorkerProcess::WorkerProcess(const std::string& url, Wakes wakes) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) exit_with("Cannot create a pipe.");
  pipe_ = ends[0];
  (void)::fcntl(pipe_, F_SETFL, O_NONBLOCK);
  std::string words[] = {"/proc/self/exe", std::string(worker_word), url,
                         wakes == Wakes::by_notify ? "by-notify" : "by-polling"};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ends[1], told_through);
  int failed = ::posix_spawn(&process_, arguments[0], &files, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&files);
  ::close(ends[1]);
  if (failed != 0) exit_with("Cannot start a worker.");
}

WorkerProcess::~WorkerProcess() {
  kill();
  ::close(pipe_);
}

void WorkerProcess::kill() {
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  (void)::waitpid(process_, nullptr, 0);
  process_ = -1;
}

std::vector<Word> WorkerProcess::heard() {
  std::vector<Word> words;
  Word word;
  while (::read(pipe_, &word, sizeof word) == sizeof word) words.push_back(word);
  return words;
}

bool is_worker(int count, char** arguments) { return count == 4 && arguments[1] == worker_word; }

void work(char** arguments) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const std::string url = arguments[2];
  World world;
  auto store = value_or_exit(open_postgres_store(url, *world.clock, *world.random));
  WatchedStore watched(*store, [](const std::string& thread) { tell(Told::committed, thread); });
  std::unique_ptr<WorkNotifier> wake_up;
  if (arguments[3] == std::string_view("by-notify")) {
    wake_up = value_or_exit(open_postgres_wake_up(url));
  }
  RuntimeParts parts{watched, *world.loop, *world.clock, *world.random, world.model};
  parts.hints.work_notifier = wake_up.get();
  parts.observer = [](const ProgressEvent& event) {
    if (event.kind == ProgressEvent::Kind::node_started) tell(Told::begun, event.thread.text);
    if (event.kind == ProgressEvent::Kind::finished) tell(Told::ended, event.thread.text);
  };
  auto runtime = value_or_exit(Runtime::open(std::move(parts)));
  runtime->add(short_pages());
  runtime->add(long_pages());
  WorkerOptions options;
  options.runs_max = runs_of_a_worker;
  (void)value_or_exit(world.wait_for(runtime->run_worker(std::move(options))));
  std::exit(0);
}

}  // namespace belay::bench
