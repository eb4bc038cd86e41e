#pragma once
// mcp/inbox.h - Inbox: that which arrives for one request until its reply.
//
// Threading: put from any thread; next() in one coroutine, on its executor.

#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>

#include "belay/task.h"
#include "mcp/json_rpc.h"

namespace belay::mcp {

struct Reply {
  int status = 200;   // of HTTP
  Message message{};  // a result or a fault
};

// A request of the server to this client, in the older era.
struct Question {
  Value id{};
  std::string method{};
  Value params{};
};

// The result of a question, or the exception with which its function ended.
struct Answer {
  Result<Value> result = Value();
  std::exception_ptr thrown = nullptr;
};

struct ProgressNote {
  Value params{};
};

struct Lateness {};  // a timer of the request has fired

using Arrival = std::variant<Lateness, ProgressNote, Question, Answer, Result<Reply>>;

// Copies share one inbox. Each kind is bounded: of several notes of progress, the last one counts.
class Inbox {
 public:
  Inbox() : state_(std::make_shared<State>()) {}

  // Only the first reply counts.
  void put_reply(Result<Reply> reply) const;
  void put_progress(Value params) const;
  // Returns false if too many questions wait.
  bool put_question(Question question) const;
  void put_answer(Answer answer) const;
  void put_lateness() const;

  // Waits for the next arrival; progress first, and the reply before questions.
  Task<Arrival> next() const;

 private:
  struct State {
    std::mutex mutex;
    std::optional<Result<Reply>> reply;
    std::optional<Value> progress;
    std::deque<Question> questions;
    std::optional<Answer> answer;
    bool is_late = false;
    std::optional<Completion<Done>> waiting;
  };

  static std::optional<Arrival> taken(State& state);  // REQUIRES: its mutex is held
  static void wake(State& state, std::unique_lock<std::mutex> lock);

  std::shared_ptr<State> state_;
};

}  // namespace belay::mcp
