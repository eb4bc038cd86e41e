#include "agents/rules/figures.h"

#include <libstemmer.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>

#include "agents/rules/audit_rules.h"
#include "agents/rules/lexicon.h"
#include "belay/value.h"

namespace belay::rules {
namespace {

constexpr int kScoreLowest = -1'000'000;
constexpr int kScoreHighest = 1'000'000;
constexpr int kAlarm = 7;  // from this level on, an audit needs an approval

struct LabelledDay {
  std::string language;
  std::string kind;
  std::vector<std::string> notes;
  bool crisis = false;
  int risk_min = 1;
  int risk_max = 10;
};

Result<std::vector<Value>> read_lines(const std::string& path) {
  std::ifstream file(path);
  if (!file) return error(ErrorCode::not_found, "Cannot read '" + path + "'.");
  std::vector<Value> lines;
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty()) continue;
    auto value = parse_json(line);
    if (!value.ok()) {
      return error(ErrorCode::invalid, "Line " + std::to_string(lines.size() + 1) + " of '" + path +
                                           "': " + value.error().message);
    }
    lines.push_back(*std::move(value));
  }
  return lines;
}

std::string text_of(const Value& value) {
  return value.as_string() == nullptr ? "" : *value.as_string();
}

Result<std::vector<LabelledDay>> read_labelled(const std::string& path) {
  BELAY_TRY(const std::vector<Value> lines, read_lines(path));
  std::vector<LabelledDay> days;
  for (const Value& line : lines) {
    const auto* notes = line["notes"].as_array();
    const bool* crisis = line["crisis"].as_bool();
    const auto low = line["risk_min"].as_int();
    const auto high = line["risk_max"].as_int();
    if (notes == nullptr || crisis == nullptr || !low || !high) {
      return error(ErrorCode::invalid, "Line " + std::to_string(days.size() + 1) + " of '" + path +
                                           "' lacks notes, crisis, risk_min or risk_max.");
    }
    LabelledDay day{text_of(line["lang"]),  text_of(line["kind"]),  {}, *crisis,
                    static_cast<int>(*low), static_cast<int>(*high)};
    for (const Value& note : *notes) day.notes.push_back(text_of(note));
    days.push_back(std::move(day));
  }
  return days;
}

struct Score {
  int days = 0;
  int crisis = 0;
  int crisis_found = 0;
  int calm = 0;  // notes without a crisis that no careful reader would assess as kAlarm or higher
  int false_alarms = 0;
  int in_range = 0;
  int not_assessed = 0;

  void add(const LabelledDay& day, const AuditFindings& findings) {
    const int level = findings.risk_level;
    ++days;
    not_assessed += findings.assessed ? 0 : 1;
    in_range += day.risk_min <= level && level <= day.risk_max ? 1 : 0;
    if (day.crisis) {
      ++crisis;
      crisis_found += level >= kAlarm ? 1 : 0;
    } else if (day.risk_max < kAlarm) {
      ++calm;
      false_alarms += level >= kAlarm ? 1 : 0;
    }
  }

  std::string row(const std::string& name) const {
    const auto of = [](int part, int whole) {
      return whole == 0 ? std::string("-") : std::to_string(part) + " of " + std::to_string(whole);
    };
    return "| " + name + " | " + std::to_string(days) + " | " + of(crisis_found, crisis) + " | " +
           of(false_alarms, calm) + " | " + of(in_range, days) + " | " +
           std::to_string(not_assessed) + " |\n";
  }
};

std::string labelled_table(const std::vector<LabelledDay>& days) {
  Score all;
  std::map<std::string, Score> by_language;
  std::map<std::string, Score> by_kind;
  for (const LabelledDay& day : days) {
    const AuditFindings findings = analyse(day.notes);
    for (Score* score : {&all, &by_language[day.language], &by_kind[day.kind]}) {
      score->add(day, findings);
    }
  }
  std::string out =
      "| labelled days | days | crisis found | false alarms | level in range | not assessed |\n"
      "|---|---|---|---|---|---|\n";
  out += all.row("all");
  for (const auto& [language, score] : by_language) out += score.row("language: " + language);
  for (const auto& [kind, score] : by_kind) out += score.row("kind: " + kind);
  return out;
}

