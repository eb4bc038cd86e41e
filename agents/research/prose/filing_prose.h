#pragma once
// agents/research/prose/filing_prose.h - the texts next to the numbers of a subtask: a model's
// sentences with verbatim quotes of the filing, or without a usable model an extract of it.
//
//     ProseSource source = prose_source(text, *prose_item("risk_factors", "item_1a_extraction"));
//     BELAY_CO_TRY(ProseResult prose, co_await write_prose(std::move(source), context));
//
// A model writes sentences only. A sentence is dropped unless the filing contains one of its
// quotes, and its quotes contain its numbers; so is one that recommends a transaction or rates the
// shares.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/prose/filing_excerpt.h"
#include "agents/research/prose/model_summary.h"
#include "agents/research/specialists/extractive_summary.h"
#include "belay/context.h"

namespace belay::research {

// Requests with which a text is asked for. A model that rejects a temperature gets one more.
inline constexpr int kProseCallsMax = 2;

// Returns the item that a subtask has a text about: "1A"; empty if it has none.
std::optional<std::string_view> prose_item(std::string_view specialist, std::string_view subtask);

// The parts of a filing that a text needs; small, and independent of the filing's text.
struct ProseSource {
  FilingExcerpt excerpt;
  ExtractiveSummary extract;
};

// Reads an item; time in proportion to its length. A null text or a missing item has an extract
// without sentences, whose note is the reason.
ProseSource prose_source(const TenKText* text, std::string_view item);

struct ProseResult {
  std::string item;                      // "1A"
  std::string by;                        // "extract", or "PROVIDER:MODEL"
  std::string note;                      // sentences for the reader: the author, and why
  std::vector<ProseSentence> sentences;  // of an extract: each one is its quote
  DroppedProse dropped;                  // of all replies

  bool is_extract() const { return by == "extract"; }
  // The note and the sentences, as paragraphs separated by empty lines.
  std::string text() const;
  // The quotes for display and storage: an array of {"sentence", "item", "offset", "text"}.
  Value quotes() const;
};

// Returns the extract, with its own note.
ProseResult extracted_prose(const ProseSource& source);

// Asks the model. After kProseCallsMax replies without a usable text, or if it cannot be called,
// returns the extract with the reason. Errors: `unavailable`, for a retry of the node, unless this
// is the last attempt; `cancelled`, `conflict` and `corrupt` of the run.
Task<Result<ProseResult>> write_prose(ProseSource source, Model& model,
                                      bool is_last_attempt = false);

// The same with the run's model. After an attempt that failed, the last one does not call it: the
// cause might be the timeout of the node. A model whose calls have no cost
// (Model::input_tokens_max() of 0), such as `builtin`, is not a language model: it is not called,
// and the extract has its usual note. Records this decision as the keyed effect
// "prose/ITEM/has_model": once per attempt and item.
Task<Result<ProseResult>> write_prose(ProseSource source, Context& context,
                                      bool is_last_attempt = false);

}  // namespace belay::research
