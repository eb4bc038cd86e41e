// Reads a companyfacts file without a document tree: a file of a large filer has some 50 MB with
// hundreds of tags, of which few are used.

#include <algorithm>
#include <array>
#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cmath>

#include "agents/research/filings/company_facts.h"

namespace belay::research {
namespace {

namespace json = boost::json;
using json::error_code;

constexpr double kValueMax = 1e20;
constexpr std::size_t kTextMax = 1'000;  // bytes of a key or text; longer ones are cut off
constexpr std::size_t kCikDigits = 10;

// The place of an entry: {"facts": {TAXONOMY: {TAG: {"units": {UNIT: [{...}]}}}}}.
constexpr std::size_t kEntryDepth = 7;

struct Level {
  bool is_array = false;
  std::string key;  // of the member that is being read
};

struct Entry {
  Fact fact;
  bool has_value = false;
  bool has_end = false;
  bool has_filed = false;
  bool has_accn = false;
  bool has_form = false;
  bool has_wrong_start = false;

  bool exists() const {
    return has_value && has_end && has_filed && has_accn && has_form && !has_wrong_start;
  }
};

bool read_date(std::string_view text, Date& date) {
  std::optional<Date> read = Date::parse(text);
  if (read) date = *read;
  return read.has_value();
}

std::string cik_of(std::string_view text) {
  bool is_number = !text.empty() && text.size() <= kCikDigits &&
                   text.find_first_not_of("0123456789") == std::string_view::npos;
  return is_number ? std::string(kCikDigits - text.size(), '0') + std::string(text) : "";
}

class FactHandler {
 public:
  static constexpr std::size_t max_object_size = -1;
  static constexpr std::size_t max_array_size = -1;
  static constexpr std::size_t max_key_size = -1;
  static constexpr std::size_t max_string_size = -1;

  explicit FactHandler(bool (*is_wanted)(std::string_view)) : is_wanted_(is_wanted) {}

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) { return open(false); }
  bool on_array_begin(error_code&) { return open(true); }
  bool on_object_end(std::size_t, error_code&) { return close(); }
  bool on_array_end(std::size_t, error_code&) { return close(); }
  bool on_key_part(json::string_view part, std::size_t, error_code&) { return append(part); }
  bool on_string_part(json::string_view part, std::size_t, error_code&) { return append(part); }
  bool on_number_part(json::string_view part, error_code&) { return append(part); }
  bool on_comment_part(json::string_view, error_code&) { return true; }
  bool on_comment(json::string_view, error_code&) { return true; }

  bool on_key(json::string_view part, std::size_t, error_code&) {
    append(part);
    levels_.back().key = std::move(text_);
    text_.clear();
    return true;
  }
  bool on_string(json::string_view part, std::size_t, error_code&) {
    append(part);
    take_text();
    text_.clear();
    return true;
  }
  bool on_int64(std::int64_t, json::string_view part, error_code&) { return number(part); }
  bool on_uint64(std::uint64_t, json::string_view part, error_code&) { return number(part); }
  bool on_double(double value, json::string_view part, error_code&) {
    return number(part, std::abs(value) < 1);
  }
  bool on_bool(bool, error_code&) { return other_scalar(); }
  bool on_null(error_code&) { return true; }

  CompanyFacts& facts() { return facts_; }
  bool has_facts() const { return has_facts_; }

 private:
  bool append(json::string_view part) {
    text_.append(part.data(), std::min(part.size(), kTextMax - std::min(kTextMax, text_.size())));
    return true;
  }

  bool open(bool is_array) {
    if (levels_.size() == 1 && levels_.back().key == "facts") has_facts_ = true;
    if (is_in_entry()) other_scalar();  // an entry has no member with members
    levels_.push_back({is_array, {}});
    if (is_in_entry()) entry_ = Entry();
    return true;
  }

  bool close() {
    if (is_in_entry()) add_entry();
    levels_.pop_back();
    return true;
  }

  bool is_in_entry() const {
    constexpr std::array<bool, kEntryDepth> kIsArray = {false, false, false, false,
                                                        false, true,  false};
    if (levels_.size() != kEntryDepth) return false;
    for (std::size_t i = 0; i < kEntryDepth; ++i) {
      if (levels_[i].is_array != kIsArray[i]) return false;
    }
    return levels_[0].key == "facts" && levels_[3].key == "units";
  }

