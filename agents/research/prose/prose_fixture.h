#pragma once
// agents/research/prose/prose_fixture.h - filings and replies of a model, for tests.

#include <string>
#include <vector>

#include "agents/research/filings/ten_k_text.h"
#include "belay/value.h"

namespace belay::research {

// A sentence of a reply, with quotes as a model writes them.
struct ClaimedSentence {
  std::string text;
  std::vector<std::string> quotes;
};

inline std::string reply_with(const std::vector<ClaimedSentence>& sentences) {
  Value::Array all;
  for (const ClaimedSentence& each : sentences) {
    all.push_back(Value::object(
        {{"text", each.text}, {"quotes", Value::Array(each.quotes.begin(), each.quotes.end())}}));
  }
  return to_json(Value::object({{"sentences", std::move(all)}}));
}

// Real reports of the bundled data.
TenKText apple_report();
TenKText nvidia_report();

inline TenKText machine_report() {
  return TenKText(
      "Item 1. Business\n"
      "Company Background\n"
      "The company\u2019s machines are sold in 36,000 shops, which are mainly in Europe.\n"
      "Revenue of the last year was $391.0 billion, an increase of 5.2% over the year before.\n"
      "Region | Revenue of the region in the last fiscal year\n"
      "\u2022\u00A0 It employs\u00A0engineers  in  two countries, and trains them for three "
      "years.\n"
      "Item 1A. Risk Factors\n"
      "A long downturn could reduce the amount that customers spend on our machines.\n"
      "PART II\n"
      "A shortage of components could delay the delivery of our machines by months.\n");
}

// Two valid sentences about Item 1A of machine_report().
inline std::vector<ClaimedSentence> machine_risks() {
  return {{"A downturn could lower the spending of its customers.",
           {"A long downturn could reduce the amount that customers spend"}},
          {"Missing components could delay deliveries to customers.",
           {"A shortage of components could delay the delivery of our machines"}}};
}

}  // namespace belay::research