// Returns the same days by the classifier's score alone: the curve of its marks and its
// calibration.
std::string classifier_tables(const std::vector<LabelledDay>& days) {
  std::vector<std::pair<int, const LabelledDay*>> scored;
  for (const LabelledDay& day : days) {
    const AuditFindings findings = analyse(day.notes);
    if (findings.crisis.score) scored.emplace_back(*findings.crisis.score, &day);
  }
  const auto count = [&](int from, int to, auto wanted) {
    return std::count_if(scored.begin(), scored.end(), [&](const auto& each) {
      return from <= each.first && each.first < to && wanted(*each.second);
    });
  };
  const auto is_crisis = [](const LabelledDay& day) { return day.crisis; };
  const auto is_calm = [](const LabelledDay& day) { return !day.crisis && day.risk_max < kAlarm; };
  const auto is_day = [](const LabelledDay&) { return true; };
  std::string out =
      "| score from | crisis days at or above | false alarms at or above | days up to the next "
      "score "
      "| crisis among these |\n|---|---|---|---|---|\n";
  for (int mark = -1000; mark <= 1000; mark += 200) {
    const int low = mark == -1000 ? kScoreLowest : mark;
    const int next = mark == 1000 ? kScoreHighest : mark + 200;
    out += "| " + (mark == -1000 ? std::string("any") : std::to_string(mark)) + " | " +
           std::to_string(count(low, kScoreHighest, is_crisis)) + " | " +
           std::to_string(count(low, kScoreHighest, is_calm)) + " | " +
           std::to_string(count(low, next, is_day)) + " | " +
           std::to_string(count(low, next, is_crisis)) + " |\n";
  }
  return out;
}

