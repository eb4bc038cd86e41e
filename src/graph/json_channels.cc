#include "graph/json_channels.h"

#include <array>
#include <cmath>

#include "base/in_quotes.h"
#include "belay/limits.h"
#include "graph/sum.h"

namespace belay {
namespace {

// Returns the name of the JsonKind that the value has.
std::string kind_of(const Value& value) {
  return value.holds_integer() ? "integer" : std::string(value.kind());
}

bool is_of(JsonKind kind, const Value& value) {
  switch (kind) {
    case JsonKind::any:
      return true;
    case JsonKind::string:
      return value.as_string() != nullptr;
    case JsonKind::number:
      return value.is_number();
    case JsonKind::integer:
      return value.as_int() || value.as_uint();
    case JsonKind::boolean:
      return value.as_bool() != nullptr;
    case JsonKind::array:
      return value.as_array() != nullptr;
    case JsonKind::object:
      return value.as_object() != nullptr;
  }
  return false;
}

bool fits(const JsonChannel& channel, const Value& value) {
  return is_of(channel.kind, value) || (channel.nullable && value.is_null());
}

std::string expected(const JsonChannel& channel) {
  return std::string(name_of(channel.kind)) + (channel.nullable ? " or null" : "");
}

// Converts 7.0 to 7 in an integer channel, so that equal values have equal texts.
Value settled(const JsonChannel& channel, Value value) {
  if (channel.kind != JsonKind::integer || !value.is_number() || value.holds_integer()) {
    return value;
  }
  return Value(*value.as_int());
}

Value default_of(const JsonChannel& channel) {
  if (channel.default_value) return settled(channel, *channel.default_value);
  if (channel.nullable) return Value();
  switch (channel.kind) {
    case JsonKind::any:
      return Value();
    case JsonKind::string:
      return Value("");
    case JsonKind::number:
    case JsonKind::integer:
      return Value(0);
    case JsonKind::boolean:
      return Value(false);
    case JsonKind::array:
      return Value(Value::Array());
    case JsonKind::object:
      return Value(Value::Object());
  }
  return Value();
}

// Returns whether a write operation can be applied to channels of this kind.
bool combines(WriteOp kind, JsonKind of) {
  switch (kind) {
    case WriteOp::append:
      return of == JsonKind::array;
    case WriteOp::merge:
      return of == JsonKind::object;
    case WriteOp::add:
      return of == JsonKind::number || of == JsonKind::integer;
    default:
      return true;
  }
}

WriteOp kind_of(JsonReducer reducer) {
  static constexpr std::array kinds{WriteOp::set, WriteOp::append, WriteOp::merge, WriteOp::add};
  return kinds[static_cast<std::size_t>(reducer)];
}

WriteOp kind_of_put(const JsonChannel& channel) {
  return channel.reduce ? WriteOp::reduce : kind_of(channel.reducer);
}

std::string declaration_of(const JsonChannel& channel) {
  std::string text(name_of(channel.kind));
  if (channel.nullable) text += ", nullable";
  if (channel.reduce) {
    text += ", own reducer";
  } else if (channel.reducer != JsonReducer::last_value) {
    text += ", " + std::string(name_of(channel.reducer));
  }
  if (channel.required) text += ", required";
  if (channel.default_value) text += ", default " + to_json(*channel.default_value);
  return text;
}

Value& held_in(void* state, const std::string& channel) {
  return (*static_cast<Value*>(state)->as_object())[channel];
}

// The operand of a write to a channel of a JSON graph.
class JsonOperand final : public Operand {
 public:
  JsonOperand(std::shared_ptr<const JsonChannels> channels, std::size_t channel,
              const std::string& name, WriteOp kind, Value value)
      : held(std::move(value)),
        channels_(std::move(channels)),
        channel_(channel),
        name_(name),
        kind_(kind) {}
  void encode(Encoder& out) const override { out.write_value(held); }
  Result<Done> apply(void* state) override {
    std::string found = kind_of(held);
    std::string problem =
        channels_->combine(channel_, kind_, std::move(held), held_in(state, name_));
    if (problem.empty()) return Done{};
    return error(ErrorCode::invalid, "It should be " + problem + ", but is " + found + ".");
  }
  void* value() override { return &held; }
  std::shared_ptr<Operand> copy() const override { return std::make_shared<JsonOperand>(*this); }

  Value held;

