#include "mcp/inbox.h"

namespace belay::mcp {
namespace {

constexpr std::size_t questions_max = 8;

}  // namespace

void Inbox::wake(State& state, std::unique_lock<std::mutex> lock) {
  std::optional<Completion<Done>> waiting = std::exchange(state.waiting, std::nullopt);
  lock.unlock();
  if (waiting) waiting->complete(Done{});
}

void Inbox::put_reply(Result<Reply> reply) const {
  std::unique_lock lock(state_->mutex);
  if (!state_->reply) state_->reply = std::move(reply);
  wake(*state_, std::move(lock));
}

void Inbox::put_progress(Value params) const {
  std::unique_lock lock(state_->mutex);
  state_->progress = std::move(params);
  wake(*state_, std::move(lock));
}

bool Inbox::put_question(Question question) const {
  std::unique_lock lock(state_->mutex);
  if (state_->questions.size() == questions_max) return false;
  state_->questions.push_back(std::move(question));
  wake(*state_, std::move(lock));
  return true;
}

void Inbox::put_answer(Answer answer) const {
  std::unique_lock lock(state_->mutex);
  state_->answer = std::move(answer);
  wake(*state_, std::move(lock));
}

void Inbox::put_lateness() const {
  std::unique_lock lock(state_->mutex);
  state_->is_late = true;
  wake(*state_, std::move(lock));
}

std::optional<Arrival> Inbox::taken(State& state) {
  if (state.progress) return Arrival(ProgressNote{*std::exchange(state.progress, std::nullopt)});
  if (state.reply) return Arrival(*std::exchange(state.reply, std::nullopt));
  if (state.answer) return Arrival(*std::exchange(state.answer, std::nullopt));
  if (!state.questions.empty()) {
    Question question = std::move(state.questions.front());
    state.questions.pop_front();
    return Arrival(std::move(question));
  }
  if (std::exchange(state.is_late, false)) return Arrival(Lateness());
  return std::nullopt;
}

Task<Arrival> Inbox::next() const {
  std::shared_ptr<State> state = state_;
  while (true) {
    Completion<Done> news;
    {
      std::lock_guard lock(state->mutex);
      if (auto arrival = taken(*state)) co_return *std::move(arrival);
      state->waiting = news;
    }
    co_await news;
  }
}

}  // namespace belay::mcp
