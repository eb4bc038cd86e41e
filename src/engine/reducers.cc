#include "engine/reducers.h"

#include <algorithm>

#include "belay/limits.h"
#include "graph/call_guarded.h"

namespace belay::engine {
namespace {

class StoredOperand final : public Operand {
 public:
  StoredOperand(const ChannelType& channel, WriteOp kind, Value value, std::string text)
      : channel_(channel), kind_(kind), value_(std::move(value)), text_(std::move(text)) {}
  // The chain hash covers the stored bytes, and a struct is stored with its members in the order of
  // their declaration: the text of the value, whose members are sorted, would be another one.
  void encode(Encoder& out) const override {
    if (text_.empty()) return write_json(value_, out.text);
    out.text += text_;
  }
  Result<Done> apply(void* state) override {
    Decoder in;
    if (channel_.combine(kind_, value_, state, in, nullptr)) return Done{};
    return error(ErrorCode::invalid, std::move(in.problem));
  }
  void* value() override { return &value_; }
  std::shared_ptr<Operand> copy() const override { return std::make_shared<StoredOperand>(*this); }
  // Empty if the value is not stored yet.
  const std::string& text() const { return text_; }

 private:
  const ChannelType& channel_;
  WriteOp kind_;
  Value value_;
  std::string text_;
};

const GraphDefinition::ChannelRule* rule_of(const GraphDefinition& graph, std::size_t channel) {
  return channel < graph.channel_rules.size() ? &graph.channel_rules[channel] : nullptr;
}

Error unwritable(const ChannelVersion& channel, const std::string& problem) {
  return error(ErrorCode::invalid,
               "The channel \"" + channel.name + "\" cannot be saved: " + problem);
}

Result<std::string> checked(const ChannelVersion& channel, Encoder out) {
  if (!out.problem.empty()) return unwritable(channel, out.problem);
  if (out.text.size() > limits::value_bytes_max) {
    return unwritable(channel, "It has " + std::to_string(out.text.size()) + " bytes; at most " +
                                   std::to_string(limits::value_bytes_max) + " are allowed.");
  }
  return std::move(out.text);
}

// The error for two tasks of one superstep whose writes to a channel cannot be combined.
Error conflict(const Run& run, const NodeTask& one, const NodeTask& other, std::size_t channel) {
  std::string name;
  for (const ChannelVersion& each : run.channels) {
    if (each.index == channel) name = each.name;
  }
  std::string both =
      one.node == other.node
          ? "Two tasks of the node \"" + one.node->name + "\" write"
          : "The nodes \"" + one.node->name + "\" and \"" + other.node->name + "\" both write";
  return error(ErrorCode::invalid, both + " the channel \"" + name + "\" in superstep " +
                                       std::to_string(run.superstep) +
                                       ", and one of them sets it. Append, merge, add or reduce in "
                                       "both, or write it in only one of them.");
}

Result<Done> check_conflicts(const GraphDefinition& graph, const Run& run) {
  struct Writers {
    const NodeTask* first = nullptr;
    WriteOp kind = WriteOp::set;
  };
  std::vector<Writers> writers(graph.state->channels.size());
  for (const NodeTask& task : run.tasks) {
    for (const ChannelWrite& change : task.answer.changes) {
      Writers& seen = writers[change.channel];
      if (seen.first && (change.kind == WriteOp::set || seen.kind != change.kind)) {
        return conflict(run, *seen.first, task, change.channel);
      }
      if (!seen.first) seen = {&task, change.kind};
    }
  }
  return Done{};
}

Result<Done> reduce(const GraphDefinition& graph, const NodeTask& task, const ChannelWrite& change,
                    void* state) {
  const auto* rule = rule_of(graph, change.channel);
  const std::string& name = graph.state->channels[change.channel].name;
  if (!rule || !rule->reduce) {
    return error(ErrorCode::invalid, "The node \"" + task.node->name + "\" reduces the channel \"" +
                                         name + "\", for which the graph \"" + graph.name +
                                         "\" declares no reducer. Declare one with .reducer(...).");
  }
  return call_guarded<Done>("The reducer of the channel \"" + name + "\"",
                            [&]() { return rule->reduce(state, change.operand->value()); });
}

class Combining {
 public:
  Combining(const GraphDefinition& graph, Run& run)
      : graph_(graph), run_(run), state_(owned_state(graph, run)) {}

