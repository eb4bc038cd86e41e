#include "events/remote_text.h"

#include <algorithm>
#include <limits>

#include "base/text_in.h"
#include "belay/value.h"

namespace belay {
namespace {

// Time between two deltas: fast enough for a human reader.
constexpr std::chrono::milliseconds piece_interval{100};
constexpr std::size_t piece_bytes_max = 32u << 10;
// Limits of one reader between two reads; text above them is lost.
constexpr std::size_t inbox_bytes_max = 1u << 20;
constexpr std::size_t held_pieces_max = 256;

std::string channel_of(const RunId& run) { return "text:" + run.text(); }

bool begins_character(char letter) { return (static_cast<unsigned char>(letter) & 0xc0) != 0x80; }

// Returns at most piece_bytes_max bytes of the text, cut at the end of a character.
std::string_view first_piece(std::string_view text) {
  if (text.size() <= piece_bytes_max) return text;
  std::size_t end = piece_bytes_max;
  while (end > 0 && !begins_character(text[end])) --end;
  return text.substr(0, end);
}

std::uint64_t number_in(const Value& document, std::string_view name) {
  return document[name].as_uint().value_or(0);
}

}  // namespace

TextFanOut::~TextFanOut() {
  if (timer_) executor_.cancel(*timer_);
}

void TextFanOut::published(const RunRow& run) {
  if (!broadcast_) return;
  Speaking& speaking = speaking_[run.run];
  speaking.epoch = run.epoch;
  speaking.seq = run.seq;
  if (timer_) return;
  timer_ = executor_.call_after(piece_interval, [this] {
    timer_.reset();
    tell_all();
  });
}

void TextFanOut::tell_all() {
  for (auto& [run, speaking] : speaking_) publish(run, speaking);
  std::erase_if(speaking_, [this](const auto& each) { return live_.speakers(each.first).empty(); });
}

void TextFanOut::publish(const RunId& run, Speaking& speaking) {
  const auto& speakers = live_.speakers(run);
  std::erase_if(speaking.told, [&](const auto& each) { return !speakers.contains(each.first); });
  for (const auto& [task, speaker] : speakers) {
    const Context& context = speaker->context();
    SentText& told = speaking.told[task];
    if (told.attempt != context.attempt()) told = {context.attempt(), 0};
    std::string_view text = context.streamed();
    while (told.bytes < text.size()) {
      std::string_view piece = first_piece(text.substr(told.bytes));
      Value document = Value::object({{"sender", self_.text()},
                                      {"epoch", speaking.epoch},
                                      {"seq", speaking.seq},
                                      {"space", speaker->checkpoint_ns()},
                                      {"node", context.node()},
                                      {"task", task.text()},
                                      {"attempt", context.attempt()},
                                      {"offset", std::uint64_t{told.bytes}},
                                      {"at", to_text(context.now())},
                                      {"text", piece}});
      broadcast_->publish(channel_of(run), to_json(document));
      told.bytes += piece.size();
    }
  }
}

RemoteTextReader::RemoteTextReader(Broadcast* broadcast, Executor& executor,
                                   std::shared_ptr<TextHub> live, RunId run, SessionId self)
    : run_(run), self_(self) {
  if (!broadcast) return;
  listening_ = broadcast->subscribe(
      channel_of(run), [inbox = inbox_, &executor, live = std::move(live), run](std::string text) {
        {
          std::lock_guard lock(inbox->mutex);
          if (inbox->bytes + text.size() > inbox_bytes_max) return;
          inbox->bytes += text.size();
          inbox->texts.push_back(std::move(text));
        }
        executor.post([live, run] { live->wake(run); });
      });
}

std::optional<RemoteTextReader::Piece> RemoteTextReader::piece_from(std::string_view text) {
  auto document = parse_json(text);
  if (!document.ok()) return std::nullopt;
  auto sender = uuid_from(text_in(*document, "sender"));
  auto task = uuid_from(text_in(*document, "task"));
  auto at = instant_from(text_in(*document, "at"));
  std::uint64_t attempt = number_in(*document, "attempt");
  bool is_attempt = attempt >= 1 && attempt <= std::numeric_limits<int>::max();
  if (!sender || !task || !at || !is_attempt) return std::nullopt;
  Piece piece;
  piece.sender = SessionId(*sender);
  piece.epoch = number_in(*document, "epoch");
  piece.seq = number_in(*document, "seq");
  piece.text = text_in(*document, "text");
  piece.event.kind = EventKind::messages;
  piece.event.checkpoint_ns = text_in(*document, "space");
  piece.event.node = text_in(*document, "node");
  piece.event.task = TaskId(*task);
  piece.event.attempt = static_cast<int>(attempt);
  piece.event.offset = number_in(*document, "offset");
  piece.event.at = *at;
  return piece;
}

void RemoteTextReader::receive() {
  std::deque<std::string> texts;
  {
    std::lock_guard lock(inbox_->mutex);
    texts.swap(inbox_->texts);
    inbox_->bytes = 0;
  }
  for (const std::string& text : texts) {
    auto piece = piece_from(text);
    bool is_own = piece && piece->sender == self_;
    if (piece && !is_own && held_.size() < held_pieces_max) held_.push_back(*std::move(piece));
  }
}

std::vector<StreamEvent> RemoteTextReader::take(const EventCursor& place, const ThreadId& thread) {
  std::vector<StreamEvent> taken;
  if (!listening_) return taken;
  receive();
  const auto& newest = place.frame.newest;
  std::deque<Piece> ahead;
  for (Piece& piece : held_) {
    // The delta belongs to a commit that the reader has not read yet.
    if (!newest || piece.seq > newest->seq) {
      ahead.push_back(std::move(piece));
      continue;
    }
    if (!is_under_way(piece, place) || !goes_on(piece)) continue;
    piece.event.thread = thread;
    piece.event.run = run_;
    piece.event.body = Value::object({{"text", std::move(piece.text)}});
    taken.push_back(std::move(piece.event));
  }
  held_ = std::move(ahead);
  return taken;
}

// True if the newest commit that the reader knows has scheduled this task, and the sender's epoch
// is not outdated. The cursor has no tasks of subgraphs: there, the delta must belong to that
// commit.
bool RemoteTextReader::is_under_way(const Piece& piece, const EventCursor& place) const {
  const CheckpointRow& newest = *place.frame.newest;
  if (piece.epoch < newest.epoch || is_final(newest.status)) return false;
  if (!piece.event.checkpoint_ns.empty()) return piece.seq == newest.seq;
  const auto& tasks = place.frame.tasks;
  return std::any_of(tasks.begin(), tasks.end(), [&](const ChosenTask& chosen) {
    return chosen.task == piece.event.task && chosen.node == piece.event.node;
  });
}

// True if no delta before it is missing, and no later owner or attempt has streamed since. Removes
// the bytes that the reader has received already.
bool RemoteTextReader::goes_on(Piece& piece) {
  if (piece.epoch < epoch_) return false;
  if (piece.epoch > epoch_) heard_.clear();
  epoch_ = piece.epoch;
  StreamEvent& event = piece.event;
  ReceivedText& heard = heard_[event.task];
  if (event.attempt < heard.attempt) return false;
  if (event.attempt > heard.attempt) heard = {event.attempt, 0, false};
  heard.has_gap |= event.offset > heard.bytes;
  std::size_t known = heard.bytes - std::min<std::size_t>(event.offset, heard.bytes);
  if (heard.has_gap || known >= piece.text.size()) return false;
  if (!begins_character(piece.text[known])) return false;
  piece.text.erase(0, known);
  event.offset = heard.bytes;
  heard.bytes += piece.text.size();
  return true;
}

}  // namespace belay
