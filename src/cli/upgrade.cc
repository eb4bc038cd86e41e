// `belay upgrade --check`: rehearses whether the runs of a store continue with a new program.
//
// The new program reads the store itself: without PROGRAM this process is the new program; with
// PROGRAM it runs that program's `upgrade --check --json`, and adds what only the old program can
// see: the differences between the two graphs.

#include <set>

#include "base/in_quotes.h"
#include "base/text_in.h"
#include "cli/arguments.h"
#include "cli/command_list.h"
#include "cli/count_text.h"
#include "cli/key_file.h"
#include "cli/process_context.h"
#include "cli/program_graphs.h"
#include "cli/program_output.h"
#include "cli/read_only_store.h"
#include "cli/run_until_signal.h"
#include "cli/store_name.h"
#include "graph/structure.h"
#include "load/rehearsal.h"
#include "service/json_encode.h"

namespace belay::cli {
namespace {

constexpr const char* kUpgradeHelp =
    R"(Reads every run that has not ended, restores it as the new program would, including
the upgrade of its state, and writes nothing. Exit code 0 if all runs continue or
migrate, otherwise 1.

Examples:
  {p} upgrade --check                  this program is the new one
  {p} upgrade --check ./mail-v2        this program is the old one
)";

constexpr UpgradeVerdict kVerdicts[] = {UpgradeVerdict::continues, UpgradeVerdict::migrates,
                                        UpgradeVerdict::refused, UpgradeVerdict::needs_hook,
                                        UpgradeVerdict::stranded};

bool can_continue(std::string_view verdict) {
  return verdict == name_of(UpgradeVerdict::continues) ||
         verdict == name_of(UpgradeVerdict::migrates);
}

Value text_or_null(const std::string& text) { return text.empty() ? Value() : Value(text); }

Value run_document(const RehearsedRun& run) {
  return Value::object({{"tenant", run.row.tenant.text},
                        {"threadId", run.row.thread.text},
                        {"runId", run.row.run.text()},
                        {"graph", run.row.graph},
                        {"version", run.version},
                        {"status", name_of(run.row.status)},
                        {"verdict", name_of(run.verdict)},
                        {"node", text_or_null(run.node)},
                        {"channel", text_or_null(run.channel)},
                        {"reason", text_or_null(run.reason)}});
}

Value::Array structure_document(const GraphDefinition& graph) {
  Value::Array lines;
  for (std::string& line : structure_of(graph)) lines.push_back(std::move(line));
  return lines;
}

Value materials_document(const GraphDefinition& graph) {
  Value::Object members;
  for (const auto& [name, digest] : materials_of(graph)) members.emplace(name, digest);
  return Value(std::move(members));
}

Value graph_document(const GraphDefinition& graph) {
  return Value::object({{"name", graph.name},
                        {"hash", to_hex(graph.hash)},
                        {"structure", structure_document(graph)},
                        {"materials", materials_document(graph)}});
}

// The document with the runs and the totals.
Value document_of(Value::Array runs, Value graphs) {
  Value::Object counts;
  bool ok = true;
  for (UpgradeVerdict verdict : kVerdicts) {
    std::string name(name_of(verdict));
    std::int64_t count = 0;
    for (const Value& run : runs) count += text_in(run, "verdict") == name ? 1 : 0;
    ok = ok && (count == 0 || can_continue(name));
    counts.emplace(name, count);
  }
  return Value::object({{"ok", ok},
                        {"counts", Value(std::move(counts))},
                        {"runs", Value(std::move(runs))},
                        {"graphs", std::move(graphs)}});
}

// A store of another program is named as such, instead of one fault for each of its runs.
Result<Done> check_own_store(const std::vector<RehearsedRun>& runs, const Definitions& graphs,
                             const std::string& store) {
  std::string strange, own;
  for (const RehearsedRun& run : runs) {
    for (const auto& graph : graphs) {
      if (graph->name == run.row.graph) return Done{};
    }
    strange = run.row.graph;
  }
  if (runs.empty()) return Done{};
  for (const auto& graph : graphs) own += (own.empty() ? "" : ", ") + graph->name;
  return error(ErrorCode::invalid, "The store " + shown_store(store) +
                                       " belongs to another program: its runs are of " +
                                       in_quotes(strange) + ", this program has " + own +
                                       ". Name the store of this program with --store.");
}

// The rehearsal of this program.
Result<Value> rehearsal(const ProcessContext& context) {
  const Settings& settings = context.settings;
  BELAY_TRY(Definitions graphs, graphs_with_model(context.program, settings, context.clock));
  BELAY_TRY(EncryptionOptions encryption, encryption_of(settings));
  std::unique_ptr<Random> random = system_random();
  BELAY_TRY(std::unique_ptr<Store> stored, open_unchanged(settings.store, context.clock, *random));
  std::unique_ptr<Store> store = make_encrypted_store(*stored, *random, encryption);
  int signal = 0;
  auto runs = run_until_signal(rehearse_upgrade(*store, graphs), signal);
  if (!runs) return error(ErrorCode::cancelled, "The rehearsal was stopped by a signal.");
  if (!runs->ok()) return std::move(*runs).error();
  BELAY_CHECK(check_own_store(**runs, graphs, settings.store));
  Value::Array documents, described;
  for (const RehearsedRun& run : **runs) documents.push_back(run_document(run));
  for (const auto& graph : graphs) described.push_back(graph_document(*graph));
  return document_of(std::move(documents), Value(std::move(described)));
}

std::vector<std::string> words_for(const ProcessContext& context) {
  std::vector<std::string> words{"upgrade", "--check", "--json"};
  if (context.settings.key_file) {
    words.push_back("--key-file");
    words.push_back(*context.settings.key_file);
  }
  return words;
}

// Adds the differences between the version of a run, if this program has it, and the new graph.
void add_cause(const Definitions& own, const Value& graphs, Value& run) {
  if (text_in(run, "verdict") != name_of(UpgradeVerdict::needs_hook)) return;
  std::vector<std::string> before, after;
  for (const auto& graph : own) {
    std::string version = text_in(run, "version");
    bool is_it = version == to_hex(graph->hash) || version == to_hex(graph->former_hash);
    if (is_it && graph->name == text_in(run, "graph")) before = structure_of(*graph);
  }
  const Value::Array* described = graphs.as_array();
  for (const Value& graph : described ? *described : Value::Array()) {
    const Value::Array* lines = graph["structure"].as_array();
    if (!lines || text_in(graph, "name") != text_in(run, "graph")) continue;
    after.clear();
    for (const Value& line : *lines) after.push_back(line.as_string() ? *line.as_string() : "");
  }
  if (before.empty() || after.empty()) return;
  StructureChange change = change_between(before, after);
  Value::Object& members = *run.as_object();
  if (members["node"].is_null()) members["node"] = text_or_null(change.node);
  if (members["channel"].is_null()) members["channel"] = text_or_null(change.channel);
  if (!change.text.empty()) members["reason"] = change.text + " " + text_in(run, "reason");
}

// Returns the materials that differ between this program and the new one: "weather: prompt".
Value::Array changed_materials(const Definitions& own, const Value& graphs) {
  Value::Array changed;
  const Value::Array* described = graphs.as_array();
  for (const Value& graph : described ? *described : Value::Array()) {
    for (const auto& before : own) {
      if (before->name != text_in(graph, "name")) continue;
      Value old_materials = materials_document(*before);
      const Value& materials = graph["materials"];
      std::set<std::string> names;
      for (const Value* each : std::initializer_list<const Value*>{&old_materials, &materials}) {
        if (!each->as_object()) continue;
        for (const auto& [name, digest] : *each->as_object()) names.insert(name);
      }
      for (const std::string& name : names) {
        if (old_materials[name] != materials[name]) changed.push_back(before->name + ": " + name);
      }
    }
  }
  return changed;
}

// The rehearsal of another program.
Result<Value> rehearsal_of(const std::string& program, const ProcessContext& context) {
  BELAY_TRY(Definitions own, graphs_with_model(context.program, context.settings, context.clock));
  // In the environment: other users can read command lines, and the name can contain a password.
  // A server of the environment would exclude it.
  std::vector<std::string> environment{"BELAY_STORE=" + context.settings.store, "BELAY_SERVER="};
  if (context.flags.config) environment.push_back("BELAY_CONFIG=" + *context.flags.config);
  if (context.flags.model) environment.push_back("BELAY_MODEL=" + *context.flags.model);
  BELAY_TRY(ProgramOutput output, output_of(program, words_for(context), environment));
  auto answer = parse_json(output.text, limits::document_depth_max);
  if (answer.ok() && answer->find("error")) {
    std::string message = text_in((*answer)["error"], "message");
    return error(ErrorCode::invalid, "The program " + in_quotes(program) + ": " + message);
  }
  if (!answer.ok() || !(*answer)["runs"].as_array()) {
    return error(ErrorCode::invalid,
                 "The program " + in_quotes(program) + " ended with exit code " +
                     std::to_string(output.code) +
                     " and no rehearsal. It must be a program of Belay that has `upgrade`.");
  }
  Value::Array runs = *(*answer)["runs"].as_array();
  for (Value& run : runs) {
    if (run.as_object()) add_cause(own, (*answer)["graphs"], run);
  }
  Value document = document_of(std::move(runs), (*answer)["graphs"]);
  document.as_object()->emplace("changedMaterials", changed_materials(own, (*answer)["graphs"]));
  return document;
}

class UpgradeCommand final : public ProcessCommand {
 public:
  void declare(CommandWords& words) override {
    words.flag("--check", check_, "Report what would happen, and change nothing");
    words.argument("PROGRAM", new_program_, "The new program; without it, this one is");
  }

