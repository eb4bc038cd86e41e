#include "agents/research/prose/filing_prose.h"

#include <array>
#include <memory>
#include <utility>

#include "agents/research/prose/phrase_words.h"

namespace belay::research {
namespace {

constexpr std::size_t kNameBytesMax = 200;
constexpr std::size_t kNoticeBytesMax = 500;
constexpr std::size_t kReasonBytesMax = 300;

struct ProseSubtask {
  std::string_view specialist;
  std::string_view subtask;
  std::string_view item;
};

constexpr std::array<ProseSubtask, 2> kProseSubtasks = {
    {{"business_model", "business_description", "1"},
     {"risk_factors", "item_1a_extraction", "1A"}}};

std::string count_of(std::int64_t count, std::string_view singular, std::string_view plural) {
  return std::to_string(count) + " " + std::string(count == 1 ? singular : plural);
}

std::string name_of_model(const ModelReply& reply) {
  const std::string provider = shown_text(reply.provider, kNameBytesMax);
  const std::string model = shown_text(reply.model, kNameBytesMax);
  if (provider.empty() && model.empty()) return "model";
  if (provider.empty() || model.empty()) return "model:" + provider + model;
  return provider + ":" + model;
}

// Returns the extract with another note, if it has sentences.
ProseResult extract_because(const ProseSource& source, std::string_view reason,
                            DroppedProse dropped = {}) {
  ProseResult result = extracted_prose(source);
  result.dropped = dropped;
  if (result.sentences.empty()) {
    result.note += " " + std::string(reason);
  } else {
    result.note = "Extractive: sentences of Item " + source.extract.item +
                  " as filed, the first ones that are informative. " + std::string(reason);
  }
  return result;
}

std::string failure_text(const Error& failure) {
  std::string message = shown_text(failure.message, kReasonBytesMax);
  if (message.empty()) message = std::string(name_of(failure.code));
  return "The model wrote no text: " + message;
}

std::string unusable_text(const std::string& model, const CheckedReply& last,
                          const DroppedProse& dropped) {
  std::string text = "The text of the model " + model + " was not usable: ";
  if (!last.fault.empty()) return text + last.fault + ".";
  text += count_of(static_cast<std::int64_t>(last.sentences.size()), "sentence", "sentences") +
          " of its last reply passed the checks. Dropped: " + std::to_string(dropped.unquoted) +
          " without a quote that the filing contains, " + std::to_string(dropped.numbers) +
          " with a number that their quotes do not contain, " + std::to_string(dropped.advice) +
          " with advice, " + std::to_string(dropped.malformed) + " malformed.";
  return text;
}

ProseResult written_prose(const FilingExcerpt& excerpt, const ModelReply& reply,
                          CheckedReply checked, const DroppedProse& dropped) {
  ProseResult result;
  result.item = excerpt.item;
  result.by = name_of_model(reply);
  result.sentences = std::move(checked.sentences);
  result.dropped = dropped;
  result.note = "Written by the model " + result.by + " from " +
                (excerpt.is_whole ? "" : "a part of ") + "Item " + excerpt.item +
                "; each sentence has a quote that is verbatim in the filing, and no number that "
                "its quotes do not contain.";
  if (const std::int64_t count = dropped.sentences(); count > 0) {
    result.note += " " + count_of(count, "sentence was dropped.", "sentences were dropped.");
  }
  if (const auto count = static_cast<std::int64_t>(excerpt.instructions); count > 0) {
    result.note += " " + count_of(count, "paragraph", "paragraphs") +
                   " of the filing looked like instructions to a model and " +
                   (count == 1 ? "was" : "were") + " left out.";
  }
  const std::string notice = shown_text(reply.notice, kNoticeBytesMax);
  if (!notice.empty()) result.note += " " + notice;
  return result;
}

// Returns whether the error is that of the node. Of the others, the text is the extract.
bool is_of_node(const Error& failure, bool is_last_attempt) {
  switch (failure.code) {
    case ErrorCode::unavailable:
      return !is_last_attempt;
    case ErrorCode::cancelled:
    case ErrorCode::conflict:
    case ErrorCode::corrupt:
      return true;
    default:
      return false;
  }
}

// Some reasoning models accept only their default temperature.
bool rejects_temperature(const Error& failure) {
  return failure.code == ErrorCode::invalid &&
         failure.message.find("temperature") != std::string::npos;
}

Task<Result<ModelReply>> reply_to(Model& model, ModelRequest& request) {
  ModelRequest first = request;
  Result<ModelReply> reply = co_await model.generate(std::move(first));
  const bool is_repeated = !reply.ok() && request.temperature && rejects_temperature(reply.error());
  if (!is_repeated) co_return std::move(reply);
  request.temperature.reset();
  ModelRequest second = request;
  co_return co_await model.generate(std::move(second));
}

}  // namespace

std::optional<std::string_view> prose_item(std::string_view specialist, std::string_view subtask) {
  for (const ProseSubtask& each : kProseSubtasks) {
    if (each.specialist == specialist && each.subtask == subtask) return each.item;
  }
  return std::nullopt;
}

ProseSource prose_source(const TenKText* text, std::string_view item) {
  return {excerpt_of(text, item), extractive_summary(text, item)};
}

std::string ProseResult::text() const {
  std::string text = note;
  const std::string_view separator = is_extract() ? "\n\n" : " ";
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    text += i == 0 ? "\n\n" : separator;
    text += sentences[i].text;
  }
  return text;
}

