#include "mcp/reply_wait.h"

#include <algorithm>

#include "base/executor_timer.h"
#include "base/in_quotes.h"

namespace belay::mcp {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::int64_t internal_error = -32603;

// The time that is left for a request. It does not pass while a question is answered.
class TimeLeft {
 public:
  TimeLeft(milliseconds idle, milliseconds total) : idle_(idle) {
    end_ = steady_clock::now() + total;
    extend();
  }

  void extend() { idle_end_ = std::min(steady_clock::now() + idle_, end_); }
  void stop() { stopped_ = steady_clock::now(); }
  void go_on() {
    end_ += steady_clock::now() - stopped_;
    extend();
  }
  milliseconds left() const {
    return std::chrono::ceil<milliseconds>(idle_end_ - steady_clock::now());
  }

 private:
  const milliseconds idle_;
  steady_clock::time_point end_, idle_end_, stopped_;
};

Task<Answer> answer_to(std::function<Task<Result<Value>>(Question)> function, Question question) {
  Answer answer;
  try {
    auto task = function(std::move(question));
    auto result = co_await task;
    answer.result = std::move(result);
  } catch (...) {
    answer.thrown = std::current_exception();
  }
  co_return answer;
}

// One wait, with the question that is being answered.
class Waiting {
 public:
  Waiting(Inbox inbox, ReplyWait wait, Connection& connection, Executor& executor)
      : inbox_(std::move(inbox)),
        wait_(std::move(wait)),
        connection_(connection),
        executor_(executor),
        time_(wait_.timeout, wait_.timeout_max) {
    arm();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() = default;

  // Each returns the end of the request, if it ends with this arrival.
  std::optional<Result<Reply>> take(Lateness) {
    if (asked_) return std::nullopt;
    if (time_.left().count() > 0) {
      arm();
      return std::nullopt;
    }
    return Result<Reply>(error(ErrorCode::uncertain, "The MCP server " + in_quotes(wait_.server) +
                                                         " did not answer " + wait_.method +
                                                         " within " + limit_text() + " ms."));
  }

  std::optional<Result<Reply>> take(const ProgressNote& note) {
    auto progress = note.params["progress"].as_double();
    // A server that repeats itself makes no progress.
    bool is_new = progress && (!progress_ || *progress > *progress_);
    if (!is_new) return std::nullopt;
    progress_ = progress;
    time_.extend();
    if (wait_.functions.on_progress) wait_.functions.on_progress(note.params);
    return std::nullopt;
  }

  std::optional<Result<Reply>> take(Question question) {
    if (++questions_ > wait_.functions.questions_max) {
      connection_.answer(fault_text(question.id, internal_error, "Too many questions"));
      return Result<Reply>(
          error(ErrorCode::exhausted,
                "The MCP server " + in_quotes(wait_.server) + " asks for input more than " +
                    std::to_string(wait_.functions.questions_max) + " times in one call."));
    }
    if (asked_) {
      waiting_.push_back(std::move(question));
      return std::nullopt;
    }
    ask(std::move(question));
    return std::nullopt;
  }

  std::optional<Result<Reply>> take(const Answer& answer) {
    answering_.reset();
    if (answer.thrown) std::rethrow_exception(answer.thrown);
    Value id = *std::exchange(asked_, std::nullopt);
    if (!answer.result.ok()) {
      connection_.answer(fault_text(id, internal_error, "The input is not available"));
      return Result<Reply>(answer.result.error());
    }
    connection_.answer(result_text(id, *answer.result));
    time_.go_on();
    arm();
    if (waiting_.empty()) return std::nullopt;
    Question next = std::move(waiting_.front());
    waiting_.pop_front();
    ask(std::move(next));
    return std::nullopt;
  }

  std::optional<Result<Reply>> take(Result<Reply> reply) { return reply; }

 private:
  void ask(Question question) {
    asked_ = question.id;
    time_.stop();
    auto answering = answer_to(wait_.functions.on_question, std::move(question));
    answering_ = spawn<Answer>(executor_, std::move(answering), [inbox = inbox_](Answer answer) {
      inbox.put_answer(std::move(answer));
    });
  }

  void arm() {
    timer_.emplace(executor_, std::max(time_.left(), milliseconds(0)),
                   [inbox = inbox_] { inbox.put_lateness(); });
  }

  std::string limit_text() const {
    return std::to_string((progress_ ? wait_.timeout_max : wait_.timeout).count());
  }

  const Inbox inbox_;
  const ReplyWait wait_;
  Connection& connection_;
  Executor& executor_;
  TimeLeft time_;
  std::optional<ExecutorTimer> timer_;
  std::optional<double> progress_;
  int questions_ = 0;
  std::optional<Value> asked_;  // the id of the question that is being answered
  std::deque<Question> waiting_;
  Spawned answering_;
};

}  // namespace

Task<Result<Reply>> wait_for_reply(Inbox inbox, ReplyWait wait, Connection& connection) {
  Executor& executor = co_await this_executor();
  Waiting waiting(inbox, std::move(wait), connection, executor);
  while (true) {
    Arrival arrival = co_await inbox.next();
    auto end = std::visit([&](auto& each) { return waiting.take(std::move(each)); }, arrival);
    if (end) co_return *std::move(end);
  }
}

}  // namespace belay::mcp