Result<std::vector<std::string>> diary_files(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code failed;
  for (const auto& file : std::filesystem::directory_iterator(folder, failed)) {
    if (file.path().extension() == ".jsonl") files.push_back(file.path().string());
  }
  if (failed || files.empty()) {
    return error(ErrorCode::not_found, "No diaries in '" + folder + "'.");
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<std::string> diary_table(const std::string& folder) {
  BELAY_TRY(const std::vector<std::string> files, diary_files(folder));
  std::string out = "| diary, days at level |";
  for (int level = 0; level <= 10; ++level) out += " " + std::to_string(level) + " |";
  out += "\n|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const std::string& path : files) {
    BELAY_TRY(const std::vector<DiaryDay> days, read_diary(path));
    std::array<int, 11> counts{};
    for (const DiaryDay& day : days) {
      ++counts[static_cast<std::size_t>(analyse(day.notes).risk_level)];
    }
    out += "| " + std::filesystem::path(path).stem().string() + " |";
    for (const int count : counts) out += " " + std::to_string(count) + " |";
    out += "\n";
  }
  return out;
}

// Snowball's stemmer of one language. A person reviews the words that it considers alike.
class Stemmer {
 public:
  explicit Stemmer(Language language)
      : stemmer_(sb_stemmer_new(language == Language::es ? "spanish" : "english", "UTF_8"),
                 &sb_stemmer_delete) {
    BELAY_ASSERT(stemmer_ != nullptr);
  }

  std::string stem(std::string_view word) {
    const auto* bytes = reinterpret_cast<const sb_symbol*>(word.data());
    const sb_symbol* stem = sb_stemmer_stem(stemmer_.get(), bytes, static_cast<int>(word.size()));
    if (stem == nullptr) return std::string(word);
    const auto length = static_cast<std::size_t>(sb_stemmer_length(stemmer_.get()));
    return std::string(reinterpret_cast<const char*>(stem), length);
  }

 private:
  std::unique_ptr<sb_stemmer, decltype(&sb_stemmer_delete)> stemmer_;
};

using Vocabulary = std::map<Language, std::set<std::string>>;

void add_words(const std::string& note, Vocabulary& vocabulary) {
  const Words words = words_of(readable(note));
  const Language language = winner(count_votes(words));
  if (language == Language::unknown) return;
  vocabulary[language].insert(words.vocabulary.begin(), words.vocabulary.end());
}

std::string joined(const std::set<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

// Returns the listed words by their stem.
std::multimap<std::string, std::string> stems_of(const Lexicon& lexicon, Stemmer& stemmer) {
  std::multimap<std::string, std::string> stems;
  for (const ListedWord& listed : lexicon.words()) {
    if (!listed.exact) stems.emplace(stemmer.stem(listed.folded), listed.folded);
  }
  return stems;
}

// Returns the line of the word if it matches listed words only in another form, otherwise an empty
// text.
std::string line_of(const Lexicon& lexicon, const std::multimap<std::string, std::string>& stems,
                    Stemmer& stemmer, const std::string& word) {
  std::set<std::string> forms;
  for (const std::int32_t number : lexicon.numbers_of(word)) {
    forms.insert(lexicon.words()[static_cast<std::size_t>(number)].folded);
  }
  if (forms.contains(word)) return "";
  const std::string start = std::string(name_of(lexicon.language())) + "\t";
  if (!forms.empty()) return start + "form\t" + word + "\t" + joined(forms) + "\n";
  std::set<std::string> others;
  const auto [first, last] = stems.equal_range(stemmer.stem(word));
  for (auto each = first; each != last; ++each) others.insert(each->second);
  if (others.empty()) return "";
  return start + "stem\t" + word + "\t" + joined(others) + "\n";
}

}  // namespace

Result<std::vector<DiaryDay>> read_diary(const std::string& path) {
  BELAY_TRY(const std::vector<Value> lines, read_lines(path));
  std::vector<DiaryDay> days;
  for (const Value& line : lines) {
    const std::string date = text_of(line["date"]);
    if (days.empty() || days.back().date != date) days.push_back({date, {}});
    days.back().notes.push_back(text_of(line["content"]));
  }
  return days;
}

Result<std::string> lexicon_forms(const FigurePaths& paths) {
  Vocabulary vocabulary;
  BELAY_TRY(const std::vector<LabelledDay> days, read_labelled(paths.labelled));
  for (const LabelledDay& day : days) {
    for (const std::string& note : day.notes) add_words(note, vocabulary);
  }
  BELAY_TRY(const std::vector<std::string> files, diary_files(paths.diaries));
  for (const std::string& path : files) {
    BELAY_TRY(const std::vector<DiaryDay> diary, read_diary(path));
    for (const DiaryDay& day : diary) {
      for (const std::string& note : day.notes) add_words(note, vocabulary);
    }
  }
  std::string out;
  for (const auto& [language, words] : vocabulary) {
    const Lexicon& lexicon = lexicon_of(language);
    Stemmer stemmer(language);
    const auto stems = stems_of(lexicon, stemmer);
    for (const std::string& word : words) out += line_of(lexicon, stems, stemmer, word);
  }
  return out;
}

Result<AlarmCounts> alarm_counts(const std::string& labelled) {
  BELAY_TRY(const std::vector<LabelledDay> days, read_labelled(labelled));
  Score score;
  for (const LabelledDay& day : days) score.add(day, analyse(day.notes));
  return AlarmCounts{score.crisis, score.crisis_found, score.calm, score.false_alarms};
}

Result<std::string> figures_markdown(const FigurePaths& paths) {
  BELAY_TRY(const std::vector<LabelledDay> days, read_labelled(paths.labelled));
  BELAY_TRY(const std::string diaries, diary_table(paths.diaries));
  return labelled_table(days) + "\n" + classifier_tables(days) + "\n" + diaries;
}

}  // namespace belay::rules
