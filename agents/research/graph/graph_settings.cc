#include "agents/research/graph/graph_settings.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace belay::research {
namespace {

constexpr const char* kGraph = "research_graph";
constexpr const char* kFolder = "research_graph_folder";
constexpr const char* kDialect = "research_graph_dialect";
constexpr const char* kUrl = "research_neo4j_url";
constexpr const char* kDatabase = "research_neo4j_database";
constexpr const char* kUser = "research_neo4j_user";
constexpr const char* kPasswordFile = "research_neo4j_password_file";
constexpr const char* kTokenFile = "research_neo4j_token_file";
constexpr const char* kPlainText = "research_neo4j_plain_text";
constexpr std::size_t kSecretBytesMax = 4096;

class SecretFile {
 public:
  explicit SecretFile(const std::string& path)
      : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  SecretFile(const SecretFile&) = delete;
  SecretFile& operator=(const SecretFile&) = delete;
  ~SecretFile() {
    if (file_ >= 0) ::close(file_);
  }
  int file() const { return file_; }

 private:
  const int file_;
};

Error secret_error(const std::string& path, const std::string& why) {
  return error(ErrorCode::invalid, "The secret file \"" + path + "\" " + why + ".");
}

// Returns the text of the file without line ends after it.
Result<std::string> secret_in(const std::string& path) {
  SecretFile secret(path);
  struct stat about{};
  if (secret.file() < 0 || ::fstat(secret.file(), &about) != 0) {
    return secret_error(path, "cannot be read: " + std::string(std::strerror(errno)));
  }
  if (!S_ISREG(about.st_mode)) return secret_error(path, "is not a regular file");
  if ((about.st_mode & S_IRWXO) != 0) {
    return secret_error(path, "can be read by other users. Restrict it: chmod 600");
  }
  std::array<char, kSecretBytesMax + 1> buffer;
  std::string text;
  while (text.size() <= kSecretBytesMax) {
    ssize_t got = ::read(secret.file(), buffer.data(), buffer.size());
    if (got < 0) return secret_error(path, "cannot be read: " + std::string(std::strerror(errno)));
    if (got == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  if (text.size() > kSecretBytesMax) return secret_error(path, "has more than 4 KiB");
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  if (text.empty()) return secret_error(path, "is empty");
  return text;
}

Error setting_error(const char* key, const std::string& allowed) {
  return error(ErrorCode::invalid, "The setting " + std::string(key) + " must be " + allowed + ".");
}

Result<GraphSetup> file_setup(const ModuleSettings& settings) {
  CypherFileOptions options;
  options.folder = settings.value(kFolder);
  std::string dialect = settings.value(kDialect);
  if (dialect == "kuzu") {
    options.dialect = CypherDialect::kuzu;
  } else if (!dialect.empty() && dialect != "neo4j") {
    return setting_error(kDialect, "\"neo4j\" or \"kuzu\"");
  }
  BELAY_TRY(auto sink, cypher_file_sink(std::move(options)));
  return GraphSetup{std::move(sink)};
}

Result<GraphSetup> neo4j_setup(const ModuleSettings& settings) {
  Neo4jSinkOptions options;
  options.server.url = settings.value(kUrl);
  options.server.user = settings.value(kUser);
  if (std::string database = settings.value(kDatabase); !database.empty()) {
    options.server.database = std::move(database);
  }
  if (std::string path = settings.value(kPasswordFile); !path.empty()) {
    BELAY_TRY(options.server.password, secret_in(path));
  }
  if (std::string path = settings.value(kTokenFile); !path.empty()) {
    BELAY_TRY(options.server.token, secret_in(path));
  }
  std::string plain = settings.value(kPlainText);
  if (!plain.empty() && plain != "true" && plain != "false") {
    return setting_error(kPlainText, "\"true\" or \"false\"");
  }
  options.server.permits_plain_text = plain == "true";
  auto server = std::make_shared<const Neo4jOptions>(options.server);
  BELAY_TRY(auto sink, neo4j_sink(std::move(options)));
  return GraphSetup{std::move(sink), std::move(server)};
}

}  // namespace

std::vector<ModuleSetting> graph_settings() {
  return {
      {kGraph, "BELAY_RESEARCH_GRAPH", "graph of each analysis: none, file or neo4j", true},
      {kFolder, "BELAY_RESEARCH_GRAPH_FOLDER", "folder for the Cypher files", true},
      {kDialect, "BELAY_RESEARCH_GRAPH_DIALECT", "engine of the Cypher files: neo4j or kuzu"},
      {kUrl, "BELAY_RESEARCH_NEO4J_URL", "Neo4j's HTTP address, such as https://HOST:7473", true},
      {kDatabase, "BELAY_RESEARCH_NEO4J_DATABASE", "database of Neo4j (neo4j)", true},
      {kUser, "BELAY_RESEARCH_NEO4J_USER", "user of Neo4j", true},
      {kPasswordFile, "BELAY_RESEARCH_NEO4J_PASSWORD_FILE", "file with that user's password", true},
      {kTokenFile, "BELAY_RESEARCH_NEO4J_TOKEN_FILE", "file with a bearer token, without a user",
       true},
      {kPlainText, "BELAY_RESEARCH_NEO4J_PLAIN_TEXT", "true: permits a login without TLS", true},
  };
}

Result<GraphSetup> graph_setup(const ModuleSettings& settings) {
  std::string graph = settings.value(kGraph);
  if (settings.is_remote || graph.empty() || graph == "none") return GraphSetup{no_graph_sink()};
  if (graph == "file") return file_setup(settings);
  if (graph == "neo4j") return neo4j_setup(settings);
  return setting_error(kGraph, "\"none\", \"file\" or \"neo4j\"");
}

}  // namespace belay::research