  void take_text() {
    if (levels_.size() == 1 && levels_[0].key == "entityName") facts_.entity_name = text_;
    if (levels_.size() == 1 && levels_[0].key == "cik") facts_.cik = cik_of(text_);
    if (!is_in_entry()) return;
    const std::string& key = levels_.back().key;
    if (key == "end") entry_.has_end = read_date(text_, entry_.fact.end);
    if (key == "filed") entry_.has_filed = read_date(text_, entry_.fact.filed);
    if (key == "start") {
      entry_.fact.start = Date::parse(text_);
      entry_.has_wrong_start = !entry_.fact.start;
    }
    if (key == "accn") {
      entry_.fact.accn = text_;
      entry_.has_accn = true;
    }
    if (key == "form") {
      entry_.fact.form = text_;
      entry_.has_form = true;
    }
    if (key == "val") entry_.has_value = false;
  }

  // A number that is too small for a double is 0, one that is too large does not exist.
  bool number(json::string_view part, bool is_small = false) {
    append(part);
    if (levels_.size() == 1 && levels_[0].key == "cik") facts_.cik = cik_of(text_);
    if (is_in_entry() && levels_.back().key == "val") {
      double value = 0;
      auto [end, code] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
      bool is_read = code == std::errc() || (code == std::errc::result_out_of_range && is_small);
      entry_.has_value =
          is_read && end == text_.data() + text_.size() && std::abs(value) <= kValueMax;
      entry_.fact.value = value;
    } else {
      other_scalar();
    }
    text_.clear();
    return true;
  }

  // A member of an entry with a value of another type.
  bool other_scalar() {
    if (!is_in_entry()) return true;
    const std::string& key = levels_.back().key;
    if (key == "end") entry_.has_end = false;
    if (key == "filed") entry_.has_filed = false;
    if (key == "accn") entry_.has_accn = false;
    if (key == "form") entry_.has_form = false;
    if (key == "val") entry_.has_value = false;
    if (key == "start") entry_.has_wrong_start = true;
    return true;
  }

  void add_entry() {
    if (!entry_.exists()) return;
    Fact& fact = entry_.fact;
    if (!facts_.last_filed || *facts_.last_filed < fact.filed) facts_.last_filed = fact.filed;
    if (is_amended_annual(fact.form)) {
      auto [known, is_new] =
          facts_.amended.emplace(fact.accn, Filing{fact.accn, fact.form, fact.filed});
      if (!is_new) known->second.filed = std::min(known->second.filed, fact.filed);
    }
    std::string tag = levels_[1].key + ":" + levels_[2].key;
    if (is_wanted_(tag)) facts_.facts[tag][levels_[4].key].push_back(std::move(fact));
  }

  bool (*const is_wanted_)(std::string_view);
  std::vector<Level> levels_;
  std::string text_;
  Entry entry_;
  CompanyFacts facts_;
  bool has_facts_ = false;
};

}  // namespace

class CompanyFactsReader::Parser {
 public:
  explicit Parser(bool (*is_wanted)(std::string_view))
      : parser_(json::parse_options(), is_wanted) {}

  bool read(std::string_view part, bool more) {
    if (failure_) return false;
    std::size_t used = parser_.write_some(more, part.data(), part.size(), failure_);
    bytes_ += used;
    if (!failure_ && used < part.size()) failure_ = json::error::extra_data;
    return !failure_;
  }

  CompanyFactsRead finish() {
    read("", false);
    CompanyFactsRead result{std::move(parser_.handler().facts()), {}};
    if (failure_) {
      result.error = "not valid JSON at byte " + std::to_string(bytes_) + ": " + failure_.message();
    } else if (!parser_.handler().has_facts()) {
      result.error = "it has no object \"facts\"";
    }
    return result;
  }

 private:
  json::basic_parser<FactHandler> parser_;
  error_code failure_;
  std::size_t bytes_ = 0;
};

CompanyFactsReader::CompanyFactsReader(bool (*is_wanted)(std::string_view))
    : parser_(std::make_unique<Parser>(is_wanted)) {}
CompanyFactsReader::~CompanyFactsReader() = default;

bool CompanyFactsReader::read(std::string_view part) { return parser_->read(part, true); }
CompanyFactsRead CompanyFactsReader::finish() { return parser_->finish(); }

}  // namespace belay::research