Value ProseResult::quotes() const {
  Value::Array all;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    for (const Quote& quote : sentences[i].quotes) {
      all.push_back(Value::object({{"sentence", static_cast<std::uint64_t>(i)},
                                   {"item", item},
                                   {"offset", quote.offset},
                                   {"text", quote.text}}));
    }
  }
  return all;
}

ProseResult extracted_prose(const ProseSource& source) {
  ProseResult result;
  result.item = source.extract.item;
  result.by = "extract";
  result.note = source.extract.note;
  for (const Quote& quote : source.extract.sentences) {
    result.sentences.push_back({quote.text, {quote}});
  }
  return result;
}

Task<Result<ProseResult>> write_prose(ProseSource source, Model& model, bool is_last_attempt) {
  if (source.excerpt.paragraphs.empty()) co_return extracted_prose(source);
  ModelRequest request = summary_request(source.excerpt);
  DroppedProse dropped;
  std::string reason;
  for (int call = 1; call <= kProseCallsMax; ++call) {
    auto verdict = request.verdict = std::make_shared<AnswerVerdict>();
    Result<ModelReply> reply = co_await reply_to(model, request);
    if (!reply.ok()) {
      if (is_of_node(reply.error(), is_last_attempt)) co_return std::move(reply).error();
      co_return extract_because(source, failure_text(reply.error()), dropped);
    }
    CheckedReply checked = checked_reply(*reply, source.excerpt);
    dropped += checked.dropped;
    if (checked.is_usable()) {
      verdict->accept();
      co_return written_prose(source.excerpt, *reply, std::move(checked), dropped);
    }
    verdict->refuse();
    reason = unusable_text(name_of_model(*reply), checked, dropped);
    if (reply->stop_reason == StopReason::refused) break;
    ask_again(*reply, checked, request);
  }
  co_return extract_because(source, reason, dropped);
}

Task<Result<ProseResult>> write_prose(ProseSource source, Context& context, bool is_last_attempt) {
  if (source.excerpt.paragraphs.empty()) co_return extracted_prose(source);
  Model& model = context.model();
  std::function<bool()> ask = [&model, &source] {
    return model.input_tokens_max(summary_request(source.excerpt)) > 0;
  };
  const bool has_model =
      context.keyed_effect("prose/" + source.excerpt.item + "/has_model", std::move(ask));
  if (!has_model) co_return extracted_prose(source);
  // A timeout of the node would fail the last attempt, too.
  if (is_last_attempt && context.previous_error() != nullptr) {
    co_return extract_because(source, failure_text(*context.previous_error()));
  }
  co_return co_await write_prose(std::move(source), model, is_last_attempt);
}

}  // namespace belay::research
