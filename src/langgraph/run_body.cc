#include "langgraph/run_body.h"

#include <algorithm>
#include <array>

#include "conversation/interrupt_id.h"
#include "conversation/question_id.h"
#include "langgraph/errors.h"
#include "server/due_deliveries.h"

namespace belay::langgraph {
namespace {

using conversation::interrupt_id_from;

constexpr std::int64_t kDelayMaxSeconds = 30ll * 86'400;

constexpr std::array<std::pair<std::string_view, StreamMode>, 10> kModes{
    {{"values", StreamMode::values},
     {"updates", StreamMode::updates},
     {"messages-tuple", StreamMode::messages_tuple},
     {"messages", StreamMode::messages},
     {"custom", StreamMode::custom},
     {"tasks", StreamMode::tasks},
     {"checkpoints", StreamMode::checkpoints},
     {"debug", StreamMode::debug},
     {"events", StreamMode::events},
     {"tools", StreamMode::tools}}};

Error refusal(std::string text) { return error(ErrorCode::invalid, std::move(text)); }

Result<StreamMode> stream_mode_of(const Value& named) {
  const std::string* name = named.as_string();
  if (!name) return refusal("\"stream_mode\" must be a text or a list of texts.");
  for (const auto& [known, mode] : kModes) {
    if (known == *name) return mode;
  }
  return refusal("The stream mode \"" + name->substr(0, 40) +
                 "\" is not supported: use values, updates, messages-tuple, messages, custom, "
                 "tasks, checkpoints, debug, events or tools.");
}

bool is_empty(const Value& value) {
  if (const auto* items = value.as_array()) return items->empty();
  if (const auto* members = value.as_object()) return members->empty();
  const std::string* text = value.as_string();
  return value.is_null() || (text && text->empty());
}

Result<Done> check_unsupported(const Value& body) {
  const Value& command = body["command"];
  if (!command.is_null() && !command.as_object()) return refusal("\"command\" must be an object.");
  if (const Value* resume = command.as_object() ? command.find("resume") : nullptr) {
    if (resume->is_null()) return refusal("\"command.resume\" must not be null.");
  }
  return Done{};
}

Result<std::optional<BusyThread>> strategy_of(const Value& body) {
  BELAY_TRY(auto named, text_member(body, "multitask_strategy"));
  if (!named) return std::optional<BusyThread>();
  auto busy = busy_thread_named(*named);
  if (busy) return busy;
  return refusal("\"multitask_strategy\" must be reject, enqueue, interrupt or rollback.");
}

// Returns whether the member has the second of two texts; the first is its default.
Result<bool> is_second_of(const Value& body, std::string_view name, std::string_view first,
                          std::string_view second) {
  BELAY_TRY(auto text, text_member(body, name));
  if (!text || *text == first) return false;
  if (*text == second) return true;
  return refusal("\"" + std::string(name) + "\" must be " + std::string(first) + " or " +
                 std::string(second) + ".");
}

Result<std::chrono::milliseconds> delay_of(const Value& body) {
  const Value& member = body["after_seconds"];
  if (member.is_null()) return std::chrono::milliseconds(0);
  auto seconds = member.as_double();
  if (!seconds || !(*seconds >= 0) || *seconds > static_cast<double>(kDelayMaxSeconds)) {
    return refusal("\"after_seconds\" must be a number from 0 to " +
                   std::to_string(kDelayMaxSeconds) + ".");
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * 1000));
}

Result<RunSettings> run_settings_of(const Value& body, const Value& config) {
  RunSettings settings;
  BELAY_TRY(auto durability, text_member(body, "durability"));
  if (durability == "sync") settings.durability = Durability::sync;
  if (durability == "async") settings.durability = Durability::async;
  if (durability == "exit") settings.durability = Durability::exit;
  if (durability && !settings.durability) {
    return refusal("\"durability\" must be sync, async or exit.");
  }
  if (config["recursion_limit"].is_null()) return settings;
  constexpr auto most = static_cast<std::int64_t>(limits::supersteps_max);
  auto limit = config["recursion_limit"].as_int();
  if (!limit || *limit < 1) {
    return refusal("\"config.recursion_limit\" must be a whole number above 0.");
  }
  settings.supersteps = std::min(*limit, most);
  return settings;
}

// The checkpoint that the body names in one of three places.
Result<std::string> checkpoint_named_in(const Value& body, const Value& config) {
  BELAY_TRY(Value checkpoint, object_member(body, "checkpoint"));
  BELAY_TRY(Value configurable, object_member(config, "configurable"));
  BELAY_TRY(auto space, text_member(checkpoint, "checkpoint_ns"));
  if (space && !space->empty()) {
    return refusal("\"checkpoint\" must be one of the thread's own graph, not of a subgraph.");
  }
  for (const Value* place : {&body, &std::as_const(checkpoint), &std::as_const(configurable)}) {
    BELAY_TRY(auto named, text_member(*place, "checkpoint_id"));
    if (named && !named->empty()) return *std::move(named);
  }
  return std::string();
}

// The address of the webhook; empty: none.
Result<std::string> webhook_in(const Value& body) {
  BELAY_TRY(auto url, text_member(body, "webhook"));
  if (!url || url->empty()) return std::string();
  auto checked = server::check_receiver(*url);
  if (!checked.ok()) return refusal("\"webhook\": " + checked.error().message);
  return *std::move(url);
}

// Returns the members of the body that its run keeps, for its document.
Value kept_settings(const Value& body) {
  Value::Object kept;
  for (std::string_view name :
       {"config", "context", "stream_mode", "stream_subgraphs", "stream_resumable", "durability",
        "on_disconnect", "on_completion", "if_not_exists", "after_seconds", "checkpoint_id"}) {
    const Value& member = body[name];
    if (!member.is_null()) kept.emplace(name, member);
  }
  return Value(std::move(kept));
}

// Returns the messages as a list. A text becomes a message of the person, and one message a list.
Value::Array message_list(Value messages) {
  Value::Array list;
  if (auto* items = messages.as_array()) {
    list = std::move(*items);
  } else {
    list.push_back(std::move(messages));
  }
  for (Value& each : list) {
    if (!each.as_string()) continue;
    each = Value::object({{"type", "human"}, {"content", *each.as_string()}});
  }
  return list;
}

// Clients may name the author of a message by a role instead of a type, with the names of other
// libraries. A message with another role remains as it is.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kTypesOfRoles{
    {{"human", "human"},
     {"user", "human"},
     {"ai", "ai"},
     {"assistant", "ai"},
     {"system", "system"},
     {"developer", "system"},
     {"tool", "tool"}}};

