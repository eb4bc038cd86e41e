#include "events/text_stream.h"

#include "events/completion_timer.h"

namespace belay {
TextHub::Reader::Reader(TextHub& live, RunId run)
    : live_(live), place_(live.readers_.emplace(run, this)) {}

TextHub::Reader::~Reader() { live_.readers_.erase(place_); }

Task<Done> TextHub::Reader::wait(Executor& executor, std::chrono::milliseconds longest) {
  if (is_called_) co_return Done{};
  Completion<Done> arrival;
  arrival_ = arrival;
  CompletionTimer timer(executor, longest, arrival);
  co_await arrival;
  arrival_.reset();
  co_return Done{};
}

TextHub::TextProducer::TextProducer(TextHub& live, const Context& context,
                                    std::string checkpoint_ns)
    : live_(live), context_(context), space_(std::move(checkpoint_ns)) {
  live_.speakers_[context.run()][context.task()] = this;
}

TextHub::TextProducer::~TextProducer() {
  auto run = live_.speakers_.find(context_.run());
  run->second.erase(context_.task());
  if (run->second.empty()) live_.speakers_.erase(run);
}

void TextHub::wake(const RunId& run) {
  auto [begin, past] = readers_.equal_range(run);
  for (auto each = begin; each != past; ++each) {
    each->second->is_called_ = true;
    if (each->second->arrival_) each->second->arrival_->complete(Done{});
  }
}

const std::map<TaskId, TextHub::TextProducer*>& TextHub::speakers(const RunId& run) const {
  auto found = speakers_.find(run);
  return found == speakers_.end() ? nobody_ : found->second;
}

}  // namespace belay
