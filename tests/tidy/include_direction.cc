// The permitted includes of each folder. The order of the folders is that of ARCHITECTURE.md and of
// the link lists in CMake; this check also covers header-only use.

#include <algorithm>
#include <array>
#include <optional>

#include "tests/tidy/checks.h"
#include "tests/tidy/lexer.h"

namespace belay::tidy {
namespace {

// The folders of src/ in layers: a folder includes itself and those before it.
constexpr std::array kFolders = {
    "base",         "cron",      "analytics", "net",     "http",   "models",    "graph",
    "agent",        "tools",     "mcp",       "engine",  "store",  "telemetry", "redis",
    "load",         "events",    "driver",    "replay",  "worker", "runtime",   "embedding",
    "check",        "testing",   "scheduler", "service", "usage",  "client",    "server",
    "conversation", "langgraph", "a2a",       "ag_ui",   "cli",    "program"};
// The folders of agents/, likewise.
constexpr std::array kAgents = {"assistant", "checkpointer", "goals",
                                "research",  "rules",        "wellbeing"};

// External libraries, and the only folders that include them.
struct Library {
  std::string_view prefix;
  std::vector<std::string_view> folders;
};
const std::vector<Library> kLibraries = {
    {"boost/json", {"src/base/", "agents/research/filings/company_facts_reader.cc"}},
    {"boost/asio", {"src/http/", "bench/bare_server.cc"}},
    {"boost/beast", {"src/http/", "bench/bare_server.cc"}},
    {"zlib.h", {"src/http/"}},
    {"openssl/",
     {"src/base/", "src/http/", "src/langgraph/assistants.cc", "src/redis/tls.cc",
      "src/store/encrypted/", "src/tools/base64.h", "src/tools/webhook_signature.cc",
      "tests/allocation/", "tests/redis/"}},
    {"curl/", {"src/net/"}},
    {"libxml/", {"src/tools/page_text.cc", "agents/research/edgar/filing_html.cc"}},
    {"zstd.h", {"src/store/encrypted/"}},
    {"libpq-fe.h", {"src/store/postgres/", "tests/postgres/", "bench/"}},
    {"sqlite3.h",
     {"src/store/sqlite/", "src/tools/search_index.cc", "bench/", "tests/allocation/",
      "tests/conformance/", "tests/crash/", "tests/disk/", "tests/simulation/"}},
    {"toml++/", {"src/models/prices.cc", "tests/simulation/"}},
    {"CLI/", {"src/cli/"}},
    {"yaml-cpp/", {"src/cli/", "tests/documents/", "tests/postgres/kubernetes_test.cc"}},
    {"unicode/", {"agents/rules/", "src/base/time_zone.cc", "src/tools/text_encoding.cc"}},
    {"libstemmer.h", {"agents/rules/figures.cc"}},
    {"gtest/", {"tests/", "*_test.cc"}},
    {"gmock/", {"tests/", "*_test.cc"}},
    {"rapidcheck", {"tests/", "*_test.cc"}},
};

template <typename Folders>
std::optional<std::size_t> rank_of(std::string_view folder, const Folders& folders) {
  auto found = std::find(folders.begin(), folders.end(), folder);
  if (found == folders.end()) return std::nullopt;
  return found - folders.begin();
}

std::string_view first_part(std::string_view path) {
  std::size_t slash = path.find('/');
  return slash == path.npos ? std::string_view() : path.substr(0, slash);
}

bool lies_in(std::string_view path, std::string_view pattern) {
  return pattern.starts_with('*') ? path.ends_with(pattern.substr(1)) : path.starts_with(pattern);
}

std::string quoted(std::string_view name) { return "\"" + std::string(name) + "\""; }

// Returns the fault of an include of a library, or of a header that docs/dependencies.md does not
// list.
std::optional<std::string> library_fault(std::string_view path, std::string_view name) {
  for (const Library& library : kLibraries) {
    if (!name.starts_with(library.prefix)) continue;
    auto in = [&](std::string_view folder) { return lies_in(path, folder); };
    if (std::any_of(library.folders.begin(), library.folders.end(), in)) return std::nullopt;
    std::string folders;
    for (std::string_view folder : library.folders) folders += " " + std::string(folder);
    return "<" + std::string(name) + "> is seen only by" + folders + ": use what they offer";
  }
  std::string_view first = first_part(name);
  if (first.empty() || first == "belay" || first == "sys" || first == "linux" || first == "arpa" ||
      first == "netinet")
    return std::nullopt;
  return "<" + std::string(name) +
         "> is of a library that Belay does not use: see docs/dependencies.md";
}

std::optional<std::string> fault_in_src(std::string_view path, std::string_view name) {
  std::string_view inside = path.substr(std::string_view("src/").size());
  std::string_view own = first_part(inside);
  std::string_view other = first_part(name);
  if (other.empty() || own.empty()) return std::nullopt;
  if (own == "program" && (other == "agents" || other == "tests")) return std::nullopt;
  auto own_rank = rank_of(own, kFolders);
  auto other_rank = rank_of(other, kFolders);
  if (!own_rank) return "src/" + std::string(own) + " is not in the order of folders: add it";
  if (!other_rank) return quoted(name) + " names no folder of src/";
  if (*other_rank > *own_rank) {
    return "src/" + std::string(own) + " stands below src/" + std::string(other) +
           " and must not include it: " + quoted(name);
  }
  for (std::string_view one : {"store/memory/", "store/sqlite/", "store/postgres/"}) {
    for (std::string_view another : {"store/memory/", "store/sqlite/", "store/postgres/"}) {
      if (one != another && inside.starts_with(one) && name.starts_with(another)) {
        return "one store must not know another: " + quoted(name);
      }
    }
  }
  return std::nullopt;
}

// Agents and examples prove that the public headers are sufficient.
std::optional<std::string> fault_in_agents(std::string_view path, std::string_view name) {
  std::string_view top = first_part(path);
  std::string_view own = first_part(path.substr(top.size() + 1));
  if (name.starts_with(top) && name.substr(top.size()).starts_with('/')) {
    name.remove_prefix(top.size() + 1);
  }
  std::string_view other = first_part(name);
  if (other.empty() || other == own) return std::nullopt;
  auto own_rank = rank_of(own, kAgents);
  auto other_rank = rank_of(other, kAgents);
  if (top == "agents" && own_rank && other_rank && *other_rank < *own_rank) return std::nullopt;
  return std::string(top) +
         "/ uses the public headers, its own folder and those below it: " + quoted(name);
}

std::optional<std::string> quoted_fault(std::string_view path, std::string_view name) {
  if (name.starts_with("../") || name.find("/../") != name.npos) {
    return "name a header from the root of its folder: " + quoted(name);
  }
  if (is_test(path) || path.starts_with("bench/") || name.starts_with("belay/")) {
    return std::nullopt;
  }
  if (path.starts_with("src/")) return fault_in_src(path, name);
  if (path.starts_with("agents/") || path.starts_with("examples/")) {
    return fault_in_agents(path, name);
  }
  return std::nullopt;
}

// A public header includes only the standard library and Belay.
std::optional<std::string> public_fault(std::string_view include) {
  std::string_view name = include.substr(1, include.size() - 2);
  bool ours = name.starts_with("belay/");
  bool standard = include.front() == '<' && name.find_first_of("/.") == name.npos;
  if (ours || standard) return std::nullopt;
  return "a public header includes belay/ and the standard library only, not " + quoted(name);
}

}  // namespace

Findings check_includes(const File& file) {
  Findings findings;
  if (!is_cpp(file.path)) return findings;
  for (const Token& token : tokens_of(file.text)) {
    if (token.kind != TokenKind::include) continue;
    std::string_view name = std::string_view(token.text).substr(1, token.text.size() - 2);
    std::optional<std::string> fault;
    if (file.path.starts_with("include/")) {
      fault = public_fault(token.text);
    } else if (token.text.front() == '<') {
      fault = library_fault(file.path, name);
    } else {
      fault = quoted_fault(file.path, name);
    }
    if (fault) findings.push_back({file.path, token.line, *fault});
  }
  return findings;
}

}  // namespace belay::tidy
