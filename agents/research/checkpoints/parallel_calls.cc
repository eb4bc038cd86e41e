#include "agents/research/checkpoints/parallel_calls.h"

#include <algorithm>
#include <vector>

namespace belay::research {
namespace {

struct CallsInProgress {
  std::size_t next = 0;
  std::size_t count = 0;
  std::size_t open = 0;
  std::optional<Error> failure = std::nullopt;
  Completion<Done> ended = {};
};

// The calls of one place, one after another.
Task<Done> call_in_turn(std::shared_ptr<CallsInProgress> calls, const NumberedCall& call) {
  while (!calls->failure && calls->next < calls->count) {
    auto called = co_await call(calls->next++);
    if (!called.ok() && !calls->failure) calls->failure = std::move(called).error();
  }
  co_return Done{};
}

}  // namespace

Task<Result<Done>> call_each(std::size_t count, std::size_t together, NumberedCall call) {
  if (count == 0) co_return Done{};
  Executor& executor = co_await this_executor();
  auto calls = std::make_shared<CallsInProgress>();
  calls->count = count;
  calls->open = std::min(count, together);
  std::vector<Spawned> places(calls->open);
  std::function<void(Done)> left = [calls](Done) {
    if (--calls->open == 0) calls->ended.complete(Done{});
  };
  for (Spawned& place : places) {
    auto turns = call_in_turn(calls, call);
    std::function<void(Done)> done = left;
    place = spawn<Done>(executor, std::move(turns), std::move(done));
  }
  co_await calls->ended;
  if (calls->failure) co_return *std::move(calls->failure);
  co_return Done{};
}

}  // namespace belay::research