  Result<Done> take(NodeTask& task) {
    for (ChannelWrite& change : task.answer.changes) {
      ChannelVersion* channel = version_of(run_, change.channel);
      // apply() consumes the operand: a shared one is copied first.
      if (change.operand.use_count() > 1) change.operand = change.operand->copy();
      if (change.kind == WriteOp::reduce) {
        BELAY_CHECK(reduce(graph_, task, change, state_));
        if (std::find(reduced_.begin(), reduced_.end(), channel) == reduced_.end()) {
          reduced_.push_back(channel);
        }
        continue;
      }
      bool is_added = change.kind != WriteOp::set;
      // A lone task stores the sum itself, which takes as little space as the operand.
      if (!is_parallel(run_) && change.kind == WriteOp::add) is_added = false;
      if (is_transient(graph_, change.channel)) {
        BELAY_CHECK(apply(task, change, *channel));
        continue;
      }
      StepValue value{channel,
                      is_added ? change.kind : WriteOp::set,
                      static_cast<std::int64_t>(task.position),
                      {},
                      task.saved};
      if (is_added) {
        Encoder out;
        change.operand->encode(out);
        BELAY_TRY(value.text, checked(*channel, std::move(out)));
        BELAY_CHECK(apply(task, change, *channel));
      } else {
        BELAY_CHECK(apply(task, change, *channel));
        // The version that stored it can have had other members than this one.
        const auto* stored = dynamic_cast<const StoredOperand*>(change.operand.get());
        if (value.is_stored && stored && !stored->text().empty()) {
          value.text = stored->text();
        } else {
          BELAY_TRY(value.text, channel_text(graph_, run_, *channel));
        }
      }
      values_.push_back(std::move(value));
    }
    return Done{};
  }

  Result<std::vector<StepValue>> finish() && {
    std::vector<std::pair<ChannelVersion*, std::size_t>> grown;
    for (const StepValue& value : values_) {
      if (value.kind != WriteOp::merge && value.kind != WriteOp::add) continue;
      bool known = !grown.empty() && grown.back().first == value.channel;
      if (!known) grown.emplace_back(value.channel, 0);
      grown.back().second += value.text.size();
    }
    std::sort(grown.begin(), grown.end());
    for (std::size_t i = 0; i < grown.size(); ++i) {
      bool is_last = i + 1 == grown.size() || grown[i + 1].first != grown[i].first;
      if (!is_last) {
        grown[i + 1].second += grown[i].second;
        continue;
      }
      BELAY_CHECK(write_anew(*grown[i].first, grown[i].second));
    }
    for (ChannelVersion* channel : reduced_) BELAY_CHECK(write_whole(*channel));
    return std::move(values_);
  }

 private:
  Result<Done> apply(const NodeTask& task, const ChannelWrite& change,
                     const ChannelVersion& channel) {
    auto applied = change.operand->apply(state_);
    if (applied.ok()) return applied;
    return error(ErrorCode::invalid, "The value of the node \"" + task.node->name +
                                         "\" for the channel \"" + channel.name +
                                         "\" does not fit it: " + applied.error().message);
  }

  // Writes the whole value of a merged or summed channel if its operands have grown too large: a
  // reader then reads at most about twice the size of the whole value. Encoding the whole value
  // costs as much as reading it; therefore it happens only when the added bytes exceed the set
  // bytes. Lists never need it, because all appended items are still part of the value.
  Result<Done> write_anew(ChannelVersion& channel, std::size_t added) {
    std::uint64_t to_read = channel.set_bytes + channel.added_bytes + added;
    if (channel.added_bytes + added <= channel.set_bytes + 256) return Done{};
    BELAY_TRY(std::string text, channel_text(graph_, run_, channel));
    if (to_read <= 2 * text.size() + 64) return Done{};
    values_.push_back({&channel, WriteOp::set, static_cast<std::int64_t>(run_.tasks.size()),
                       std::move(text), false});
    return Done{};
  }

  // Writes the whole value of a reduced channel, after the writes of the tasks.
  Result<Done> write_whole(ChannelVersion& channel) {
    if (is_transient(graph_, channel.index)) return Done{};
    BELAY_TRY(std::string text, channel_text(graph_, run_, channel));
    values_.push_back({&channel, WriteOp::set, static_cast<std::int64_t>(run_.tasks.size()),
                       std::move(text), false});
    return Done{};
  }

