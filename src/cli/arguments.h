#pragma once
// cli/arguments.h - what the person typed, as data: one struct a verb, checked for form only.

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

// Flags that every verb takes. What is not given falls back to the environment: see settings.h.
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
  std::string graph;               // empty: the only one
  std::vector<std::string> input;  // name=value, @file, -
  const RunForm* form = nullptr;   // run in this form, with what was given to it
  ParsedOptions given;
  std::optional<std::string> thread;
  std::optional<std::string> max_retries;
  std::optional<std::string> timeout_ms;
  std::optional<std::string> expires;
  std::optional<std::string> max_tokens;
  std::optional<std::string> max_cost;
  bool no_approval = false;
  bool queued = false;  // enqueue: into the queue, for a worker
  std::string queue = std::string(default_queue);
  std::int64_t priority = 0;
  std::string concurrency_key;
  std::optional<std::string> after;  // of enqueue
  // What the texts above, and the environment, come to; by check_form().
  std::shared_ptr<const GraphDefinition> definition;
  Value state;
  RunSettings options;
  std::chrono::milliseconds delay{};
};

struct Work {
  std::size_t runs = WorkerOptions{}.runs_max;
  std::vector<std::string> queues = {};  // empty: all
  // In place of the settings' limits; 0: any number.
  std::optional<std::uint64_t> per_user = std::nullopt, per_key = std::nullopt,
                               per_queue = std::nullopt;
  std::optional<std::string> name = std::nullopt;  // in place of the settings'
  bool until_idle = false;
  std::string keep_text = "30d";
  std::optional<std::chrono::hours> keep = std::nullopt;  // the same; unset: for ever
  std::string drain_text = "30s";
  std::chrono::milliseconds drain_timeout{30'000};  // the same; 0: running nodes are abandoned
};
struct Serve {
  std::string listen_text = "127.0.0.1:8123";
  Work work = {};                       // what it works on beside
  std::optional<std::string> api_keys;  // a file
  std::optional<std::string> certificate, certificate_key;
  // Override the limits of the settings; 0: unlimited.
  std::optional<std::uint64_t> starts_per_minute = std::nullopt, starts_at_work = std::nullopt;
  std::vector<std::string> trusted_proxies = {};
  std::optional<std::string> no_approval_takes;
  // What listen_text and api_keys come to; by check_form().
  std::string address = {};
  int port = 0;
  std::vector<server::ApiKey> keys = {};
  std::optional<server::Permission> skips_approval = server::Permission::decide;  // unset: no key
};
// A server for work on an agent: see dev.h.
struct Dev {
  std::optional<std::string> program;  // a file; else this very program
  std::string listen = "127.0.0.1:8123";
};
struct DescribeApi {
  bool as_markdown = false;
};
struct Fork {
  std::string thread;
  std::optional<std::string> at;
  std::vector<std::string> edits;  // name=value, @file, -
  std::optional<std::string> as;   // the new thread
  std::vector<std::string> roles;  // override those of the settings
  bool preview = false;
  bool copy = false;
  std::optional<std::uint64_t> seq;  // what `at` comes to; filled in by check_form()
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
  std::optional<Value> edited;           // what is in it; filled in by check_form()
};

struct Resume {
  std::string thread;
  bool all = false;
};
struct Cancel {
  std::string thread;
  std::optional<std::string> by;
};
struct Threads {
  std::size_t limit = 20;
};
struct History {
  std::string thread;
  std::size_t limit = 100;
};
struct ExportRun {
  std::string thread;
  std::optional<std::string> to;  // a file; else standard output
};
struct ImportRun {
  std::string file;  // "-": standard input
  bool may_go_on = false;
};
struct Calls {
  std::string thread;
  std::size_t limit = 100;
};
struct StateOf {
  std::string thread;
  std::optional<std::string> at;
  std::optional<std::uint64_t> seq;  // the same as a number; filled in by check_form()
};
struct Tail {
  std::optional<std::string> after;
  std::vector<std::string> kinds;
  EventOptions options;  // the thread, and what the texts above come to; by check_form()
};
struct Replay {
  std::string thread;
};
struct Preserve {
  std::string thread;
  bool preserve = true;
};
struct OutboxList {
  std::optional<std::string> thread;
  bool all = false;  // delivered ones too
  std::size_t limit = 100;
};
struct OutboxMove {
  std::string id;
  bool give_up = false;  // or have it tried now
};
struct Queue {
  enum class What { list, pause, resume, drain, limit, retry, quarantine };
  What what = What::list;
  std::string name;  // of retry: the thread
  std::optional<std::uint64_t> runs_max, per_key_max;
  std::optional<std::string> as;  // the new thread
};
struct Workers {};
struct StoreStats {};
struct StoreCompact {};
struct StorePrune {
  std::optional<std::string> older_than;
  bool dry_run = false;
  std::chrono::hours keep{};  // what older_than comes to; filled in by check_form()
};
struct AgentsList {};
struct AgentsShow {
  std::string name;
};
struct AgentsGraph {
  enum class Format { mermaid, dot, text };
  std::string name;
  std::string format_name = "text";
  Format format = Format::text;  // the same, read
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
// Of the hidden `__complete`: see completions.h.
struct CompleteNames {
  enum class Kind { threads, approvals, agents };
  Kind kind = Kind::threads;
  std::string begun;
};
// Brings the whole store under the active key.
struct StoreEncrypt {
  bool accept_plaintext = false;  // "encrypt": what is in plain too; "rotate": that is refused
};

using Command =
    std::variant<Overview, std::shared_ptr<CustomCommand>, RunAgent, Work, Serve, Dev, DescribeApi,
                 Fork, ApprovalsList, ApprovalsShow, ApprovalsDecide, Resume, Cancel, Threads,
                 History, Calls, ExportRun, ImportRun, StateOf, Tail, Replay, Preserve, OutboxList,
                 OutboxMove, Queue, Workers, AgentsList, AgentsShow, AgentsGraph, ConfigExplain,
                 ConfigPath, ConfigTrust, StoreStats, StoreCompact, StorePrune, Models, Check,
                 Doctor, Completions, Manual, CompleteNames, StoreEncrypt>;

struct Arguments {
  GlobalFlags flags;
  Command verb;
};

// What parsing comes to: something to do, or a text to show (help, the version).
using Parsed = std::variant<Arguments, std::string>;

// `invalid` for what can't be understood, in one line.
Result<Parsed> parse_arguments(const Program& program, int count, const char* const* words);

// "0.1.0"
std::string_view belay_version();

}  // namespace belay::cli
