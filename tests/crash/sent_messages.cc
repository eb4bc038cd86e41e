#include "tests/crash/sent_messages.h"

#include <algorithm>
#include <sstream>

namespace belay::crash {

std::vector<std::string> used_messages(const Value& state) {
  std::vector<std::string> texts;
  const Value::Array* messages = state["messages"].as_array();
  for (std::size_t i = 0; messages && i < messages->size(); ++i) {
    // One step can use several: their texts have blank lines between them.
    const std::string* text = (*messages)[i]["text"].as_string();
    std::istringstream words(text ? *text : "");
    for (std::string word; words >> word;) texts.push_back(word);
  }
  return texts;
}

std::vector<std::string> message_faults(const std::vector<SentMessage>& sent,
                                        const std::vector<std::string>& used) {
  std::vector<std::string> faults;
  auto place_of = [&](const std::string& text) {
    return std::find_if(sent.begin(), sent.end(),
                        [&](const SentMessage& each) { return each.text == text; });
  };
  auto last = sent.begin();
  for (const std::string& text : used) {
    auto place = place_of(text);
    if (place == sent.end()) {
      faults.push_back("used \"" + text + "\", which was not sent");
    } else if (std::count(used.begin(), used.end(), text) > 1) {
      faults.push_back("used \"" + text + "\" several times");
    } else if (place < last) {
      faults.push_back("used \"" + text + "\" after a later one");
    } else {
      last = place;
    }
  }
  for (const SentMessage& each : sent) {
    bool is_used = std::find(used.begin(), used.end(), each.text) != used.end();
    if (each.is_accepted && !is_used) faults.push_back("did not use \"" + each.text + "\"");
  }
  return faults;
}

}  // namespace belay::crash
