#pragma once
// cli/arguments.h - the parsed command line: one struct per command, of which only the syntax is
// checked.

#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "belay/runtime.h"
#include "belay/value.h"
#include "cli/program.h"
#include "server/api.h"

namespace belay::cli {

// Options that every command takes. Unset ones fall back to the environment: see settings.h.
struct GlobalFlags {
  std::optional<std::string> config;
  std::optional<std::string> store;
  std::optional<std::string> user;
  std::optional<std::string> model;
  std::optional<std::string> model_url;
  std::optional<std::string> key_file;
  std::optional<std::string> server;
  std::optional<std::string> api_key_file;
  std::optional<std::string> redis;
  bool json = false;
  bool quiet = false;
};

struct Overview {};

struct RunAgent {
  std::string graph;               // empty: the only graph
  std::vector<std::string> input;  // name=value, @file, -
  const RunForm* form = nullptr;   // set: start with this form, and `given`
  ParsedOptions given;
  std::optional<std::string> thread;
  std::string key;                 // empty: none
  std::string if_busy = "reject";  // name of a BusyThread
  std::optional<std::string> max_retries;
  std::optional<std::string> timeout_ms;
  std::optional<std::string> expires;
  std::optional<std::string> max_tokens;
  std::optional<std::string> max_cost;
  bool no_approval = false;
  bool queued = false;  // `enqueue`: a worker executes it
  std::string queue = std::string(default_queue);
  std::int64_t priority = 0;
  std::string concurrency_key;
  std::optional<std::string> after;  // only for `enqueue`
  // Values parsed from the texts above and the environment; set by validate_command().
  std::shared_ptr<const GraphDefinition> definition;
  Value state;
  RunSettings options;
  std::chrono::milliseconds delay{};
};

struct Work {
  std::size_t runs_max = WorkerOptions{}.runs_max;
  std::vector<std::string> queues = {};  // empty: all
  // Override the limits of the settings; 0: unlimited.
  std::optional<std::uint64_t> per_user = std::nullopt, per_key = std::nullopt,
                               per_queue = std::nullopt;
  std::optional<std::string> name = std::nullopt;  // overrides the settings
  bool until_idle = false;
  std::string retention_text = "30d";
  std::optional<std::chrono::hours> retention = std::nullopt;  // parsed; unset: keep forever
  std::string drain_text = "30s";
  std::chrono::milliseconds drain_timeout{30'000};  // parsed drain_text; 0: abandon running nodes
};
struct Serve {
  std::string listen_text = "127.0.0.1:8123";
  Work work = {};                       // the runs it executes while it serves
  std::optional<std::string> api_keys;  // name of a file
  std::optional<std::string> certificate, certificate_key;
  // Override the limits of the settings; 0: unlimited.
  std::optional<std::uint64_t> starts_per_minute = std::nullopt, starts_at_work = std::nullopt;
  std::vector<std::string> trusted_proxies = {};
  std::optional<std::string> no_approval_takes;
  // Parsed from listen_text and api_keys; set by validate_command().
  std::string address = {};
  int port = 0;
  std::vector<server::ApiKey> keys = {};
  std::optional<server::Permission> skips_approval = server::Permission::decide;  // unset: no key
                                                                                  // may
};
// `belay dev`, a server for development: see dev.h.
struct Dev {
  std::optional<std::string> program;  // a file; unset: this program
  std::string listen = "127.0.0.1:8123";
};
struct DescribeApi {
  bool as_markdown = false;
};
struct Fork {
  std::string thread;
  std::optional<std::string> run;  // here and below: an id or its first characters
  std::optional<std::string> at;
  std::vector<std::string> edits;  // name=value, @file, -
  std::optional<std::string> new_thread;
  std::vector<std::string> roles;  // override those of the settings
  bool preview = false;
  bool copy = false;
  std::optional<std::uint64_t> seq;  // parsed `at`; set by validate_command()
};

struct ApprovalsList {
  bool all = false;
};
struct ApprovalsShow {
  std::string id;
};
struct ApprovalsDecide {
  bool approved = false;
  std::string id;
  std::optional<std::string> by;
  std::vector<std::string> roles;  // override those of the settings
  std::string comment;
  std::optional<std::string> edit_file;  // "-" for standard input
  std::optional<Value> edited;           // parsed contents; set by validate_command()
};

struct Resume {
  std::string thread;
  bool all = false;
};
struct Cancel {
  std::string thread;
  std::optional<std::string> run;
  std::optional<std::string> by;
};
struct Threads {
  std::size_t limit = 20;
};
struct ShowThread {
  std::string thread;
  std::size_t limit = 20;
  std::optional<std::string> before;  // last run of the previous page
};
struct EditThread {
  std::string thread;
  std::optional<std::string> title, metadata, expires;
  // Parsed from the texts above; set by validate_command().
  ThreadSettings settings;
  std::optional<std::chrono::hours> expires_after;
};
struct History {
  std::string thread;
  std::optional<std::string> run;
  std::size_t limit = 100;
};
struct ExportRun {
  std::string thread;
  std::optional<std::string> run;
  std::optional<std::string> to;  // a file; unset: standard output
};
struct ImportRun {
  std::string file;  // "-": standard input
  bool allow_unfinished = false;
};
struct Calls {
  std::string thread;
  std::optional<std::string> run;
  std::size_t limit = 100;
};
struct StateOf {
  std::string thread;
  std::optional<std::string> run;
  std::optional<std::string> at;
  std::optional<std::uint64_t> seq;  // parsed `at`; set by validate_command()
};
struct ShowEvents {
  std::optional<std::string> run;
  std::optional<std::string> after;
  std::vector<std::string> kinds;
  EventOptions options;  // the thread and the parsed texts above; set by validate_command()
};
struct Replay {
  std::string thread;
  std::optional<std::string> run;
};
struct Preserve {
  std::string thread;
  bool preserve = true;
};
struct OutboxList {
  std::optional<std::string> thread;
  bool all = false;  // also delivered messages
  std::size_t limit = 100;
};
struct OutboxMove {
  std::string id;
  bool discard = false;  // false: retry it now
};
struct Queue {
  enum class What { list, pause, resume, drain, limit, retry, quarantined };
  What what = What::list;
  std::string name;  // for `retry`: the thread
  std::optional<std::uint64_t> runs_max, per_key_max;
  std::optional<std::string> new_thread;
};
struct Workers {};
struct StoreStats {};
struct StoreCompact {};
struct StorePrune {
  std::optional<std::string> older_than;
  bool dry_run = false;
  std::chrono::hours keep{};  // parsed older_than; set by validate_command()
};
struct AgentsList {};
struct AgentsShow {
  std::string name;
};
struct AgentsGraph {
  enum class Format { mermaid, dot, text };
  std::string name;
  std::string format_name = "text";
  Format format = Format::text;  // parsed format_name
};
struct ConfigExplain {};
struct ConfigPath {};
struct ConfigTrust {
  bool trust = true;  // false: distrust
};
struct Models {
  enum class What { list, check, try_one };
  What what = What::list;
};
struct Check {};
struct Doctor {};
struct Completions {
  std::string shell;
};
struct Manual {};
// The hidden command `__complete`: see completions.h.
struct CompleteNames {
  enum class Kind { threads, approvals, agents };
  Kind kind = Kind::threads;
  std::string begun;
};
// Re-encrypts the whole store under the active key.
struct StoreEncrypt {
  bool accept_plaintext = false;  // "encrypt": also plaintext; "rotate": refuses plaintext
};

using Command =
    std::variant<Overview, std::shared_ptr<CustomCommand>, RunAgent, Work, Serve, Dev, DescribeApi,
                 Fork, ApprovalsList, ApprovalsShow, ApprovalsDecide, Resume, Cancel, Threads,
                 ShowThread, EditThread, History, Calls, ExportRun, ImportRun, StateOf, ShowEvents,
                 Replay, Preserve, OutboxList, OutboxMove, Queue, Workers, AgentsList, AgentsShow,
                 AgentsGraph, ConfigExplain, ConfigPath, ConfigTrust, StoreStats, StoreCompact,
                 StorePrune, Models, Check, Doctor, Completions, Manual, CompleteNames,
                 StoreEncrypt>;

struct Arguments {
  GlobalFlags flags;
  Command verb;
};

// The result of parsing: a command, or a text to print (help, the version).
using Parsed = std::variant<Arguments, std::string>;

// Fails with `invalid`, with a message of one line, if the words cannot be parsed.
Result<Parsed> parse_arguments(const Program& program, int count, const char* const* words);

// Example: "0.1.0".
std::string_view belay_version();

}  // namespace belay::cli
