// The Cypher file, as a sink writes it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "agents/research/graph/atomic_file.h"
#include "agents/research/graph/graph_fixture.h"
#include "agents/research/graph/graph_sink.h"
#include "belay/testing.h"

namespace belay::research {

struct FileRun {
  GraphDelivery delivery{};
};

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CypherFiles : public ::testing::Test {
 protected:
  CypherFiles() {
    std::string path = (std::filesystem::temp_directory_path() / "cypher-files-XXXXXX").string();
    folder_ = ::mkdtemp(path.data());
  }
  ~CypherFiles() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      found.push_back(entry.path().filename().string());
    }
    std::sort(found.begin(), found.end());
    return found;
  }
  static std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string folder_;
};

Result<Graph<FileRun>> file_graph(const CypherFileOptions& options) {
  auto sink = cypher_file_sink(options).value();
  GraphBuilder<FileRun> graph{"file_delivery"};
  graph.node("deliver", [sink](const FileRun&, Context& context) -> Task<Update<FileRun>> {
    GraphRows rows = graph_rows(sample_results(), sample_subject());
    GraphDelivery delivery = co_await sink->deliver(std::move(rows), context);
    co_return set(&FileRun::delivery, std::move(delivery));
  });
  graph.edge(start, "deliver").edge("deliver", end);
  return std::move(graph).build();
}

std::string sample_file(CypherDialect dialect) {
  return cypher_file(graph_rows(sample_results(), sample_subject()), dialect);
}

TEST_F(CypherFiles, AreReplacedByEqualBytes) {
  CypherFileOptions options;
  options.folder = path("new/");
  options.dialect = CypherDialect::kuzu;
  for (int i = 0; i < 2; ++i) {
    auto run = testing::World{}.run(file_graph(options), FileRun{}).approve_all();
    ASSERT_TRUE(run.ok()) << run.error()->message;
    EXPECT_EQ(run.state().delivery.outcome, GraphOutcome::delivered);
    EXPECT_EQ(run.state().delivery.sink, "file");
    EXPECT_EQ(run.state().delivery.place, path("new/AAPL-2026-01-30.cypher"));
    EXPECT_EQ(contents(path("new/AAPL-2026-01-30.cypher")), sample_file(CypherDialect::kuzu));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path("new")), {}), 1);
  }
}

TEST_F(CypherFiles, AreWrittenWhereverTheProcessDies) {
  CypherFileOptions options;
  options.folder = folder_;
  auto baseline = testing::World{}.run(file_graph(options), FileRun{}).approve_all();
  for (const testing::CrashPoint& crash : baseline.crash_points()) {
    std::filesystem::remove(path("AAPL-2026-01-30.cypher"));
    auto run = testing::World{}.run(file_graph(options), FileRun{}).crash_at(crash).approve_all();
    ASSERT_TRUE(run.ok()) << crash;
    EXPECT_EQ(run.state(), baseline.state()) << crash;
    EXPECT_EQ(contents(path("AAPL-2026-01-30.cypher")), sample_file(CypherDialect::neo4j)) << crash;
    EXPECT_THAT(names(), ElementsAre("AAPL-2026-01-30.cypher")) << crash;
  }
}

TEST_F(CypherFiles, ThatCannotBeWrittenDoNotFailTheRun) {
  ASSERT_TRUE(write_atomically(path("file"), "text").ok());
  CypherFileOptions options;
  options.folder = path("file/below");
  auto run = testing::World{}.run(file_graph(options), FileRun{}).approve_all();
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.state().delivery.outcome, GraphOutcome::failed);
  EXPECT_EQ(run.state().delivery.code, "unavailable");
  EXPECT_THAT(run.state().delivery.message, HasSubstr("file/below"));
}

TEST_F(CypherFiles, NeedAFolder) {
  EXPECT_EQ(cypher_file_sink({}).error().code, ErrorCode::invalid);
}

TEST_F(CypherFiles, AreWrittenAtomically) {
  ASSERT_TRUE(write_atomically(path("a"), "first").ok());
  ASSERT_TRUE(write_atomically(path("a"), std::string(3'000'000, 'x')).ok());
  EXPECT_EQ(contents(path("a")).size(), 3'000'000u);
  ASSERT_TRUE(write_atomically(path("a"), "").ok());
  EXPECT_EQ(contents(path("a")), "");
  std::filesystem::create_directory(path("folder"));
  Result<Done> refused = write_atomically(path("folder"), "text");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_THAT(names(), ElementsAre("a", "folder")) << "without temporary files";
  EXPECT_FALSE(write_atomically(path("missing/folder/file"), "text").ok());
}

TEST_F(CypherFiles, AreReadableByTheirOwnerOnly) {
  ASSERT_TRUE(write_atomically(path("a"), "text").ok());
  auto permissions = std::filesystem::status(path("a")).permissions();
  EXPECT_EQ(permissions, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

}  // namespace
}  // namespace belay::research