  const GraphDefinition& graph_;
  Run& run_;
  void* state_;
  std::vector<StepValue> values_;
  std::vector<ChannelVersion*> reduced_;
};

// The text of the channel after it is set to the operand. Members that newer code has written are
// kept.
Result<std::string> text_when_set(const GraphDefinition& graph, const Run& run,
                                  const ChannelVersion& channel, const ChannelWrite& change) {
  Encoder out;
  change.operand->encode(out);
  if (!channel.unknown) return checked(channel, std::move(out));
  if (!out.problem.empty()) return unwritable(channel, out.problem);
  BELAY_TRY(Value value, parse_json(out.text, limits::document_depth_max));
  std::shared_ptr<void> copy = graph.state->copy(run.state.get());
  Decoder in;
  BELAY_ASSERT(graph.state->channels[channel.index].decode(value, copy.get(), in, nullptr));
  Encoder whole;
  graph.state->channels[channel.index].encode(copy.get(), whole, channel.unknown.get());
  return checked(channel, std::move(whole));
}

}  // namespace

std::shared_ptr<Operand> stored_operand(const ChannelType& channel, WriteOp kind, Value value,
                                        std::string text) {
  return std::make_shared<StoredOperand>(channel, kind, std::move(value), std::move(text));
}

bool is_transient(const GraphDefinition& graph, std::size_t channel) {
  const auto* rule = rule_of(graph, channel);
  return rule && rule->transient;
}

ChannelVersion* version_of(Run& run, std::size_t channel) {
  for (ChannelVersion& each : run.channels) {
    if (each.index == channel) return &each;
  }
  return nullptr;
}

ChannelVersion& channel_named(std::vector<ChannelVersion>& channels, const std::string& name) {
  auto place =
      std::lower_bound(channels.begin(), channels.end(), name,
                       [](const auto& each, const auto& wanted) { return each.name < wanted; });
  if (place == channels.end() || place->name != name) {
    place = channels.emplace(place);
    place->name = name;
  }
  return *place;
}

Result<std::string> channel_text(const GraphDefinition& graph, const Run& run,
                                 const ChannelVersion& channel) {
  Encoder out;
  graph.state->channels[channel.index].encode(run.state.get(), out, channel.unknown.get());
  return checked(channel, std::move(out));
}

void add_version(ChannelVersion& channel, std::uint64_t seq, WriteOp kind, std::string_view text) {
  channel.seq = seq;
  if (kind == WriteOp::set) {
    channel.hash = sha256(text);
    channel.set_bytes = text.size();
    channel.added_bytes = 0;
    return;
  }
  std::string bytes(reinterpret_cast<const char*>(channel.hash.data()), channel.hash.size());
  bytes += name_of(kind);
  bytes += text;
  channel.hash = sha256(bytes);
  channel.added_bytes += text.size();
}

void* owned_state(const GraphDefinition& graph, Run& run) {
  if (run.state.use_count() > 1) run.state = graph.state->copy(run.state.get());
  return run.state.get();
}

Result<std::vector<StepValue>> combine(const GraphDefinition& graph, Run& run) {
  bool any = std::any_of(run.tasks.begin(), run.tasks.end(),
                         [](const NodeTask& task) { return !task.answer.changes.empty(); });
  if (!any) return std::vector<StepValue>();
  if (is_parallel(run)) BELAY_CHECK(check_conflicts(graph, run));
  Combining combining(graph, run);
  for (NodeTask& task : run.tasks) BELAY_CHECK(combining.take(task));
  return std::move(combining).finish();
}

ValueRow value_row(const Run& run, std::uint64_t seq) {
  ValueRow row;
  row.checkpoint_ns = run.checkpoint_ns;
  bool is_of_thread = run.row.ordinal > 0 && run.checkpoint_ns.empty();
  if (is_of_thread) {
    row.thread = run.row.thread;
    row.seq = value_seq(run.row, seq);
  } else {
    row.run = run.row.run;
    row.seq = seq;
  }
  return row;
}

Result<std::vector<ValueRow>> pending_values(const GraphDefinition& graph, const Run& run,
                                             const NodeTask& task) {
  std::vector<ValueRow> rows;
  for (const ChannelWrite& change : task.answer.changes) {
    if (is_transient(graph, change.channel)) continue;
    ValueRow row = value_row(run, run.state_seq + 1);
    for (const ChannelVersion& channel : run.channels) {
      if (channel.index != change.channel) continue;
      row.channel = channel.name;
      Encoder out;
      if (change.kind != WriteOp::set) change.operand->encode(out);
      BELAY_TRY(std::string text, change.kind == WriteOp::set
                                      ? text_when_set(graph, run, channel, change)
                                      : checked(channel, std::move(out)));
      row.envelope = json_envelope(text);
    }
    row.index = static_cast<std::int64_t>(task.position);
    row.kind = change.kind;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace belay::engine
