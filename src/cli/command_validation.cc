#include "cli/command_validation.h"

#include "belay/limits.h"
#include "belay/storage.h"
#include "cli/api_keys.h"
#include "cli/input_file.h"
#include "cli/run_input.h"
#include "cli/suggestions.h"
#include "server/client_address.h"

namespace belay::cli {
namespace {

constexpr std::int64_t kKeepDaysMax = 36'500;
constexpr std::int64_t kSeqMax = 1'000'000'000'000;

Result<Done> check_thread(std::string_view thread) { return check_name("thread id", thread); }

Result<Done> check_run(std::string_view thread, const std::optional<std::string>& run) {
  BELAY_CHECK(check_thread(thread));
  if (!run) return Done{};
  return check_name("run id", *run);
}

Result<Done> check_by(const std::optional<std::string>& by) {
  if (!by) return Done{};
  return check_name("name after --by", *by);
}

// Uses the roles of the command, else those of the settings.
Result<Done> complete_roles(const Settings& settings, std::vector<std::string>& roles) {
  if (roles.empty()) roles = settings.roles;
  for (const std::string& role : roles) {
    BELAY_TRY(std::vector<std::string> read, roles_from("--role", role));
    if (read.size() == 1) continue;
    return error(ErrorCode::invalid, "--role accepts one role. Repeat it for more.");
  }
  return Done{};
}

// The inputs of validation.
struct CommandValidation {
  const Settings& settings;
  const Definitions& graphs;
};

Result<std::shared_ptr<const GraphDefinition>> find_graph(const Definitions& graphs,
                                                          const std::string& name) {
  if (name.empty() && graphs.size() == 1) return graphs.front();
  std::vector<std::string> names;
  for (const auto& graph : graphs) {
    if (graph->name == name) return graph;
    names.push_back(graph->name);
  }
  std::string what = "Unknown agent \"" + shortened(name, 60, "...") + "\".";
  if (name.empty()) what = "Missing agent name.";
  return error(name.empty() ? ErrorCode::invalid : ErrorCode::not_found,
               what + did_you_mean(name, names));
}

Result<Done> complete(const CommandValidation& judged, std::shared_ptr<CustomCommand>& verb) {
  return verb->check_form(judged.settings);
}

// Converts an amount such as "1.50" to millionths.
Result<std::int64_t> money_from(std::string_view option, std::string_view text) {
  std::size_t point = std::min(text.find('.'), text.size());
  std::string whole(text.substr(0, point));
  std::string part(point < text.size() ? text.substr(point + 1) : "");
  bool is_money = !whole.empty() && part.size() <= 6 && (point == text.size() || !part.empty()) &&
                  (whole + part).find_first_not_of("0123456789") == std::string::npos;
  if (!is_money) {
    return error(ErrorCode::invalid,
                 std::string(option) + " is invalid: expected an amount such as 2 or 1.50.");
  }
  part.resize(6, '0');
  return whole_number(option, whole + part, 0, limits::budget_max);
}

Result<Budget> budget_from(const RunAgent& verb) {
  Budget budget;
  if (verb.max_tokens) {
    BELAY_TRY(budget.tokens, whole_number("--max-tokens", *verb.max_tokens, 0, limits::budget_max));
  }
  if (verb.max_cost) {
    BELAY_TRY(budget.money, money_from("--max-cost", *verb.max_cost));
  }
  return budget;
}

Result<Done> complete_input(const CommandValidation& judged, RunAgent& verb) {
  if (!verb.form) {
    BELAY_TRY(verb.definition, find_graph(judged.graphs, verb.graph));
    BELAY_TRY(verb.state, read_run_input(*verb.definition, verb.input));
    return Done{};
  }
  if (!verb.input.empty() || !verb.graph.empty()) {
    return error(ErrorCode::invalid,
                 "run " + verb.form->name + " has its own options instead of --input. See " +
                     judged.settings.call + " run " + verb.form->name + " --help.");
  }
  BELAY_TRY(verb.definition, find_graph(judged.graphs, verb.form->graph));
  BELAY_TRY(verb.state, verb.form->input(verb.given, judged.settings));
  return Done{};
}

Result<Done> complete(const CommandValidation& judged, RunAgent& verb) {
  const Settings& settings = judged.settings;
  if (verb.thread) BELAY_CHECK(check_thread(*verb.thread));
  if (!verb.key.empty()) BELAY_CHECK(check_name("key after --key", verb.key));
  BELAY_CHECK(complete_input(judged, verb));
  if (verb.max_retries) {
    BELAY_TRY(verb.options.max_retries, attempts_from("--max-retries", *verb.max_retries));
  }
  if (verb.timeout_ms) {
    BELAY_TRY(verb.options.timeout, timeout_from("--timeout", *verb.timeout_ms));
  }
  if (verb.no_approval) verb.options.require_approval = false;
  if (verb.expires) {
    BELAY_TRY(std::chrono::milliseconds expires, duration_from("--expires", *verb.expires));
    verb.options.approval_expires = expires;
  }
  BELAY_TRY(verb.options.budget, budget_from(verb));
  // The options are complete before a start: a server does not have the caller's settings.
  verb.options = verb.options.over(settings.run);
  if (verb.after) {
    BELAY_TRY(verb.delay, duration_from("--after", *verb.after));
  }
  return Done{};
}

Result<std::optional<std::uint64_t>> seq_from(const std::optional<std::string>& at) {
  if (!at) return std::optional<std::uint64_t>();
  BELAY_TRY(std::int64_t seq, whole_number("--at", *at, 1, kSeqMax));
  return std::optional(static_cast<std::uint64_t>(seq));
}

Result<Done> complete(const CommandValidation& judged, Fork& verb) {
  BELAY_CHECK(check_run(verb.thread, verb.run));
  BELAY_CHECK(complete_roles(judged.settings, verb.roles));
  if (verb.new_thread) BELAY_CHECK(check_thread(*verb.new_thread));
  if (verb.copy && (verb.at || !verb.edits.empty() || verb.preview)) {
    return error(ErrorCode::invalid,
                 "--copy copies the current state of a thread. Omit --at, --edit and --preview.");
  }
  BELAY_TRY(verb.seq, seq_from(verb.at));
  return Done{};
}

Result<Done> complete(const CommandValidation&, ApprovalsShow& verb) {
  return check_name("approval id", verb.id);
}

Result<Done> complete(const CommandValidation& judged, ApprovalsDecide& verb) {
  BELAY_CHECK(check_name("approval id", verb.id));
  BELAY_CHECK(check_by(verb.by));
  BELAY_CHECK(complete_roles(judged.settings, verb.roles));
  if (!verb.edit_file) return Done{};
  BELAY_TRY(std::string text, read_input(*verb.edit_file, limits::record_bytes_max));
  auto edited = parse_json(text);
  if (!edited.ok()) {
    return error(ErrorCode::invalid,
                 "Invalid edited payload: " + edited.error().message + " Nothing was decided.");
  }
  verb.edited = *std::move(edited);
  return Done{};
}

Result<Done> complete(const CommandValidation& judged, Resume& verb) {
  if (verb.all) return Done{};
  if (!verb.thread.empty()) return check_thread(verb.thread);
  const std::string& call = judged.settings.call;
  return error(ErrorCode::invalid,
               "Missing thread. Use " + call + " resume THREAD or " + call + " resume --all.");
}

Result<Done> complete(const CommandValidation&, Cancel& verb) {
  BELAY_CHECK(check_run(verb.thread, verb.run));
  return check_by(verb.by);
}

Result<Done> complete(const CommandValidation&, Preserve& verb) {
  return check_thread(verb.thread);
}

// Parses "12h" or "30d".
Result<std::chrono::hours> age_from(std::string_view option, std::string_view text) {
  bool is_days = text.ends_with('d');
  if (!is_days && !text.ends_with('h')) {
    return error(ErrorCode::invalid,
                 std::string(option) + " is invalid: expected a time such as 12h or 30d.");
  }
  text.remove_suffix(1);
  BELAY_TRY(std::int64_t count, whole_number(option, text, 0, kKeepDaysMax));
  return std::chrono::hours(is_days ? 24 * count : count);
}

Result<Done> complete(const CommandValidation&, ShowThread& verb) {
  return check_run(verb.thread, verb.before);
}

Result<Done> complete(const CommandValidation&, EditThread& verb) {
  BELAY_CHECK(check_thread(verb.thread));
  if (!verb.title && !verb.metadata && !verb.expires) {
    return error(ErrorCode::invalid, "Nothing to change. Use --title, --metadata or --expires.");
  }
  verb.settings.title = verb.title;
  if (verb.metadata) {
    auto metadata = parse_json(*verb.metadata);
    if (!metadata.ok() || !metadata->as_object()) {
      return error(ErrorCode::invalid, "--metadata is invalid: expected a JSON object.");
    }
    verb.settings.metadata = *std::move(metadata);
  }
  if (!verb.expires) return Done{};
  verb.settings.expires_at = Instant{};
  if (*verb.expires == "never") return Done{};
  BELAY_TRY(verb.expires_after, age_from("--expires", *verb.expires));
  return Done{};
}

Result<Done> complete(const CommandValidation&, StorePrune& verb) {
  verb.keep = RetentionPolicy{}.keep_finished;
  if (!verb.older_than) return Done{};
  BELAY_TRY(verb.keep, age_from("--older-than", *verb.older_than));
  return Done{};
}

Result<Done> complete(const CommandValidation&, Work& verb) {
  if (verb.name) BELAY_CHECK(check_name("worker name", *verb.name));
  if (verb.drain_text == "0" || verb.drain_text == "0s") {
    verb.drain_timeout = std::chrono::milliseconds(0);
  } else {
    BELAY_TRY(verb.drain_timeout, duration_from("--drain-timeout", verb.drain_text));
  }
  if (verb.retention_text == "forever") return Done{};
  BELAY_TRY(verb.retention, age_from("--retention", verb.retention_text));
  return Done{};
}

// Returns the permission that may start runs without approval; nullopt for "never".
Result<std::optional<server::Permission>> skipping_permission(
    const Settings& settings, const std::optional<std::string>& flag) {
  using server::Permission;
  std::string named = flag.value_or(settings.permission_without_approval());
  if (named == "never") return std::optional<Permission>();
  for (Permission each : {Permission::run, Permission::decide, Permission::administer}) {
    if (server::name_of(each) == named) return std::optional(each);
  }
  return error(ErrorCode::invalid, "Invalid --no-approval-takes \"" + shortened(named, 40, "...") +
                                       "\": expected run, decide, administer or never.");
}

// Examples of --listen: "127.0.0.1:8123", "[::1]:8123", or ":8123" for this machine only.
Result<Done> complete(const CommandValidation& judged, Serve& verb) {
  constexpr std::int64_t port_max = 65'535;
  const std::string& text = verb.listen_text;
  std::size_t colon = text.rfind(':');
  if (colon == text.npos) {
    return error(ErrorCode::invalid,
                 "--listen is invalid: expected ADDRESS:PORT, such as 127.0.0.1:8123.");
  }
  verb.address = text.substr(0, colon);
  if (verb.address.starts_with('[') && verb.address.ends_with(']')) {
    verb.address = verb.address.substr(1, verb.address.size() - 2);
  }
  if (verb.address.empty() || verb.address == "localhost") verb.address = "127.0.0.1";
  BELAY_TRY(std::int64_t port,
            whole_number("the port of --listen", text.substr(colon + 1), 0, port_max));
  verb.port = static_cast<int>(port);
  BELAY_TRY(verb.keys, api_keys_for(verb.api_keys, verb.address));
  for (std::string& proxy : verb.trusted_proxies) {
    std::string read = server::address_from(proxy);
    if (read.empty())
      return error(ErrorCode::invalid, "--trusted-proxy is invalid: expected an IP address.");
    proxy = std::move(read);
  }
  if (verb.certificate.has_value() != verb.certificate_key.has_value()) {
    return error(ErrorCode::invalid, "--tls-certificate and --tls-key require each other.");
  }
  BELAY_TRY(verb.skips_approval, skipping_permission(judged.settings, verb.no_approval_takes));
  return complete(judged, verb.work);
}

Result<Done> complete(const CommandValidation&, History& verb) {
  return check_run(verb.thread, verb.run);
}
Result<Done> complete(const CommandValidation&, Calls& verb) {
  return check_run(verb.thread, verb.run);
}
Result<Done> complete(const CommandValidation&, ExportRun& verb) {
  return check_run(verb.thread, verb.run);
}

Result<Done> complete(const CommandValidation&, StateOf& verb) {
  BELAY_CHECK(check_run(verb.thread, verb.run));
  BELAY_TRY(verb.seq, seq_from(verb.at));
  return Done{};
}

Result<Done> complete(const CommandValidation&, OutboxList& verb) {
  return verb.thread ? check_thread(*verb.thread) : Result<Done>(Done{});
}

Result<Done> complete(const CommandValidation&, Replay& verb) {
  return check_run(verb.thread, verb.run);
}

Result<Done> complete(const CommandValidation&, ShowEvents& verb) {
  BELAY_CHECK(check_run(verb.options.thread.text, verb.run));
  if (verb.after) {
    verb.options.after = event_id_from(*verb.after);
    if (!verb.options.after) {
      return error(ErrorCode::invalid, "Invalid event id \"" + *verb.after +
                                           "\" after --after: expected SEQ-INDEX, such as 12-3.");
    }
  }
  for (const std::string& name : verb.kinds) {
    auto kind = event_kind_named(name);
    if (!kind) {
      return error(ErrorCode::invalid, "Invalid event kind \"" + name +
                                           "\": expected status, values, updates, messages, "
                                           "custom, tasks, checkpoints, approvals or debug.");
    }
    verb.options.kinds.push_back(*kind);
  }
  return Done{};
}

// Commands for which every combination of options is valid.
template <typename Other>
Result<Done> complete(const CommandValidation&, Other&) {
  return Done{};
}

}  // namespace

Result<Done> validate_command(const Settings& settings, const Definitions& graphs, Command& verb) {
  CommandValidation judged{settings, graphs};
  return std::visit([&](auto& one) { return complete(judged, one); }, verb);
}

bool uses_a_store(const Command& verb) {
  const auto* own = std::get_if<std::shared_ptr<CustomCommand>>(&verb);
  return !std::holds_alternative<DescribeApi>(verb) && (!own || (*own)->uses_a_store());
}

bool makes_a_store(const Command& verb) {
  if (const auto* own = std::get_if<std::shared_ptr<CustomCommand>>(&verb)) {
    return (*own)->makes_a_store();
  }
  return std::holds_alternative<RunAgent>(verb) || std::holds_alternative<Work>(verb) ||
         std::holds_alternative<Serve>(verb) || std::holds_alternative<ImportRun>(verb);
}

}  // namespace belay::cli
