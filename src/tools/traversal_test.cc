// Tries the paths of traversal_corpus.tsv, and replaces folders by links during writes.

#include <gtest/gtest.h>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "tests/support/corpus_file.h"
#include "tools/file_access.h"

namespace belay::tools {
namespace {

namespace fs = std::filesystem;

struct Case {
  std::string kind;
  std::string verdict;
  std::string path;
};

std::vector<Case> corpus() {
  std::vector<Case> cases;
  for (auto& row :
       corpus_rows(std::string(BELAY_SOURCE_DIR) + "/src/tools/traversal_corpus.tsv", 3)) {
    cases.push_back({std::move(row[0]), std::move(row[1]), std::move(row[2])});
  }
  return cases;
}

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The entries of a folder with their types, targets and contents.
using Snapshot = std::map<std::string, std::string>;
Snapshot snapshot(const fs::path& folder) {
  Snapshot entries;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    fs::file_status status = entry.symlink_status();
    std::string& value = entries[entry.path().string()];
    value = std::to_string(static_cast<int>(status.type()));
    if (fs::is_symlink(status)) value += fs::read_symlink(entry.path()).string();
    if (fs::is_regular_file(status)) value += content_of(entry.path());
  }
  return entries;
}

void write_file(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

// A folder of files with all kinds of entries, and a folder outside of it with a secret.
class Playground {
 public:
  Playground() {
    // In memory, where fsync() takes no time: a test makes thousands of calls.
    fs::path parent = fs::exists("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path();
    std::string form = parent / "belay-XXXXXX";
    top_ = ::mkdtemp(form.data());
    fs::create_directories(run() / "folder" / "inner");
    fs::create_directories(outside());
    write_file(outside() / "secret.txt", "secret");
    write_file(run() / "file.txt", "file");
    add_links();
    ::mkfifo((run() / "fifo").c_str(), 0600);
    // Without the privilege to create a device, a link to one.
    if (::mknod((run() / "device").c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0) {
      fs::create_symlink("/dev/null", run() / "device");
    }
    fs::create_hard_link(outside() / "secret.txt", run() / "hard");
    add_socket();
  }
  ~Playground() {
    ::close(socket_);
    std::error_code ignored;
    fs::remove_all(top_, ignored);
  }
  Playground(const Playground&) = delete;
  Playground& operator=(const Playground&) = delete;

  fs::path top() const { return top_; }
  fs::path outside() const { return top() / "outside"; }
  fs::path root() const { return top() / "root"; }
  fs::path run() const { return root() / "run"; }
  FileAccess access(Resolution resolution) const {
    return FileAccess(root().string(), "run", FileLimits{1 << 20, 1000, 1 << 16}, resolution);
  }

 private:
  void add_links() {
    const std::pair<const char*, std::string> links[] = {{"link-out", "../../outside"},
                                                         {"link-file", "../../outside/secret.txt"},
                                                         {"link-abs", outside().string()},
                                                         {"link-proc", "/proc/self/root"},
                                                         {"link-fd", "/proc/self/fd/0"},
                                                         {"link-cwd", "/proc/self/cwd"},
                                                         {"link-dangling", "missing"},
                                                         {"link-new", "../../outside/new.txt"},
                                                         {"link-loop", "link-loop"},
                                                         {"link-in", "folder"},
                                                         {"link-root", "/"},
                                                         {"link-dot", "."},
                                                         {"link-parent", ".."},
                                                         {"link-null", "/dev/null"},
                                                         {"folder/link-up", "../../../outside"},
                                                         {"folder/link-file", "../file.txt"}};
    for (const auto& [name, target] : links) fs::create_symlink(target, run() / name);
  }
  void add_socket() {
    socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::snprintf(address.sun_path, sizeof address.sun_path, "%s", (run() / "socket").c_str());
    ASSERT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }

  fs::path top_;
  int socket_ = -1;
};

std::string label(const Case& each) { return each.kind + " path: " + each.path.substr(0, 200); }

void expect_refused(const Case& each, const FileAccess& access, const Playground& ground,
                    const Snapshot& before) {
  EXPECT_FALSE(access.write(each.path, "written").ok()) << label(each);
  if (each.verdict == "refused") {
    EXPECT_FALSE(access.read(each.path, 0, 100).ok()) << label(each);
  } else {
    auto read = access.read(each.path, 0, 100);
    ASSERT_TRUE(read.ok()) << label(each) << ": " << read.error().message;
  }
  EXPECT_EQ(snapshot(ground.top()), before) << label(each);
}

void expect_literal(const Case& each, const FileAccess& access, const Playground& ground,
                    const Snapshot& before) {
  fs::path path = ground.run() / each.path;
  bool existed = fs::exists(path);
  std::string old = content_of(path);
  auto written = access.write(each.path, "written");
  ASSERT_TRUE(written.ok()) << label(each) << ": " << written.error().message;
  EXPECT_EQ(content_of(path), "written") << label(each);
  auto read = access.read(each.path, 0, 100);
  ASSERT_TRUE(read.ok()) << label(each) << ": " << read.error().message;
  EXPECT_EQ(read->text, "written") << label(each);
  // Removes the file and the folders that were created, and nothing else.
  if (existed) return write_file(path, old);
  while (before.count(path.string()) == 0 && path != ground.run()) {
    fs::remove(path);
    path = path.parent_path();
  }
  EXPECT_EQ(snapshot(ground.top()), before) << label(each);
}

class Traversal : public ::testing::TestWithParam<Resolution> {};
INSTANTIATE_TEST_SUITE_P(Resolutions, Traversal,
                         ::testing::Values(Resolution::kernel, Resolution::components));

TEST_P(Traversal, EveryPathOfTheCorpusHasItsVerdict) {
  Playground ground;
  FileAccess access = ground.access(GetParam());
  Snapshot before = snapshot(ground.top());
  std::vector<Case> cases = corpus();
  ASSERT_GE(cases.size(), 500u);
  for (const Case& each : cases) {
    if (each.verdict == "name") {
      expect_literal(each, access, ground, before);
    } else {
      ASSERT_TRUE(each.verdict == "refused" || each.verdict == "read") << label(each);
      expect_refused(each, access, ground, before);
    }
    if (HasFailure()) break;
  }
}

TEST_P(Traversal, TheFolderOfARunIsNotALink) {
  Playground ground;
  fs::remove_all(ground.run());
  fs::create_directory_symlink("../outside", ground.run());
  FileAccess access = ground.access(GetParam());
  EXPECT_EQ(access.write("new.txt", "x").error().code, ErrorCode::forbidden);
  EXPECT_EQ(access.read("secret.txt", 0, 10).error().code, ErrorCode::forbidden);
  EXPECT_FALSE(fs::exists(ground.outside() / "new.txt"));
}

TEST_P(Traversal, AFifoDoesNotBlock) {
  Playground ground;
  FileAccess access = ground.access(GetParam());
  EXPECT_EQ(access.read("fifo", 0, 10).error().message,
            "The path \"fifo\" is not a regular file. Use another path.");
  EXPECT_EQ(access.write("fifo", "x").error().code, ErrorCode::invalid);
  Descriptor folder(::open(ground.run().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  Opened opened = open_beneath(folder.number(), "fifo", O_RDONLY, GetParam());
  EXPECT_EQ(opened.fault, 0);
}

// Exchanges the folder "run/place" and a link to the outside until it is destroyed.
class Exchange {
 public:
  explicit Exchange(const Playground& ground)
      : folder_(ground.run() / "place"), link_(ground.run() / "other") {
    fs::create_directory(folder_);
    fs::create_directory_symlink("../../outside", link_);
    thread_ = std::thread([this] {
      while (!ends_) {
        ::renameat2(AT_FDCWD, folder_.c_str(), AT_FDCWD, link_.c_str(), RENAME_EXCHANGE);
        ++count_;
      }
    });
  }
  ~Exchange() {
    ends_ = true;
    thread_.join();
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  int count() const { return count_; }

 private:
  fs::path folder_;
  fs::path link_;
  std::atomic<bool> ends_ = false;
  std::atomic<int> count_ = 0;
  std::thread thread_;
};

TEST_P(Traversal, ALinkThatReplacesAFolderDuringACallIsNotFollowed) {
  constexpr int iterations = 2'000;
  Playground ground;
  FileAccess access = ground.access(GetParam());
  int written = 0;
  int exchanged = 0;
  {
    Exchange exchange(ground);
    for (int i = 0; i < iterations; ++i) {
      std::string path = "place/" + std::to_string(i % 8) + ".txt";
      if (access.write(path, "x").ok()) ++written;
      auto read = access.read("place/secret.txt", 0, 100);
      EXPECT_FALSE(read.ok()) << "The secret outside was read.";
    }
    exchanged = exchange.count();
  }
  EXPECT_GT(written, 0);
  EXPECT_GT(exchanged, 100);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(ground.outside())) {
    names.push_back(entry.path().filename().string());
  }
  EXPECT_EQ(names, std::vector<std::string>{"secret.txt"});
  EXPECT_EQ(content_of(ground.outside() / "secret.txt"), "secret");
}

}  // namespace
}  // namespace belay::tools
