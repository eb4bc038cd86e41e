// The only file that knows CLI11, and the only place where its exceptions are met.

#include "cli/arguments.h"

#include <CLI/CLI.hpp>
#include <string_view>

#include "cli/help_text.h"
#include "cli/output.h"

namespace belay::cli {
namespace {

constexpr const char* kVersion = "belay 0.1.0";
constexpr std::size_t kListMax = 1'000;

// Where CLI11 puts what it reads: one of each verb, and which one it was.
struct Words {
  GlobalFlags flags;
  NotesImport notes_import;
  NotesList notes_list;
  NotesShow notes_show;
  RunAgent run;
  ApprovalsList approvals_list;
  ApprovalsShow approvals_show;
  ApprovalsDecide decide;
  Resume resume;
  Cancel cancel;
  Threads threads;
  History history;
  StateOf state;
  AgentsShow agents_show;
  AgentsGraph agents_graph;
  Verb chosen;
};

std::string text_of(std::string_view view) { return std::string(view); }

CLI::App* add_verb(CLI::App& parent, const char* name, const char* line, std::string_view end) {
  CLI::App* verb = parent.add_subcommand(name, line);
  verb->fallthrough();
  verb->footer(text_of(end));
  return verb;
}

void add_limit(CLI::App* verb, std::size_t& limit) {
  verb->add_option("--limit", limit, "At most so many, newest first")
      ->check(CLI::Range(std::size_t{1}, kListMax))
      ->capture_default_str();
}

void add_notes(CLI::App& app, Words& words) {
  CLI::App* notes = add_verb(app, "notes", "Import, list and show notes", help::kNotes);
  notes->require_subcommand(1);

  CLI::App* import = add_verb(*notes, "import", "Import notes from JSON lines", help::kNotesImport);
  import->add_option("FILE", words.notes_import.file, "The file; - for standard input")->required();
  import->callback([&words] { words.chosen = words.notes_import; });

  CLI::App* list = add_verb(*notes, "list", "List notes", help::kNotes);
  list->add_option("--date", words.notes_list.date, "Only this day, YYYY-MM-DD");
  list->add_option("--limit", words.notes_list.limit, "At most so many")
      ->check(CLI::Range(std::size_t{1}, kListMax))
      ->capture_default_str();
  list->callback([&words] { words.chosen = words.notes_list; });

  CLI::App* show = add_verb(*notes, "show", "Show one note", help::kNotes);
  show->add_option("ID", words.notes_show.id, "The note's id")->required();
  show->callback([&words] { words.chosen = words.notes_show; });
}

void add_agent(CLI::App& run, const char* name, const char* line, Words& words) {
  CLI::App* agent = add_verb(run, name, line, help::kRun);
  RunAgent& into = words.run;
  agent->add_option("--date", into.date, "The day, YYYY-MM-DD")->required();
  agent->add_option("--thread", into.thread, "The run's thread; else a new random one");
  agent->add_option("--language", into.language, "en or es: the language of what is said to you");
  agent->add_option("--max-retries", into.max_retries,
                    "Attempts of a step that may be tried again");
  agent->add_option("--timeout", into.timeout_ms, "How long the run may work, in milliseconds");
  agent->add_option("--expires", into.expires,
                    "How long an approval stays open: 90s, 30m, 2h, 1d (24h)");
  agent->add_flag("--no-approval", into.no_approval, "Save without asking anyone");
  agent->callback([&words, name] {
    words.run.agent = name;
    words.chosen = words.run;
  });
}

void add_run(CLI::App& app, Words& words) {
  CLI::App* run = add_verb(app, "run", "Run an agent", help::kRun);
  run->require_subcommand(1);
  add_agent(*run, "daily-audit", "Audit the notes of a day", words);
  add_agent(*run, "routine", "Make a routine for a day from the audit of the day before", words);
}

void add_decision(CLI::App& approvals, const char* name, const char* line, bool approved,
                  Words& words) {
  CLI::App* verb = add_verb(approvals, name, line, help::kDecide);
  ApprovalsDecide& into = words.decide;
  verb->add_option("ID", into.id, "The approval, or the thread that waits")->required();
  verb->add_option("--by", into.by, "Who decides; else your login name");
  verb->add_option("--comment", into.comment, "Why");
  if (approved) {
    verb->add_option("--edit", into.edit_file,
                     "A JSON file to save in place of what is shown; - for standard input");
  }
  verb->callback([&words, approved] {
    words.decide.approved = approved;
    words.chosen = words.decide;
  });
}

void add_approvals(CLI::App& app, Words& words) {
  CLI::App* approvals =
      add_verb(app, "approvals", "List, show and decide approvals", help::kApprovals);
  approvals->require_subcommand(1);

  CLI::App* list = add_verb(*approvals, "list", "List what waits for a person", help::kApprovals);
  list->add_flag("--all", words.approvals_list.all, "Decided, expired and closed ones too");
  list->callback([&words] { words.chosen = words.approvals_list; });

  CLI::App* show = add_verb(*approvals, "show", "Show one approval in full", help::kApprovals);
  show->add_option("ID", words.approvals_show.id, "The approval, or its thread")->required();
  show->callback([&words] { words.chosen = words.approvals_show; });

  add_decision(*approvals, "approve", "Approve, and go on with the run", true, words);
  add_decision(*approvals, "reject", "Reject, and end the run without saving", false, words);
}

void add_runs_verbs(CLI::App& app, Words& words) {
  CLI::App* resume = add_verb(app, "resume", "Go on with what a dead process left", help::kResume);
  CLI::Option* thread = resume->add_option("THREAD", words.resume.thread, "The thread");
  CLI::Option* all = resume->add_flag("--all", words.resume.all, "Every run that was left behind");
  all->excludes(thread);
  resume->callback([&words] { words.chosen = words.resume; });

  CLI::App* cancel = add_verb(app, "cancel", "Cancel a thread's run", help::kCancel);
  cancel->add_option("THREAD", words.cancel.thread, "The thread")->required();
  cancel->add_option("--by", words.cancel.by, "Who cancels; else your login name");
  cancel->callback([&words] { words.chosen = words.cancel; });

  CLI::App* threads = add_verb(app, "threads", "List threads, newest first", help::kThreads);
  add_limit(threads, words.threads.limit);
  threads->callback([&words] { words.chosen = words.threads; });

  CLI::App* history = add_verb(app, "history", "List the commits of a run", help::kHistory);
  history->add_option("THREAD", words.history.thread, "The thread")->required();
  add_limit(history, words.history.limit);
  history->callback([&words] { words.chosen = words.history; });

  CLI::App* state = add_verb(app, "state", "Show a run as it stands, or stood", help::kState);
  state->add_option("THREAD", words.state.thread, "The thread")->required();
  state->add_option("--at", words.state.at, "After this commit, by its number in history");
  state->callback([&words] { words.chosen = words.state; });
}

void add_agents(CLI::App& app, Words& words) {
  CLI::App* agents = add_verb(app, "agents", "List, show and draw the agents", help::kAgents);
  agents->require_subcommand(1);

  CLI::App* list = add_verb(*agents, "list", "List the agents", help::kAgents);
  list->callback([&words] { words.chosen = AgentsList{}; });

  CLI::App* show = add_verb(*agents, "show", "Show an agent's state and nodes", help::kAgents);
  show->add_option("NAME", words.agents_show.name, "The agent")->required();
  show->callback([&words] { words.chosen = words.agents_show; });

  using Format = AgentsGraph::Format;
  AgentsGraph& drawn = words.agents_graph;
  CLI::App* graph = add_verb(*agents, "graph", "Draw an agent's graph", help::kAgents);
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

void add_store_verbs(CLI::App& app, Words& words) {
  add_verb(app, "check", "Check the store's rules", help::kCheck)->callback([&words] {
    words.chosen = Check{};
  });
  add_verb(app, "doctor", "See whether the store is well, and what to do", help::kDoctor)
      ->callback([&words] { words.chosen = Doctor{}; });
}

void add_flags(CLI::App& app, GlobalFlags& flags) {
  app.add_option("--store", flags.store, "Where runs are kept: sqlite:PATH or memory:");
  app.add_option("--user", flags.user, "Whose notes and runs");
  app.add_option("--model", flags.model, "The model: builtin");
  app.add_flag("--json", flags.json, "The result as one JSON document");
  app.add_flag("--quiet", flags.quiet, "Nothing beside the result");
  app.set_version_flag("--version", kVersion);
}

// Each fault says where to look; CLI11 says what is wrong, sometimes in two lines.
Error fault_in(const CLI::App& app, const CLI::ParseError& fault) {
  std::string verb = "belay";
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    verb += " " + at->get_name();
  }
  std::string what = one_line(fault.what());
  while (!what.empty() && (what.back() == ' ' || what.back() == '.')) what.pop_back();
  return error(ErrorCode::invalid, what + "; see " + verb + " --help.");
}

}  // namespace

Result<Parsed> parse_arguments(int count, const char* const* words) {
  Words read;
  CLI::App app{text_of(help::kProgram), "belay"};
  app.footer(text_of(help::kProgramEnd));
  app.require_subcommand(0, 1);
  add_flags(app, read.flags);
  add_notes(app, read);
  add_run(app, read);
  add_approvals(app, read);
  add_runs_verbs(app, read);
  add_agents(app, read);
  add_store_verbs(app, read);
  try {
    app.parse(count, words);
  } catch (const CLI::CallForHelp&) {
    return Parsed(app.help());
  } catch (const CLI::CallForVersion&) {
    return Parsed(std::string(kVersion) + "\n");
  } catch (const CLI::ParseError& fault) {
    return fault_in(app, fault);
  }
  return Parsed(Arguments{std::move(read.flags), std::move(read.chosen)});
}

bool wants_json(int count, const char* const* words) {
  for (int i = 1; i < count; ++i) {
    if (std::string_view(words[i]) == "--json") return true;
  }
  return false;
}

}  // namespace belay::cli
