#include "agents/research/edgar/submissions.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "agents/research/filings/company_facts.h"
#include "belay/value.h"

namespace belay::research {
namespace {

constexpr std::size_t kDocumentNameBytesMax = 200;
constexpr std::string_view kAccessionShape = "##########-##-######";
constexpr std::string_view kOlderShape = "CIK##########-submissions-###.json";

// Returns whether `text` has a digit for each '#' of `shape`, and else its characters.
bool has_shape(std::string_view text, std::string_view shape) {
  return text.size() == shape.size() &&
         std::equal(text.begin(), text.end(), shape.begin(), [](char c, char expected) {
           return expected == '#' ? c >= '0' && c <= '9' : c == expected;
         });
}

bool is_safe_name(std::string_view name) {
  return !name.empty() && name.size() <= kDocumentNameBytesMax && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '-' || c == '_';
         });
}

// A column of the list: one entry per filing. Shorter and missing columns have empty entries.
class TextColumn {
 public:
  TextColumn(const Value& columns, std::string_view name) : items_(columns[name].as_array()) {}
  std::size_t size() const { return items_ ? items_->size() : 0; }
  std::string_view at(std::size_t index) const {
    const std::string* text = index < size() ? (*items_)[index].as_string() : nullptr;
    return text ? std::string_view(*text) : std::string_view();
  }

 private:
  const Value::Array* items_;
};

void read_filings(const Value& columns, Submissions& found) {
  TextColumn accessions(columns, "accessionNumber");
  TextColumn forms(columns, "form");
  TextColumn dates(columns, "filingDate");
  TextColumn documents(columns, "primaryDocument");
  for (std::size_t i = 0; i < accessions.size(); ++i) {
    std::string_view form = forms.at(i);
    if (!is_annual_form(form) || is_amended_annual(form)) continue;
    std::optional<Date> filed = Date::parse(dates.at(i));
    std::string_view document = documents.at(i);
    bool is_usable = filed && has_shape(accessions.at(i), kAccessionShape) &&
                     (document.empty() || is_safe_name(document));
    if (is_usable) {
      found.filings.push_back(
          {std::string(accessions.at(i)), std::string(form), *filed, std::string(document)});
    } else {
      ++found.malformed;
    }
  }
}

void read_older(const Value& files, Submissions& found) {
  const Value::Array* entries = files.as_array();
  if (!entries) return;
  for (const Value& entry : *entries) {
    const std::string* name = entry["name"].as_string();
    const std::string* from = entry["filingFrom"].as_string();
    const std::string* to = entry["filingTo"].as_string();
    std::optional<Date> first = from ? Date::parse(*from) : std::nullopt;
    std::optional<Date> last = to ? Date::parse(*to) : std::nullopt;
    if (name && has_shape(*name, kOlderShape) && first && last) {
      found.older.push_back({*name, *first, *last});
    } else {
      ++found.malformed;
    }
  }
}

}  // namespace

Result<Submissions> parse_submissions(std::string_view text) {
  BELAY_TRY(Value json, parse_json(text));
  const Value* filings = json.find("filings");
  const Value& columns = filings ? (*filings)["recent"] : json;
  if (!columns["accessionNumber"].as_array()) {
    return error(ErrorCode::corrupt, "The list of filings has no accession numbers.");
  }
  Submissions found;
  if (const std::string* name = json["name"].as_string()) found.entity = *name;
  read_filings(columns, found);
  if (filings) read_older((*filings)["files"], found);
  std::sort(found.filings.begin(), found.filings.end(),
            [](const AnnualFiling& a, const AnnualFiling& b) {
              return std::tie(a.filed, a.accession) > std::tie(b.filed, b.accession);
            });
  std::sort(found.older.begin(), found.older.end(),
            [](const OlderFilings& a, const OlderFilings& b) {
              return std::tie(a.last, a.name) > std::tie(b.last, b.name);
            });
  return found;
}

std::vector<AnnualFiling> newest_filings(const Submissions& all, std::size_t count, Date until) {
  std::vector<AnnualFiling> newest;
  for (const AnnualFiling& filing : all.filings) {
    if (newest.size() == count) break;
    if (filing.filed <= until) newest.push_back(filing);
  }
  return newest;
}

std::string archive_path(std::string_view cik, const AnnualFiling& filing) {
  cik.remove_prefix(std::min(cik.find_first_not_of('0'), cik.size()));
  std::string folder = filing.accession;
  std::erase(folder, '-');
  return std::string(cik) + "/" + folder + "/" + filing.document;
}

}  // namespace belay::research
