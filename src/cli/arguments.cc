// Long on purpose: the words and options of all commands, in one place.
//
// Only this file, queue_commands.cc and former_names.cc use CLI11; its exceptions do not leave this
// file.

#include "cli/arguments.h"

#include <CLI/CLI.hpp>
#include <string_view>

#include "cli/command_table.h"
#include "cli/former_names.h"
#include "cli/help_text.h"
#include "cli/localized_text.h"
#include "cli/output.h"
#include "cli/queue_commands.h"
#include "cli/run_file_commands.h"
#include "cli/thread_commands.h"

namespace belay::cli {
namespace {

constexpr std::size_t kListMax = 1'000;
constexpr std::size_t kWorkedMax = 1'000;

// The targets of CLI11's options: one struct of each command, and the chosen command.
struct Words {
  const Program& program;
  GlobalFlags flags = {};
  RunAgent run = {};
  Work work = {};
  Serve serve = {};
  Dev dev = {};
  DescribeApi api = {};
  Fork fork = {};
  ApprovalsList approvals_list = {};
  ApprovalsShow approvals_show = {};
  ApprovalsDecide decide = {};
  Resume resume = {};
  Cancel cancel = {};
  ThreadWords threads = {};
  History history = {};
  Calls calls = {};
  ExportRun export_run = {};
  ImportRun import_run = {};
  StateOf state = {};
  ShowEvents events = {};
  Replay replay = {};
  OutboxList outbox_list = {};
  OutboxMove outbox_move = {};
  Queue queue = {};
  StorePrune store_prune = {};
  AgentsShow agents_show = {};
  AgentsGraph agents_graph = {};
  Completions completions = {};
  // Options of a command or a form that the program adds.
  std::map<std::string, std::string> own = {};
  Command chosen = {};
};

// `end` may contain {p}: the program's name.
CLI::App* add_verb(CLI::App& parent, const Words& words, const std::string& name,
                   const std::string& line, std::string_view end) {
  CLI::App* verb = parent.add_subcommand(name, line);
  verb->fallthrough();
  verb->footer(format_message(end, {{"p", words.program.call}}));
  return verb;
}

void add_words(CLI::App* verb, const std::vector<OptionSpec>& wanted, Words& words) {
  for (const OptionSpec& word : wanted) {
    CLI::Option* option = verb->add_option_function<std::string>(
        word.name, [&words, name = word.name](const std::string& text) { words.own[name] = text; },
        word.help);
    if (word.required) option->required();
  }
}

void add_limit(CLI::App* verb, std::size_t& limit) {
  verb->add_option("--limit", limit, "Maximum number of rows, newest first")
      ->check(CLI::Range(std::size_t{1}, kListMax))
      ->capture_default_str();
}

void add_run_name(CLI::App* verb, std::optional<std::string>& run) {
  verb->add_option("--run", run, "Run of the thread, by its id or the beginning of it");
}

// Adds the program's own commands. A group must precede its commands in the table.
void add_own_verbs(CLI::App& app, Words& words) {
  for (const CommandEntry& entry : words.program.verbs) {
    CLI::App* parent = &app;
    for (std::size_t i = 0; i + 1 < entry.path.size(); ++i) {
      parent = parent->get_subcommand(entry.path[i]);
    }
    CLI::App* verb = add_verb(*parent, words, entry.path.back(), entry.line, entry.end);
    add_words(verb, entry.words, words);
    if (entry.make) {
      verb->callback([&words, &entry] { words.chosen = entry.make(words.own); });
    } else {
      verb->require_subcommand(1);
    }
  }
}

void add_run_options(CLI::App* run, RunAgent& into) {
  run->add_option("--thread", into.thread, "Thread of the run (default: a new random one)");
  run->add_option("--key", into.key,
                  "Idempotency key: a repeated start with the same key finds its run");
  run->add_option("--if-busy", into.if_busy,
                  "If a run of the thread has not ended: reject, enqueue, interrupt or rollback")
      ->check(CLI::IsMember({"reject", "enqueue", "interrupt", "rollback"}))
      ->capture_default_str();
  run->add_option("--max-retries", into.max_retries,
                  "Maximum attempts of a node that can be retried");
  run->add_option("--timeout", into.timeout_ms, "Maximum working time of the run, in milliseconds");
  run->add_option("--expires", into.expires,
                  "Time until an approval expires: 90s, 30m, 2h, 1d (24h)");
  run->add_option("--max-tokens", into.max_tokens, "Budget: maximum tokens of model calls");
  run->add_option("--max-cost", into.max_cost,
                  "Budget: maximum cost, in the unit of the model's prices: 1.50");
  run->add_flag("--no-approval", into.no_approval, "Do not request approvals");
  add_place_in_queue(run, into);
}

// `run` and `enqueue` take the same words; only `enqueue` can delay the start.
void add_begin(CLI::App& app, const char* name, const char* line, std::string_view end, bool queued,
               Words& words) {
  auto take_options = [&words, queued](CLI::App* verb) {
    add_run_options(verb, words.run);
    if (!queued) return;
    verb->add_option("--after", words.run.after, "Delay before the start: 90s, 30m, 2h, 1d");
  };
  CLI::App* run = add_verb(app, words, name, line, end);
  run->add_option("AGENT", words.run.graph, "Agent name, as in `agents list`");
  run->add_option("--input", words.run.input, "Input: name=value, @file.json, or -; repeatable")
      ->allow_extra_args(false);
  take_options(run);
  for (const RunForm& form : words.program.forms) {
    CLI::App* verb = add_verb(*run, words, form.name, form.line, end);
    add_words(verb, form.words, words);
    take_options(verb);
    verb->callback([&words, &form] { words.run.form = &form; });
  }
  run->callback([&words, queued] {
    words.run.given = words.own;
    words.run.queued = queued;
    words.chosen = words.run;
  });
}

void add_run(CLI::App& app, Words& words) {
  const std::string& own_end = words.program.run_end;
  std::string_view end = own_end.empty() ? help::kRun : std::string_view(own_end);
  add_begin(app, "run", "Run an agent", end, false, words);
  add_begin(app, "enqueue", "Enqueue a run for a worker", help::kEnqueue, true, words);
}

void add_serve(CLI::App& app, Words& words) {
  Serve& serve = words.serve;
  CLI::App* verb =
      add_verb(app, words, "serve", "Serve the HTTP API and execute runs", help::kServe);
  verb->add_option("--listen", serve.listen_text, "ADDRESS:PORT; port 0 selects a free one")
      ->capture_default_str();
  CLI::Option* max_runs =
      verb->add_option("--max-runs", serve.work.runs_max, "Maximum concurrent runs of the queues")
          ->check(CLI::Range(1, 10'000))
          ->capture_default_str();
  add_former_name(verb, max_runs, "--runs");
  add_name_of_worker(verb, serve.work);
  add_drain_timeout(verb, serve.work);
  add_retention(verb, serve.work);
  verb->add_option("--api-keys", serve.api_keys, "File of API keys and their permissions");
  verb->add_option("--tls-certificate", serve.certificate,
                   "PEM file of the TLS certificate, with its chain");
  verb->add_option("--tls-key", serve.certificate_key, "PEM file of the private key");
  verb->add_option("--per-user", serve.work.per_user,
                   "Maximum concurrent runs of a user; 0: unlimited [5 with --api-keys, else 0]");
  verb->add_option(
      "--starts-per-minute", serve.starts_per_minute,
      "Maximum starts per minute of a user or address; 0: unlimited [10 with --api-keys, else 0]");
  verb->add_option(
      "--starts-at-work", serve.starts_at_work,
      "Maximum concurrent runs started by requests, of all users; 0: unlimited [1000]");
  verb->add_option("--trusted-proxy", serve.trusted_proxies,
                   "Address whose X-Forwarded-For is trusted; repeatable")
      ->allow_extra_args(false);
  verb->add_option("--no-approval-takes", serve.no_approval_takes,
                   "Permission to start runs without approval: run, decide, administer or never "
                   "(default: decide)");
  verb->callback([&words] { words.chosen = words.serve; });
}

void add_dev(CLI::App& app, Words& words) {
  CLI::App* verb = add_verb(app, words, "dev", "Serve, and restart after each build", help::kDev);
  verb->add_option("PROGRAM", words.dev.program, "Your program (default: this one)");
  verb->add_option("--listen", words.dev.listen, "ADDRESS:PORT; port 0 selects a free one")
      ->capture_default_str();
  verb->callback([&words] { words.chosen = words.dev; });
}

void add_api(CLI::App& app, Words& words) {
  CLI::App* verb = add_verb(app, words, "api", "Describe the HTTP API (OpenAPI 3.1)", help::kApi);
  verb->add_flag("--markdown", words.api.as_markdown, "As Markdown");
  verb->callback([&words] { words.chosen = words.api; });
}

void add_worker(CLI::App& app, Words& words) {
  CLI::App* worker =
      add_verb(app, words, "worker", "Execute queued and orphaned runs", help::kWorker);
  CLI::Option* max_runs =
      worker->add_option("--max-runs", words.work.runs_max, "Maximum concurrent runs")
          ->check(CLI::Range(std::size_t{1}, kWorkedMax))
          ->capture_default_str();
  add_former_name(worker, max_runs, "--runs");
  add_retention(worker, words.work);
  add_queues_of_worker(worker, words.work);
  add_name_of_worker(worker, words.work);
  add_drain_timeout(worker, words.work);
  worker->add_flag("--until-idle", words.work.until_idle,
                   "Exit when no run is claimable or in progress");
  worker->callback([&words] { words.chosen = words.work; });
}

void add_roles(CLI::App* verb, std::vector<std::string>& roles) {
  verb->add_option("--role", roles, "Role that you hold; repeatable")->allow_extra_args(false);
}

void add_fork(CLI::App& app, Words& words) {
  CLI::App* fork =
      add_verb(app, words, "fork", "Start a new thread from a commit of another", help::kFork);
  Fork& into = words.fork;
  fork->add_option("THREAD", into.thread, "The thread to fork")->required();
  add_run_name(fork, into.run);
  fork->add_option("--at", into.at,
                   "Commit to start from, by its number in history (default: newest)");
  fork->add_option("--edit", into.edits,
                   "Changed channels: name=value, @file.json, or -; repeatable")
      ->allow_extra_args(false);
  CLI::Option* thread =
      fork->add_option("--thread", into.new_thread, "New thread (default: a random one)");
  add_former_name(fork, thread, "--as");
  add_roles(fork, into.roles);
  fork->add_flag("--preview", into.preview, "Report what would be repeated, start nothing");
  fork->add_flag("--copy", words.fork.copy, "Copy the current state: an ended run remains ended");
  fork->callback([&words] { words.chosen = words.fork; });
}

void add_decision(CLI::App& approvals, const char* name, const char* line, bool approved,
                  Words& words) {
  CLI::App* verb = add_verb(approvals, words, name, line, help::kDecide);
  ApprovalsDecide& into = words.decide;
  verb->add_option("ID", into.id, "The approval, or its thread")->required();
  verb->add_option("--by", into.by, "Decider (default: login name)");
  add_roles(verb, into.roles);
  verb->add_option("--comment", into.comment, "Comment that is stored with the decision");
  if (approved) {
    verb->add_option("--edit", into.edit_file,
                     "JSON file with the edited payload; - for standard input");
  }
  verb->callback([&words, approved] {
    words.decide.approved = approved;
    words.chosen = words.decide;
  });
}

void add_approvals(CLI::App& app, Words& words) {
  CLI::App* approvals =
      add_verb(app, words, "approvals", "List, show and decide approvals", help::kApprovals);
  approvals->require_subcommand(1);

  CLI::App* list = add_verb(*approvals, words, "list", "List pending approvals", help::kApprovals);
  list->add_flag("--all", words.approvals_list.all,
                 "Include decided, expired and closed approvals");
  list->callback([&words] { words.chosen = words.approvals_list; });

  CLI::App* show =
      add_verb(*approvals, words, "show", "Show one approval in full", help::kApprovals);
  show->add_option("ID", words.approvals_show.id, "The approval, or its thread")->required();
  show->callback([&words] { words.chosen = words.approvals_show; });

  add_decision(*approvals, "approve", "Approve and resume the run", true, words);
  add_decision(*approvals, "reject", "Reject and end the run without saving", false, words);
}

void add_runs_verbs(CLI::App& app, Words& words) {
  CLI::App* resume = add_verb(app, words, "resume", "Resume orphaned runs", help::kResume);
  CLI::Option* thread = resume->add_option("THREAD", words.resume.thread, "The thread");
  CLI::Option* all = resume->add_flag("--all", words.resume.all, "All orphaned runs");
  all->excludes(thread);
  resume->callback([&words] { words.chosen = words.resume; });

  CLI::App* cancel = add_verb(app, words, "cancel", "Cancel a thread's run", help::kCancel);
  cancel->add_option("THREAD", words.cancel.thread, "The thread")->required();
  add_run_name(cancel, words.cancel.run);
  cancel->add_option("--by", words.cancel.by, "Canceller (default: login name)");
  cancel->callback([&words] { words.chosen = words.cancel; });

  // The explicit form of a call without a command.
  add_verb(app, words, "status", "Show runs in progress and pending approvals", help::kStatus)
      ->callback([&words] { words.chosen = Overview{}; });

  AddVerb add = [&words](CLI::App& parent, const char* name, const char* line,
                         std::string_view end) { return add_verb(parent, words, name, line, end); };
  add_thread_commands(app, add, words.threads, words.chosen);

  CLI::App* history =
      add_verb(app, words, "history", "List the commits of a thread's runs", help::kHistory);
  history->add_option("THREAD", words.history.thread, "The thread")->required();
  history->add_option("--run", words.history.run,
                      "Only commits of this run: its id, or the first characters of it");
  add_limit(history, words.history.limit);
  history->callback([&words] { words.chosen = words.history; });
  CLI::App* calls = add_verb(app, words, "calls",
                             "Show the model calls, costs and effects of a run", help::kCalls);
  calls->add_option("THREAD", words.calls.thread, "The thread")->required();
  add_run_name(calls, words.calls.run);
  add_limit(calls, words.calls.limit);
  calls->callback([&words] { words.chosen = words.calls; });

  CLI::App* state =
      add_verb(app, words, "state", "Show a run now, or after one of its commits", help::kState);
  state->add_option("THREAD", words.state.thread, "The thread")->required();
  add_run_name(state, words.state.run);
  state->add_option("--at", words.state.at, "After this commit, by its number in history");
  state->callback([&words] { words.chosen = words.state; });
  add_fork(app, words);
  add_run_file_commands(app, add, words.export_run, words.import_run, words.chosen);
}

void add_event_verbs(CLI::App& app, Words& words) {
  CLI::App* events = add_verb(app, words, "events", "Show a run's events", help::kEvents);
  add_former_name(events, "tail");
  events->add_option("THREAD", words.events.options.thread.text, "The thread")->required();
  add_run_name(events, words.events.run);
  events->add_option("--after", words.events.after, "Only events after this event id");
  events
      ->add_option("--kinds", words.events.kinds,
                   "Only these kinds, comma-separated: status,values,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  events->add_flag("--follow", words.events.options.follow, "Follow the run until it has ended");
  events->callback([&words] { words.chosen = words.events; });

  CLI::App* replay =
      add_verb(app, words, "replay", "Replay a run from its journal and compare", help::kReplay);
  replay->add_option("THREAD", words.replay.thread, "The thread")->required();
  add_run_name(replay, words.replay.run);
  replay->callback([&words] { words.chosen = words.replay; });
}

void add_outbox(CLI::App& app, Words& words) {
  CLI::App* outbox =
      add_verb(app, words, "outbox", "List, retry and discard messages of runs", help::kOutbox);
  outbox->require_subcommand(1);
  OutboxList& wanted = words.outbox_list;
  CLI::App* list =
      add_verb(*outbox, words, "list", "List undelivered messages, oldest first", help::kOutbox);
  list->add_option("--thread", wanted.thread, "Only messages of this thread's run");
  list->add_flag("--all", wanted.all, "Include delivered messages");
  add_limit(list, wanted.limit);
  list->callback([&words] { words.chosen = words.outbox_list; });
  auto add_move = [&](const char* name, const char* line, bool discard) {
    CLI::App* verb = add_verb(*outbox, words, name, line, help::kOutbox);
    verb->add_option("ID", words.outbox_move.id, "Message id, as in `outbox list`")->required();
    verb->callback([&words, discard] {
      words.outbox_move.discard = discard;
      words.chosen = words.outbox_move;
    });
    return verb;
  };
  add_move("retry", "Deliver a waiting or discarded message now", false);
  add_former_name(add_move("discard", "Discard a message", true), "give-up");
}

void add_agents(CLI::App& app, Words& words) {
  CLI::App* agents =
      add_verb(app, words, "agents", "List, show and draw the agents", help::kAgents);
  agents->require_subcommand(1);

  CLI::App* list = add_verb(*agents, words, "list", "List the agents", help::kAgents);
  list->callback([&words] { words.chosen = AgentsList{}; });

  CLI::App* show =
      add_verb(*agents, words, "show", "Show an agent's state and nodes", help::kAgents);
  show->add_option("NAME", words.agents_show.name, "The agent")->required();
  show->callback([&words] { words.chosen = words.agents_show; });

  using Format = AgentsGraph::Format;
  AgentsGraph& drawn = words.agents_graph;
  CLI::App* graph = add_verb(*agents, words, "graph", "Draw an agent's graph", help::kAgents);
  graph->add_option("NAME", drawn.name, "The agent")->required();
  graph->add_option("--format", drawn.format_name, "mermaid, dot (Graphviz) or text")
      ->check(CLI::IsMember({"mermaid", "dot", "text"}))
      ->capture_default_str();
  graph->callback([&words, &drawn] {
    if (drawn.format_name == "mermaid") drawn.format = Format::mermaid;
    if (drawn.format_name == "dot") drawn.format = Format::dot;
    words.chosen = drawn;
  });
}

void add_config_verbs(CLI::App& app, Words& words) {
  CLI::App* config = add_verb(app, words, "config", "Show the settings", help::kConfig);
  config->require_subcommand(1);
  add_verb(*config, words, "explain", "Show each setting and its source", help::kConfig)
      ->callback([&words] { words.chosen = ConfigExplain{}; });
  add_verb(*config, words, "trust", "Trust ./NAME.yaml with its current contents", help::kConfig)
      ->callback([&words] { words.chosen = ConfigTrust{true}; });
  add_verb(*config, words, "distrust", "Revoke the trust in ./NAME.yaml", help::kConfig)
      ->callback([&words] { words.chosen = ConfigTrust{false}; });
  add_verb(*config, words, "path", "Show the path of the settings file", help::kConfig)
      ->callback([&words] { words.chosen = ConfigPath{}; });
}

void add_model_verbs(CLI::App& app, Words& words) {
  if (words.program.brings_model) return;
  CLI::App* models = add_verb(app, words, "models", "List, check and try models", help::kModels);
  models->require_subcommand(1);
  auto add = [&](const char* name, const char* line, Models::What what) {
    add_verb(*models, words, name, line, help::kModels)->callback([&words, what] {
      words.chosen = Models{what};
    });
  };
  add("list", "List the models of the servers", Models::What::list);
  add("check", "Check that the configured models are available", Models::What::check);
  add("try", "Send one short request to the model", Models::What::try_one);
}

void add_encryption_commands(CLI::App& store, Words& words) {
  add_verb(store, words, "encrypt", "Encrypt plaintext values", help::kStoreEncrypt)
      ->callback([&words] { words.chosen = StoreEncrypt{true}; });
  add_verb(store, words, "rotate", "Re-encrypt everything with the first key", help::kStoreRotate)
      ->callback([&words] { words.chosen = StoreEncrypt{false}; });
}

void add_store_verbs(CLI::App& app, Words& words) {
  CLI::App* store =
      add_verb(app, words, "store", "Measure, compact, prune and encrypt the store", help::kStore);
  store->require_subcommand(1);
  add_verb(*store, words, "stats", "Show rows and bytes per table", help::kStore)
      ->callback([&words] { words.chosen = StoreStats{}; });
  add_verb(*store, words, "compact", "Return unused space to the file system", help::kStore)
      ->callback([&words] { words.chosen = StoreCompact{}; });
  CLI::App* prune =
      add_verb(*store, words, "prune", "Delete threads that ended long ago", help::kStorePrune);
  prune->add_option("--older-than", words.store_prune.older_than,
                    "Minimum time since their last commit: 12h, 30d (30d)");
  prune->add_flag("--dry-run", words.store_prune.dry_run, "Report only, delete nothing");
  prune->callback([&words] { words.chosen = words.store_prune; });
  add_encryption_commands(*store, words);
  add_verb(app, words, "check", "Check the rules of the store", help::kCheck)->callback([&words] {
    words.chosen = Check{};
  });
  add_verb(app, words, "doctor", "Diagnose the store and recommend actions", help::kDoctor)
      ->callback([&words] { words.chosen = Doctor{}; });
}

void add_flags(CLI::App& app, const Program& program, GlobalFlags& flags) {
  app.add_option("--config", flags.config, "The settings file");
  app.add_option("--store", flags.store, "The store: sqlite:PATH, memory: or a PostgreSQL URL");
  app.add_option("--server", flags.server, "A Belay server instead of a store: http://HOST:PORT");
  app.add_option("--api-key-file", flags.api_key_file, "File with the API key for the server");
  app.add_option("--user", flags.user, "User of records and runs");
  if (!program.brings_model) {
    app.add_option("--model", flags.model, "The model: PROVIDER:NAME, or a comma-separated list");
    app.add_option("--model-url", flags.model_url, "Its server: http[s]://HOST[:PORT][/PATH]");
  }
  app.add_option("--key-file", flags.key_file, "File with the encryption keys of the store");
  app.add_option("--redis", flags.redis,
                 "The optional fast tier: redis://HOST:PORT/DB, or rediss:// with TLS");
  app.add_flag("--json", flags.json, "The result as one JSON document");
  app.add_flag("--quiet", flags.quiet, "Print only the result");
}

// The message of CLI11, joined to one line, and the command whose help explains it.
Error fault_in(const Program& program, const CLI::App& app, const CLI::ParseError& fault) {
  std::string verb = program.call;
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    verb += " " + at->get_name();
  }
  std::string what = one_line(fault.what());
  while (!what.empty() && (what.back() == ' ' || what.back() == '.')) what.pop_back();
  return error(ErrorCode::invalid, what + ". See " + verb + " --help.");
}

void add_shell_verbs(CLI::App& app, Words& words) {
  CLI::App* verb =
      add_verb(app, words, "completions", "Print completions for a shell", help::kCompletions);
  verb->add_option("SHELL", words.completions.shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  verb->callback([&words] { words.chosen = words.completions; });
  add_verb(app, words, "man", "Print the manual page", help::kManual)->callback([&words] {
    words.chosen = Manual{};
  });
}

std::string version_of(const Program& program) {
  std::string version = program.name == "belay" ? "" : program.name + ", ";
  return version + "belay " + BELAY_VERSION;
}

// Adds all commands and options. `read` must outlive the app.
void build(CLI::App& app, Words& read) {
  const Program& program = read.program;
  app.footer(format_message(help::kProgramEnd,
                            {{"p", program.call},
                             {"name", program.name},
                             {"examples", program.examples},
                             {"models", program.brings_model ? "" : help::kModelSettings},
                             {"settings", program.own_settings}}));
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", version_of(program));
  add_flags(app, program, read.flags);
  add_own_verbs(app, read);
  add_run(app, read);
  add_worker(app, read);
  add_serve(app, read);
  add_dev(app, read);
  add_api(app, read);
  add_approvals(app, read);
  add_runs_verbs(app, read);
  add_event_verbs(app, read);
  add_outbox(app, read);
  AddVerb add = [&read](CLI::App& parent, const char* name, const char* line,
                        std::string_view end) { return add_verb(parent, read, name, line, end); };
  add_queue_commands(app, add, read.queue, read.chosen);
  add_agents(app, read);
  add_store_verbs(app, read);
  add_config_verbs(app, read);
  add_model_verbs(app, read);
  add_shell_verbs(app, read);
}

std::string about_of(const Program& program) {
  return format_message(help::kProgram, {{"about", program.about}, {"p", program.call}});
}

void add_commands(const CLI::App& app, std::vector<std::string> path,
                  std::vector<CommandHelp>& table) {
  CommandHelp command;
  command.path = path;
  command.line = app.get_description();
  command.end = app.get_footer();
  command.former_names = app.get_aliases();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      command.arguments.push_back({option->get_name(), option->get_required()});
    } else if (!option->get_lnames().empty()) {
      bool takes_value = option->get_items_expected_max() > 0;
      command.options.push_back({"--" + option->get_lnames().front(), option->get_description(),
                                 takes_value, is_former_name(*option)});
    }
  }
  auto below = app.get_subcommands([](const CLI::App*) { return true; });
  command.has_verbs = !below.empty();
  table.push_back(std::move(command));
  for (const CLI::App* verb : below) {
    path.push_back(verb->get_name());
    add_commands(*verb, path, table);
    path.pop_back();
  }
}

}  // namespace

std::vector<CommandHelp> command_table(const Program& program) {
  Words read{program};
  CLI::App app{about_of(program), program.call};
  build(app, read);
  std::vector<CommandHelp> table;
  add_commands(app, {}, table);
  return table;
}

Result<Parsed> parse_arguments(const Program& program, int count, const char* const* words) {
  Words read{program};
  read.events.options.follow = false;
  CLI::App app{about_of(program), program.call};
  build(app, read);
  try {
    app.parse(count, words);
  } catch (const CLI::CallForHelp&) {
    remove_former_names(app);
    return Parsed(app.help());
  } catch (const CLI::CallForVersion&) {
    return Parsed(version_of(program) + "\n");
  } catch (const CLI::ParseError& fault) {
    return fault_in(program, app, fault);
  }
  return Parsed(Arguments{std::move(read.flags), std::move(read.chosen)});
}

std::string_view belay_version() { return BELAY_VERSION; }

}  // namespace belay::cli