void set_type_of_role(Value::Object& message) {
  auto type = message.find("type"), role = message.find("role");
  bool has_type = type != message.end() && !is_empty(type->second);
  const std::string* name = role == message.end() ? nullptr : role->second.as_string();
  std::string_view found = name && !has_type ? type_of_role(*name) : std::string_view();
  if (found.empty()) return;
  message.erase(role);
  message.insert_or_assign("type", found);
}

// Completes a message of a channel: it has a type, and an id.
void complete_message(Value& message, Random& random) {
  Value::Object* members = message.as_object();
  if (!members) return;
  set_type_of_role(*members);
  if (is_empty(std::as_const(message)["id"])) {
    members->insert_or_assign("id", random_uuid(random).text());
  }
}

Result<Decision> decision_for(const Value& reply, const ApprovalRow& row,
                              const std::string& decided_by) {
  BELAY_TRY(Decision decision, conversation::decision_of_reply(reply, row));
  decision.decided_by = decided_by;
  return decision;
}

// True for an object whose members are all named as interrupts are.
bool is_map_of_interrupts(const Value& resume) {
  const Value::Object* members = resume.as_object();
  return members && !members->empty() &&
         std::all_of(members->begin(), members->end(),
                     [](const auto& each) { return interrupt_id_from(each.first).has_value(); });
}

}  // namespace

Result<StreamModes> stream_modes_of(const Value& named) {
  if (named.is_null()) return StreamModes{StreamMode::values};
  StreamModes modes;
  const Value::Array* list = named.as_array();
  if (!list) {
    BELAY_TRY(StreamMode mode, stream_mode_of(named));
    modes.insert(mode);
    return modes;
  }
  for (const Value& each : *list) {
    BELAY_TRY(StreamMode mode, stream_mode_of(each));
    modes.insert(mode);
  }
  return modes;
}