  CommandResult run_in_process(const ProcessContext& context) override {
    if (!check_) {
      return error(ErrorCode::invalid,
                   "Runs are upgraded when the new program continues them. Write --check to "
                   "rehearse it.");
    }
    if (context.settings.server) {
      return error(ErrorCode::invalid,
                   context.program.call +
                       " upgrade reads the store itself, but the runs are on a server. Omit "
                       "--server and unset BELAY_SERVER, or run the command on the server.");
    }
    BELAY_TRY(Value document,
              new_program_ ? rehearsal_of(*new_program_, context) : rehearsal(context));
    show(document, context.output);
    const bool* ok = document["ok"].as_bool();
    context.output.document(document);
    return ok && *ok ? ExitCode::done : ExitCode::failed;
  }

 private:
  static void show(const Value& document, Output& output) {
    const Value::Array& runs = *document["runs"].as_array();
    if (runs.empty()) output.line("Every run of the store has ended.");
    const Value::Array* materials = document["changedMaterials"].as_array();
    for (const Value& each : materials ? *materials : Value::Array()) {
      if (each.as_string()) output.line("! changes: " + one_line(*each.as_string()));
    }
    for (UpgradeVerdict verdict : kVerdicts) {
      std::int64_t count = document["counts"][name_of(verdict)].as_int().value_or(0);
      if (count == 0) continue;
      bool is_good = can_continue(name_of(verdict));
      std::string mark = is_good ? output.styled(Style::good, output.glyph("✓", "ok"))
                                 : output.styled(Style::bad, output.glyph("✗", "x"));
      output.line(mark + " " + std::string(name_of(verdict)) + ": " +
                  count_text(static_cast<std::uint64_t>(count), "run"));
      for (const Value& run : runs) {
        if (!is_good && text_in(run, "verdict") == name_of(verdict)) show_run(run, output);
      }
    }
  }

  static void show_run(const Value& run, Output& output) {
    std::string line = "  " + one_line(text_in(run, "threadId")) + "  " +
                       one_line(text_in(run, "graph")) + "  " + one_line(text_in(run, "status"));
    if (!run["node"].is_null()) line += "  node " + one_line(text_in(run, "node"));
    if (!run["channel"].is_null()) line += "  channel " + one_line(text_in(run, "channel"));
    output.line(line);
    output.paragraph(one_line(text_in(run, "reason")), "    ");
  }

  bool check_ = false;
  std::optional<std::string> new_program_;
};

}  // namespace

CommandSpec builtin::upgrade_command(const Program&) {
  return {.path = {"upgrade"},
          .line = "Rehearse an upgrade of the program",
          .end = kUpgradeHelp,
          .make = make_command<UpgradeCommand>};
}

}  // namespace belay::cli
