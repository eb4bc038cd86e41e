#include "belay/context.h"

#include "graph/costs.h"
#include "graph/question.h"
#include "graph/recorded_model.h"

namespace belay {

Context::Context(Attempt attempt)
    : attempt_(std::move(attempt)), costs_(std::make_unique<Costs>()) {
  if (attempt_.journal) recorded_ = std::make_unique<RecordedModel>(attempt_);
}
Context::~Context() = default;

std::uint64_t Context::random_bits() {
  // SplitMix64 (Steele, Lea, Flood 2014): passes BigCrush, and one word of state is enough.
  attempt_.seed += 0x9e3779b97f4a7c15ULL;
  std::uint64_t bits = attempt_.seed;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
  return bits ^ (bits >> 31);
}

void Context::emit(std::string name, Value body) {
  effects_.events.push_back({std::move(name), std::move(body)});
}

void Context::publish(std::string topic, Value body) {
  effects_.messages.push_back({std::move(topic), std::move(body)});
}

Error Context::no_input() const {
  return error(ErrorCode::invalid, "The node \"" + std::string(attempt_.node) +
                                       "\" was not sent an input; visit it by a Send.");
}

void Context::journal_first(EffectRow row) { throw JournalFirst{std::move(row)}; }

Answer Context::interrupt(Question question) {
  std::string key = question_key(question.name, to_json(question.payload));
  for (const auto& [answered, answer] : attempt_.answers) {
    if (answered == key) return answer;
  }
  throw Interrupted{std::move(question)};
}

}  // namespace belay
