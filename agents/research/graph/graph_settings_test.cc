#include "agents/research/graph/graph_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

namespace belay::research {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class GraphSettings : public ::testing::Test {
 protected:
  GraphSettings() {
    std::string path = (std::filesystem::temp_directory_path() / "graph-settings-XXXXXX").string();
    folder_ = ::mkdtemp(path.data());
  }
  ~GraphSettings() override { std::filesystem::remove_all(folder_); }

  std::string secret(const std::string& text, mode_t mode = 0600) {
    std::string path = folder_ + "/secret" + std::to_string(++files_);
    std::ofstream(path, std::ios::binary) << text;
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  Result<GraphSetup> setup(std::map<std::string, std::string> values) {
    ModuleSettings settings;
    settings.values = std::move(values);
    return graph_setup(settings);
  }
  std::map<std::string, std::string> of_neo4j() {
    return {{"research_graph", "neo4j"}, {"research_neo4j_url", "https://graph.example.com"}};
  }

  std::string folder_;
  int files_ = 0;
};

TEST_F(GraphSettings, SelectNoSinkByDefault) {
  EXPECT_EQ(setup({}).value().sink->name(), "none");
  EXPECT_EQ(setup({{"research_graph", "none"}}).value().sink->name(), "none");
  ModuleSettings remote;
  remote.is_remote = true;
  remote.values = of_neo4j();
  EXPECT_EQ(graph_setup(remote).value().sink->name(), "none");
}

TEST_F(GraphSettings, SelectAFile) {
  std::map<std::string, std::string> values = {{"research_graph", "file"},
                                               {"research_graph_folder", folder_}};
  EXPECT_EQ(setup(values).value().sink->name(), "file");
  values["research_graph_dialect"] = "kuzu";
  EXPECT_EQ(setup(values).value().sink->name(), "file");
  values["research_graph_dialect"] = "sql";
  EXPECT_THAT(setup(values).error().message, HasSubstr("research_graph_dialect"));
  EXPECT_FALSE(setup({{"research_graph", "file"}}).ok()) << "without a folder";
}

TEST_F(GraphSettings, SelectNeo4jWithTheSecretOfAFile) {
  auto values = of_neo4j();
  EXPECT_EQ(setup(values).value().server->database, "neo4j");
  values["research_neo4j_user"] = "ana";
  values["research_neo4j_password_file"] = secret("pass word\n");
  values["research_neo4j_database"] = "research";
  GraphSetup made = setup(values).value();
  EXPECT_EQ(made.sink->name(), "neo4j");
  EXPECT_EQ(made.server->user, "ana");
  EXPECT_EQ(made.server->password, "pass word");
  EXPECT_EQ(made.server->database, "research");
  values = of_neo4j();
  values["research_neo4j_token_file"] = secret("a.b.c");
  EXPECT_EQ(setup(values).value().server->token, "a.b.c");
}

TEST_F(GraphSettings, PermitPlainTextOnlyIfTheyDeclareIt) {
  auto values = of_neo4j();
  values["research_neo4j_url"] = "http://graph.example.com:7474";
  values["research_neo4j_user"] = "ana";
  EXPECT_FALSE(setup(values).ok());
  values["research_neo4j_plain_text"] = "true";
  EXPECT_TRUE(setup(values).ok());
  values["research_neo4j_plain_text"] = "yes";
  EXPECT_THAT(setup(values).error().message, HasSubstr("research_neo4j_plain_text"));
}

TEST_F(GraphSettings, RefuseASecretFileThatOthersCanRead) {
  auto values = of_neo4j();
  values["research_neo4j_user"] = "ana";
  values["research_neo4j_password_file"] = secret("very-secret", 0644);
  EXPECT_THAT(setup(values).error().message,
              AllOf(HasSubstr("chmod 600"), Not(HasSubstr("very-secret"))));
}

TEST_F(GraphSettings, RefuseAnUnusableSecretFile) {
  for (const std::string& path : {folder_ + "/missing", folder_, secret(""), secret("\n"),
                                  secret(std::string(5000, 'x')), secret("a\nb")}) {
    auto values = of_neo4j();
    values["research_neo4j_user"] = "ana";
    values["research_neo4j_password_file"] = path;
    Result<GraphSetup> refused = setup(values);
    ASSERT_FALSE(refused.ok()) << path;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  }
}

TEST_F(GraphSettings, RefuseOtherValues) {
  EXPECT_THAT(setup({{"research_graph", "sqlite"}}).error().message, HasSubstr("research_graph"));
  EXPECT_FALSE(setup({{"research_graph", "neo4j"}}).ok()) << "without a URL";
  auto values = of_neo4j();
  values["research_neo4j_database"] = "../other";
  EXPECT_FALSE(setup(values).ok());
}

TEST_F(GraphSettings, HaveUniqueNames) {
  std::set<std::string> keys, variables;
  for (const ModuleSetting& setting : graph_settings()) {
    EXPECT_TRUE(keys.insert(setting.key).second);
    EXPECT_TRUE(variables.insert(setting.variable).second);
    EXPECT_TRUE(setting.variable.starts_with("BELAY_RESEARCH_")) << setting.variable;
    EXPECT_FALSE(setting.help.empty());
  }
  EXPECT_EQ(keys.size(), 9u);
}

}  // namespace
}  // namespace belay::research