 private:
  std::shared_ptr<const JsonChannels> channels_;
  std::size_t channel_;
  const std::string& name_;
  WriteOp kind_;
};

std::string_view verb(WriteOp kind) {
  static constexpr std::array<std::string_view, 5> verbs{"sets", "appends to", "merges into",
                                                         "adds to", "reduces"};
  return verbs[static_cast<std::size_t>(kind)];
}

// Combines a further write of one update with the previous write to the same channel; false if the
// two operations cannot be combined.
bool join(const JsonChannels& channels, ChannelWrite& change, WriteOp kind, Value value) {
  Value& held = static_cast<JsonOperand&>(*change.operand).held;
  if (kind == WriteOp::set) {
    change.kind = kind;
    held = std::move(value);
    return true;
  }
  bool same = change.kind == kind || change.kind == WriteOp::set;
  if (kind == WriteOp::reduce || change.kind == WriteOp::reduce || !same) return false;
  return channels.combine(change.channel, kind, std::move(value), held).empty();
}

}  // namespace

std::string_view name_of(JsonKind kind) {
  static constexpr std::array<std::string_view, 7> names{"any",     "string", "number", "integer",
                                                         "boolean", "array",  "object"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view name_of(JsonReducer reducer) {
  static constexpr std::array<std::string_view, 4> names{"last value", "append", "merge", "add"};
  return names[static_cast<std::size_t>(reducer)];
}

JsonChannels::JsonChannels(Declared declared) : declared_(std::move(declared)) {
  for (std::size_t i = 0; i < declared_.size(); ++i) places_.emplace(declared_[i].first, i);
}

std::vector<std::string> JsonChannels::faults() const {
  std::vector<std::string> faults;
  if (declared_.size() > limits::json_channels_max) {
    faults.push_back("It has " + std::to_string(declared_.size()) + " channels; at most " +
                     std::to_string(limits::json_channels_max) + " are allowed.");
  }
  for (std::size_t i = 0; i < declared_.size(); ++i) {
    const auto& [name, channel] = declared_[i];
    if (auto sound = check_name("name of a channel", name); !sound.ok()) {
      faults.push_back(sound.error().message);
    }
    if (places_.at(name) != i) {
      faults.push_back("Two channels are called " + in_quotes(name) + ". Rename one of them.");
    }
    if (!channel.reduce && !combines(kind_of(channel.reducer), channel.kind)) {
      faults.push_back("The channel " + in_quotes(name) + " is declared as " +
                       std::string(name_of(channel.kind)) + ", which cannot " +
                       std::string(name_of(channel.reducer)) +
                       "; append needs an array, merge an object, add a number or an integer.");
    }
    if (!channel.default_value) continue;
    if (!fits(channel, *channel.default_value)) {
      faults.push_back("The channel " + in_quotes(name) + " is declared as " + expected(channel) +
                       ", and its default is of kind " + kind_of(*channel.default_value) + ".");
    }
    Encoder text;
    text.write_value(*channel.default_value);
    if (!text.problem.empty()) {
      faults.push_back("The default of the channel " + in_quotes(name) +
                       " cannot be saved: " + text.problem);
    }
  }
  return faults;
}

std::optional<std::size_t> JsonChannels::find(std::string_view name) const {
  auto found = places_.find(name);
  if (found == places_.end()) return std::nullopt;
  return found->second;
}

std::string JsonChannels::combine(std::size_t channel, WriteOp kind, Value from,
                                  Value& held) const {
  const JsonChannel& declared = at(channel);
  if (kind == WriteOp::set) {
    if (!fits(declared, from)) return expected(declared);
    held = settled(declared, std::move(from));
    return "";
  }
  if (!combines(kind, declared.kind)) return "for a channel of another kind";
  if (kind == WriteOp::append) {
    Value::Array* items = from.as_array();
    if (!items) return "an array of new items";
    if (held.is_null()) held = Value::Array();
    held.as_array()->insert(held.as_array()->end(), std::make_move_iterator(items->begin()),
                            std::make_move_iterator(items->end()));
  } else if (kind == WriteOp::merge) {
    Value::Object* members = from.as_object();
    if (!members) return "an object of new members";
    if (held.is_null()) held = Value::Object();
    detail::merge_into(*held.as_object(), *members);
  } else {
    if (!is_of(declared.kind, from)) return std::string(name_of(declared.kind));
    if (held.is_null()) held = Value(0);
    auto sum = sum_of(held, settled(declared, std::move(from)));
    if (!sum) return "an amount that stays in range";
    held = *std::move(sum);
  }
  return "";
}

ChannelType JsonChannels::channel_type(std::size_t channel) const {
  ChannelType type;
  auto self = shared_from_this();
  type.name = declared_[channel].first;
  type.index = channel;
  type.type_name = name_of(at(channel).kind);
  type.declaration = declaration_of(at(channel));
  type.is_required = at(channel).required;
  type.encode_channel = [name = type.name](const void* state, Encoder& out, const Unknown*) {
    out.write_value((*static_cast<const Value*>(state))[name]);
  };
  type.combine_channel = [self, channel, name = type.name](WriteOp kind, const Value& from,
                                                           void* state, Decoder& in, Unknown*) {
    std::string problem = self->combine(channel, kind, from, held_in(state, name));
    return problem.empty() || in.mismatch(problem, from);
  };
  return type;
}

Value JsonChannels::schema(RequiredMembers mode) const {
  bool is_stored = mode == RequiredMembers::stored;
  Value::Object properties;
  Value::Array required;
  for (const auto& [name, channel] : declared_) {
    Value kind = name_of(channel.kind);
    if (channel.nullable) kind = Value::Array{kind, "null"};
    bool is_any = channel.kind == JsonKind::any;
    properties.emplace(name, is_any ? Value(true) : Value::object({{"type", std::move(kind)}}));
    if (channel.required || is_stored) required.emplace_back(name);
  }
  Value schema = Value::object({{"type", "object"}, {"properties", std::move(properties)}});
  if (!is_stored) schema.as_object()->emplace("additionalProperties", false);
  if (!required.empty()) schema.as_object()->emplace("required", std::move(required));
  return schema;
}

StateType JsonChannels::state_type() const {
  StateType type;
  auto self = shared_from_this();
  type.schema = [self] { return self->schema(RequiredMembers::none); };
  type.stored_schema = [self] { return self->schema(RequiredMembers::stored); };
  Value::Object defaults;
  for (std::size_t i = 0; i < declared_.size(); ++i) {
    type.channels.push_back(channel_type(i));
    defaults.insert_or_assign(declared_[i].first, default_of(at(i)));
  }
  type.make = [defaults = Value(std::move(defaults))]() -> std::shared_ptr<void> {
    return std::make_shared<Value>(defaults);
  };
  type.copy = [](const void* state) -> std::shared_ptr<void> {
    return std::make_shared<Value>(*static_cast<const Value*>(state));
  };
  return type;
}

GraphDefinition::ChannelRule JsonChannels::rule(std::size_t channel) const {
  GraphDefinition::ChannelRule rule;
  rule.transient = at(channel).transient;
  rule.of_input = kind_of_put(at(channel));
  if (!at(channel).reduce) return rule;
  auto self = shared_from_this();
  rule.reduce = [self, channel](void* state, void* operand) -> Result<Done> {
    const auto& [name, declared] = self->declared_[channel];
    Value& held = held_in(state, name);
    Value made = declared.reduce(std::move(held), *static_cast<const Value*>(operand));
    if (!fits(declared, made)) {
      return error(ErrorCode::invalid,
                   "The reducer of the channel " + in_quotes(name) + " made a value of kind " +
                       kind_of(made) + "; the channel is declared as " + expected(declared) + ".");
    }
    held = settled(declared, std::move(made));
    return Done{};
  };
  rule.read_operand = [self, channel](const Value& from) -> std::shared_ptr<Operand> {
    return std::make_shared<JsonOperand>(self, channel, self->declared_[channel].first,
                                         WriteOp::reduce, from);
  };
  return rule;
}

std::vector<GraphDefinition::ChannelRule> JsonChannels::rules() const {
  std::vector<GraphDefinition::ChannelRule> rules;
  for (std::size_t i = 0; i < declared_.size(); ++i) rules.push_back(rule(i));
  return rules;
}

NodeResult JsonChannels::resolve(std::string_view node, NodeUpdate answer) const {
  for (NamedWrite& named : std::exchange(answer.named, {})) {
    BELAY_CHECK(resolve(node, std::move(named), answer));
  }
  return answer;
}

Result<Done> JsonChannels::resolve(std::string_view node, NamedWrite named,
                                   NodeUpdate& answer) const {
  auto channel = find(named.channel);
  if (!channel) {
    return error(ErrorCode::invalid, "The node " + in_quotes(node) + " writes the channel " +
                                         in_quotes(named.channel) +
                                         ", which is not declared; declare it with .channel(" +
                                         in_quotes(named.channel) + "), or correct the name.");
  }
  const JsonChannel& declared = at(*channel);
  WriteOp kind = named.kind.value_or(kind_of_put(declared));
  std::string what = "The node " + in_quotes(node) + " " + std::string(verb(kind)) +
                     " the channel " + in_quotes(named.channel);
  if (!combines(kind, declared.kind)) {
    return error(ErrorCode::invalid, what + ", which is declared as " + expected(declared) +
                                         "; append needs an array, merge an object, add a number "
                                         "or an integer.");
  }
  if (kind != WriteOp::reduce) {
    Value tried;
    std::string found = kind_of(named.value);
    // Combining with the empty value finds every fault of the operand itself. Only the overflow of
    // a sum depends on the channel's current value, and is found when the write is applied.
    std::string problem = combine(*channel, kind, std::move(named.value), tried);
    if (!problem.empty()) {
      return error(ErrorCode::invalid,
                   what + " with a value of kind " + found + "; expected is " + problem + ".");
    }
    named.value = std::move(tried);
  }
  for (ChannelWrite& change : answer.changes) {
    if (change.channel != *channel) continue;
    if (join(*this, change, kind, std::move(named.value))) return Done{};
    return error(ErrorCode::invalid, what +
                                         " in one update with another change of it, and the two "
                                         "can't be combined.");
  }
  ChannelWrite change;
  change.channel = *channel;
  change.kind = kind;
  change.operand = std::make_shared<JsonOperand>(
      shared_from_this(), *channel, declared_[*channel].first, kind, std::move(named.value));
  answer.changes.push_back(std::move(change));
  return Done{};
}

}  // namespace belay
