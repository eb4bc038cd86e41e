#include "belay/context.h"

#include <algorithm>
#include <set>

#include "graph/costs.h"
#include "graph/question.h"
#include "graph/recorded_model.h"

namespace belay {
namespace {

// Throws a Failure if the value could not be decoded again after it is stored.
void check_value(const std::string& what, const Value& value) {
  Encoder text;
  text.write_value(value);
  if (text.problem.empty()) return;
  detail::throw_failure(error(ErrorCode::invalid, what + " can't be saved: " + text.problem));
}

// Throws a Failure if a decider could not choose one of the choices that the question offers.
void check_offered(const InterruptRequest& question) {
  auto refuse = [&question](const std::string& why) {
    detail::throw_failure(
        error(ErrorCode::invalid, "The question \"" + question.name + "\" " + why));
  };
  std::set<std::string_view> seen;
  for (const ApprovalChoice& choice : question.choices) {
    auto sound = check_name("name of a choice", choice.name);
    if (!sound.ok()) refuse("cannot be asked. " + sound.error().message);
    check_value("The label of the choice \"" + choice.name + "\"", Value(choice.label));
    bool is_reserved = (choice.name == "approve" && !choice.approves) ||
                       (choice.name == "reject" && choice.approves) || choice.name == "fail";
    if (is_reserved) {
      refuse("has the choice \"" + choice.name +
             "\" with another meaning than that of this reserved name. Choose another name.");
    }
    if (!seen.insert(choice.name).second) {
      refuse("has the choice \"" + choice.name + "\" twice. Rename one of them.");
    }
  }
}

// Returns whether the bytes are an incomplete UTF-8 character that a later delta can complete.
bool may_become_whole(std::string_view bytes) {
  auto first = static_cast<unsigned char>(bytes.front());
  std::size_t length = first >= 0xF0 && first <= 0xF4   ? 4
                       : first >= 0xE0 && first <= 0xEF ? 3
                       : first >= 0xC2 && first <= 0xDF ? 2
                                                        : 1;
  if (bytes.size() >= length) return false;
  return std::all_of(bytes.begin() + 1, bytes.end(),
                     [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; });
}

// The access of a replay, and of a Context without one.
class AbsentHttp final : public HttpAccess {
 public:
  explicit AbsentHttp(bool replays) : replays_(replays) {}

  Task<Result<HttpReply>> send(HttpCall) override {
    if (replays_) {
      co_return error(ErrorCode::not_found,
                      "A replay performs no HTTP requests. Send them within keyed_effect() or "
                      "unkeyed_effect(), whose results are recorded.");
    }
    co_return error(ErrorCode::invalid,
                    "This Context has no HTTP access. Pass one as Context::Attempt::http.");
  }

  Result<std::shared_ptr<HttpAccess>> narrowed(std::vector<std::string>) override {
    return std::shared_ptr<HttpAccess>(std::make_shared<AbsentHttp>(replays_));
  }

 private:
  const bool replays_;
};

}  // namespace

Context::Context(Attempt attempt)
    : attempt_(std::move(attempt)), costs_(std::make_unique<Costs>()) {
  const std::string& given = attempt_.options.configuration;
  if (!given.empty()) configuration_ = parse_json(given).value_or(Value::Object());
  effects_.answers = std::make_shared<AnswerVerdict>();
  if (attempt_.journal) recorded_ = std::make_unique<RecordedModel>(attempt_, effects_.answers);
}
Context::~Context() = default;

HttpAccess& Context::http() {
  if (attempt_.http && !attempt_.replays) return *attempt_.http;
  if (!absent_http_) absent_http_ = std::make_unique<AbsentHttp>(attempt_.replays);
  return *absent_http_;
}

std::uint64_t Context::random_bits() {
  // SplitMix64 (Steele, Lea, Flood 2014): passes BigCrush, and one word of state is enough.
  attempt_.seed += 0x9e3779b97f4a7c15ULL;
  std::uint64_t bits = attempt_.seed;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
  return bits ^ (bits >> 31);
}

void Context::emit(std::string name, Value body) {
  check_value("The event \"" + name + "\"", body);
  effects_.events.push_back({std::move(name), std::move(body)});
}

void Context::publish(std::string topic, Value body) {
  check_value("The message to \"" + topic + "\"", body);
  effects_.messages.push_back({std::move(topic), std::move(body)});
}

void Context::stream(std::string_view piece) {
  if (effects_.text.size() + piece.size() > limits::value_bytes_max) {
    detail::throw_failure(error(
        ErrorCode::invalid, "The node \"" + std::string(attempt_.node) + "\" streams more than " +
                                std::to_string(limits::value_bytes_max) + " bytes."));
  }
  effects_.text += piece;
  std::string_view rest = std::string_view(effects_.text).substr(whole_);
  auto broken = first_invalid_utf8(rest);
  if (broken && !may_become_whole(rest.substr(*broken))) {
    detail::throw_failure(error(ErrorCode::invalid, "The node \"" + std::string(attempt_.node) +
                                                        "\" streams text that is not UTF-8."));
  }
  whole_ += broken.value_or(rest.size());
  if (heard_) heard_();
}

Error Context::no_input() const {
  return error(ErrorCode::invalid, "The node \"" + std::string(attempt_.node) +
                                       "\" was not sent an input; visit it by a Send.");
}

void Context::journal_first(EffectRow row) { throw JournalFirst{std::move(row)}; }

const ApprovalDecision* Context::decision(std::string_view approval) const {
  const std::vector<ApprovalDecision>& all = attempt_.decisions;
  for (std::size_t i = all.size(); i > 0; --i) {
    if (approval.empty() || all[i - 1].approval == approval) return &all[i - 1];
  }
  return nullptr;
}

InterruptResponse Context::interrupt(InterruptRequest question) {
  check_value("The payload of the question \"" + question.name + "\"", question.payload);
  if (question.on_expiry) {
    check_value("The expiry message of \"" + question.name + "\"", question.on_expiry->data);
    if (question.on_expiry->topic.empty()) {
      detail::throw_failure(error(ErrorCode::invalid,
                                  "The expiry message of \"" + question.name + "\" has no topic."));
    }
  }
  check_offered(question);
  std::string key = question_key(question.name, to_json(question.payload));
  for (const auto& [answered, answer] : attempt_.answers) {
    if (answered == key) return answer;
  }
  throw Interrupted{std::move(question)};
}

}  // namespace belay