Result<RunBody> run_body_of(const Value& body) {
  RunBody run;
  if (!body.as_object()) return refusal("The body must be an object.");
  BELAY_CHECK(check_unsupported(body));
  BELAY_TRY(auto assistant, text_member(body, "assistant_id"));
  if (!assistant || assistant->empty()) return refusal("\"assistant_id\" is missing.");
  run.assistant_id = *std::move(assistant);
  run.input = body["input"];
  if (!run.input.is_null() && !run.input.as_object()) {
    return refusal("\"input\" must be an object or null.");
  }
  run.resume = body["command"]["resume"];
  BELAY_TRY(run.metadata, object_member(body, "metadata"));
  BELAY_TRY(Value config, object_member(body, "config"));
  BELAY_TRY(Value context, object_member(body, "context"));
  run.settings = kept_settings(body);
  BELAY_TRY(run.modes, stream_modes_of(body["stream_mode"]));
  BELAY_TRY(auto subgraphs, bool_member(body, "stream_subgraphs"));
  run.stream_subgraphs = subgraphs.value_or(false);
  BELAY_TRY(run.checkpoint, checkpoint_named_in(body, config));
  BELAY_TRY(run.if_busy, strategy_of(body));
  BELAY_TRY(run.keeps_thread, is_second_of(body, "on_completion", "delete", "keep"));
  BELAY_TRY(run.cancels_on_disconnect, is_second_of(body, "on_disconnect", "continue", "cancel"));
  BELAY_TRY(run.creates_thread, is_second_of(body, "if_not_exists", "reject", "create"));
  BELAY_TRY(run.delay, delay_of(body));
  BELAY_TRY(run.webhook, webhook_in(body));
  BELAY_TRY(run.run, run_settings_of(body, config));
  BELAY_TRY(run.breakpoints, breakpoints_in(body));
  BELAY_TRY(run.change, change_in(body["command"]));
  if (run.change && (!run.input.is_null() || !run.resume.is_null())) {
    return refusal(
        "\"command.update\" and \"command.goto\" cannot be combined with an \"input\" or a "
        "\"command.resume\": an approval covers the values that its person has seen.");
  }
  return run;
}

std::string_view type_of_role(std::string_view role) {
  for (const auto& [name, type] : kTypesOfRoles) {
    if (name == role) return type;
  }
  return {};
}

Result<AgentInput> agent_input(const conversation::Conversations& conversations, const Value& agent,
                               Value input, Random& random) {
  Value::Object* members = input.as_object();
  if (!members) return AgentInput{.value = Value(Value::Object{})};
  auto found = members->find("messages");
  if (found == members->end()) return AgentInput{.value = std::move(input)};
  Value::Array messages = message_list(std::move(found->second));
  const std::string* name = agent["name"].as_string();
  if (conversations.takes_messages(name ? *name : "", agent)) {
    for (Value& each : messages) complete_message(each, random);
    found->second = Value(std::move(messages));
    return AgentInput{.value = std::move(input)};
  }
  std::vector<conversation::ChatEntry> entries;
  for (const Value& each : messages) {
    BELAY_TRY(conversation::ChatEntry entry, conversation::entry_of_message(each));
    entries.push_back(std::move(entry));
  }
  BELAY_TRY(Value made, conversations.input_of(name ? *name : "", agent, entries));
  members->erase("messages");
  for (auto& [channel, value] : *members) {
    if (made.as_object() && conversation::has_channel(agent, channel)) {
      made.as_object()->emplace(channel, std::move(value));
    }
  }
  return AgentInput{.value = std::move(made), .question_id = conversation::question_id_of(entries)};
}

Result<std::vector<PlannedDecision>> planned_decisions(const Value& resume,
                                                       const std::vector<ApprovalRow>& open,
                                                       const std::string& decided_by) {
  std::vector<PlannedDecision> planned;
  if (open.empty()) {
    return error(ErrorCode::conflict, "The resume matches no pending interrupt of the thread.");
  }
  if (!is_map_of_interrupts(resume)) {
    if (open.size() > 1) {
      return refusal("The thread has " + std::to_string(open.size()) +
                     " pending interrupts: the resume must be an object of replies by their ids.");
    }
    BELAY_TRY(Decision decision, decision_for(resume, open.front(), decided_by));
    planned.push_back({open.front().interrupt, std::move(decision)});
    return planned;
  }
  std::set<InterruptId> named;
  for (const auto& [name, reply] : *resume.as_object()) {
    InterruptId id = *interrupt_id_from(name);
    auto row = std::find_if(open.begin(), open.end(),
                            [&](const ApprovalRow& each) { return each.interrupt == id; });
    if (row == open.end() || !named.insert(id).second) {
      return error(ErrorCode::conflict,
                   "The resume names \"" + name + "\", which is not a pending interrupt.");
    }
    BELAY_TRY(Decision decision, decision_for(reply, *row, decided_by));
    planned.push_back({id, std::move(decision)});
  }
  return planned;
}

}  // namespace belay::langgraph
