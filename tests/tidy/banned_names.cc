// Banned names, each with its replacement and with the files in which it is permitted, for the
// stated reason.

#include <algorithm>
#include <sstream>

#include "tests/tidy/checks.h"
#include "tests/tidy/lexer.h"

namespace belay::tidy {
namespace {

struct Exception {
  std::string_view files;  // a path, a folder that ends in '/', or '*' and a suffix
  std::string_view reason;
};

struct Ban {
  std::string_view tokens;  // separated by spaces, as the lexer returns them
  std::string_view instead;
  std::vector<Exception> exceptions;
};

const Exception kTests{"tests/", "tests"};
const Exception kUnitTests{"*_test.cc", "tests"};
const Exception kBench{"bench/", "measures from outside"};
const Exception kCli{"src/cli/", "the composition root: the only place that meets the outside"};
const Exception kExamples{"examples/", "a program of its own"};

const Exception kSystemClock{"src/base/time.cc", "the one real Clock and Random"};
const Exception kEventLoop{"src/base/event_loop.cc", "the one real executor, and its timers"};
const Exception kStart{"src/base/start_thread.h", "starts the threads of all others"};
const Exception kNet{"src/net/", "one thread that waits for sockets, with libcurl's time"};
const Exception kRedis{"src/redis/", "a thread for each connection, with its time-outs"};
const Exception kLogThread{"src/telemetry/log.cc", "a sink that blocks delays no run"};
const Exception kHeldLoop{"src/http/held_loop_responder.h",
                          "answers while the thread of the executor is held"};
const Exception kHttp{"src/http/", "the executor on Asio, and what sockets are given time for"};
const Exception kPool{"src/base/blocking_pool.cc", "the one real pool"};
const Exception kPoolHeader{"src/base/blocking_pool.h", "the one real pool"};
const Exception kSqliteThreads{"src/store/sqlite/", "one writer thread, and readers apart"};
const Exception kMcp{"src/mcp/stdio_connection.h", "a thread for each process of an MCP server"};
const Exception kMcpBackground{"src/mcp/background.h", "a thread for what no call waits for"};
const Exception kMcpTime{"src/mcp/", "the time that a server is given, which its progress extends"};
const Exception kInputLines{"src/cli/input_lines.h", "a thread that waits for standard input"};
const Exception kMcpPrograms{"src/mcp/child_process.cc", "PATH and HOME of a server's program"};
const Exception kPostgres{"src/store/postgres/", "a thread for each connection, with its patience"};

// Commits that no event of a run is about.
const std::vector<Exception> kCommits = {
    {"src/engine/", "the engine"},
    {"src/driver/store_records.cc", "records, outside of a run"},
    {"src/driver/collections.cc", "records, outside of a run"},
    {"src/worker/outbox_delivery.cc", "the status of a message"},
    {"src/worker/message.cc", "the status of a message"},
    {"src/runtime/run_deletion.cc", "the deletion of ended runs"},
    {"src/runtime/thread_edit.cc", "the title and metadata of a thread"},
    {"src/telemetry/held_loop_report.cc", "a record of the process, outside of a run"},
    {"src/service/run_file.cc", "an import: a run that another store decided"},
    {"src/service/local_service.cc", "the preserve flag of a thread"},
    {"src/service/queue_documents.cc", "the rows of queues"},
    {"src/store/", "stores pass commits on; retention and re-encryption"},
    kTests,
    kUnitTests,
    kBench};

const std::vector<Ban>& bans() {
  static const std::vector<Ban> all = {
      {"system_clock :: now", "ask the Clock that was handed in", {kSystemClock, kBench}},
      {"steady_clock :: now",
       "use the executor's timers, so that a simulated clock can stand in",
       {kEventLoop, kNet, kRedis, kPostgres, kHttp, kMcpTime, kBench, kTests, kUnitTests}},
      {"random_device", "use the Random that was handed in", {kSystemClock}},
      {"rand (", "use the Random that was handed in", {}},
      {"srand (", "use the Random that was handed in", {}},
      {"this_thread :: sleep_for",
       "wait on the executor",
       {{"src/cli/dev.cc", "has no executor: it only looks after its child"},
        kTests,
        kUnitTests,
        kBench}},
      {"this_thread :: sleep_until", "wait on the executor", {kTests, kUnitTests, kBench}},
      {"usleep (", "wait on the executor", {kTests, kUnitTests, kBench}},
      {"std :: thread",
       "post to the executor, or offload() what blocks",
       {kPool, kPoolHeader, kStart, kSqliteThreads, kPostgres, kNet, kRedis, kMcp, kMcpBackground,
        kLogThread, kInputLines, kHeldLoop, kTests, kUnitTests, kBench}},
      {"std :: jthread", "post to the executor, or offload() what blocks", {}},
      {"std :: async", "post to the executor, or offload() what blocks", {}},
      {"getenv",
       "read it in src/cli and hand it in",
       {kCli, kMcpPrograms, kTests, kUnitTests, kBench}},
      {"secure_getenv", "read it in src/cli and hand it in", {kCli, kTests, kUnitTests, kBench}},
      {"throw",
       "return an Error; inside a node, value()",
       {{"src/base/result.cc", "where value() leaves a node"},
        {"src/graph/context.cc", "where a question leaves a node"},
        {"src/agent/tool_call.cc", "the same, of a question within an effect"},
        {"src/cli/former_names.cc", "CLI11 reports an invalid command line by an exception"},
        kTests,
        kUnitTests}},
      {"catch (",
       "take a Result; exceptions end at the node boundary",
       {{"src/base/task.cc", "what leaves a coroutine"},
        {"include/belay/task.h", "what leaves a coroutine"},
        {"src/driver/node_boundary.cc", "the node boundary"},
        {"src/graph/call_guarded.h", "what a graph's own functions throw"},
        {"src/agent/deadline.cc", "what a tool's function throws"},
        {"src/agent/tool_call.cc", "what an effect's call throws, as the text for the model"},
        {"src/mcp/", "what functions of the program throw: its HttpAccess, its answers to forms"},
        {"src/cli/", "CLI11 throws"},
        {"src/store/postgres/", "a thread, where the system has no more of them"},
        kTests,
        kUnitTests}},
      {"[ = ]", "name what the lambda keeps", {}},
      {"[ = ,", "name what the lambda keeps", {}},
      {"thread_local", "pass it: the context holds all that is ambient", {}},
      {"std :: cout", "return it; src/cli prints", {kCli, kTests, kUnitTests, kBench, kExamples}},
      {"new", "make_unique, or a value", {}},
      {"delete", "unique_ptr, or a value", {}},
      {"Commit commit ;", "return it from advance(): the engine makes all decisions about a run",
       kCommits},
      {"std :: regex", "a few lines of code: it overflows the stack on long input", {}},
      {"std :: stoi", "from_chars: it throws, and stops at the first wrong letter", {}},
      {"std :: stol", "from_chars: it throws, and stops at the first wrong letter", {}},
      {"std :: stoll", "from_chars: it throws, and stops at the first wrong letter", {}},
      {"std :: stoul", "from_chars: it throws, and stops at the first wrong letter", {}},
      {"std :: stoull", "from_chars: it throws, and stops at the first wrong letter", {}},
      {"std :: stod", "from_chars: it throws, and reads the locale", {}},
      {"atoi (", "from_chars: it says nothing of a wrong number", {}},
      {"atof (", "from_chars: it says nothing of a wrong number", {}},
      {"assert (", "BELAY_ASSERT: it holds in every build", {}},
  };
  return all;
}

bool is_exception(const Ban& ban, std::string_view path) {
  return std::any_of(ban.exceptions.begin(), ban.exceptions.end(), [&](const Exception& one) {
    if (one.files.starts_with('*')) return path.ends_with(one.files.substr(1));
    return one.files.ends_with('/') ? path.starts_with(one.files) : path == one.files;
  });
}

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool stands_at(const std::vector<std::string>& words, const std::vector<Token>& tokens,
               std::size_t at) {
  if (at + words.size() > tokens.size()) return false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Token& token = tokens[at + i];
    if (token.kind != TokenKind::identifier && token.kind != TokenKind::punctuation) return false;
    if (token.text != words[i]) return false;
  }
  return true;
}

// Returns whether the same words have another meaning here.
bool is_harmless(const std::vector<std::string>& words, const std::vector<Token>& tokens,
                 std::size_t at) {
  std::string before = at > 0 ? tokens[at - 1].text : "";
  std::size_t next = at + words.size();
  std::string after = next < tokens.size() ? tokens[next].text : "";
  if (words[0] == "delete" && before == "=") return true;  // f() = delete
  if ((words[0] == "new" || words[0] == "delete") && before == "operator") return true;
  if (words.back() == "thread" && after == "::") return true;                 // thread::id
  if (words.back() == "(" && (before == "." || before == "->")) return true;  // a member's name
  return false;
}

}  // namespace

Findings check_banned_names(const File& file) {
  Findings findings;
  if (!is_cpp(file.path)) return findings;
  std::vector<Token> tokens = tokens_of(file.text);
  for (const Ban& ban : bans()) {
    if (is_exception(ban, file.path)) continue;
    std::vector<std::string> words = words_of(ban.tokens);
    std::string name;
    for (const std::string& word : words) name += word;
    for (std::size_t at = 0; at < tokens.size(); ++at) {
      if (tokens[at].text != words[0] || !stands_at(words, tokens, at)) continue;
      if (is_harmless(words, tokens, at)) continue;
      findings.push_back(
          {file.path, tokens[at].line, "not " + name + ": " + std::string(ban.instead)});
    }
  }
  return findings;
}

}  // namespace belay::tidy
