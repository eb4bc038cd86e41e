#include "bench/research_companies.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "bench/pages.h"

namespace belay::bench {
namespace {

namespace fs = std::filesystem;

struct Bundled {
  const char* ticker;
  const char* cik;
};
constexpr std::array<Bundled, bundled_companies> bundled = {{{"AAPL", "320193"},
                                                             {"MSFT", "789019"},
                                                             {"GOOGL", "1652044"},
                                                             {"NVDA", "1045810"},
                                                             {"TSLA", "1318605"},
                                                             {"JPM", "19617"},
                                                             {"CAT", "18230"}}};

std::string ten_digits(const std::string& cik) { return std::string(10 - cik.size(), '0') + cik; }
std::string cik_of_copy(std::size_t i) { return std::to_string(9'000'000 + i); }
std::string facts_file(const std::string& cik) { return "edgar/CIK" + ten_digits(cik) + ".json"; }

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) exit_with("Cannot read " + path + ".");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void replace_first(std::string& text, const std::string& what, const std::string& with) {
  std::size_t at = text.find(what);
  if (at == std::string::npos) exit_with("The bundled file has no " + what + ".");
  text.replace(at, what.size(), with);
}

// Creates a data folder without facts.
void create_folder(const std::string& folder) {
  fs::create_directories(folder + "/edgar");
  fs::copy(bundled_folder() + "/prices", folder + "/prices");
  fs::copy(bundled_folder() + "/edgar/10k", folder + "/edgar/10k");
}

// A fact as the SEC writes it, with a value of its number.
std::string fact_text(std::size_t number) {
  std::string year = std::to_string(2010 + number % 14);
  std::string digits = std::to_string(number % 1'000'000);
  std::string accession =
      "0000320193-" + year.substr(2) + "-" + std::string(6 - digits.size(), '0');
  return R"({"start":")" + year + R"(-01-01","end":")" + year + R"(-12-31","val":)" +
         std::to_string(1'000'000 + number) + R"(,"accn":")" + accession + digits + R"(","fy":)" +
         year + R"(,"fp":"FY","form":"10-K","filed":")" + year + R"(-12-31","frame":"CY)" + year +
         R"("})";
}

// Writes a tag with `facts` facts.
void write_tag(std::ostream& file, const std::string& tag, std::size_t facts) {
  file << "\"" << tag << R"(":{"label":"A tag","description":")" << std::string(300, 'd')
       << R"(","units":{"USD":[)";
  for (std::size_t i = 0; i < facts; ++i) file << (i == 0 ? "" : ",") << fact_text(i);
  file << "]}},";
}

}  // namespace

StartOptions options_of_analysis(const std::string& id) {
  StartOptions options;
  options.user = research_owner;
  options.thread = ThreadId(id);
  options.run.require_approval = false;
  return options;
}

std::string bundled_folder() { return BELAY_SOURCE_DIR "/agents/research/data"; }

std::string ticker_of(std::size_t i) { return bundled[i % bundled.size()].ticker; }

CompanyCopies::CompanyCopies(std::string folder, std::size_t count)
    : folder_(std::move(folder)), count_(count) {
  create_folder(folder_);
  for (std::size_t i = 0; i < count_; ++i) {
    const Bundled& original = bundled[i % bundled.size()];
    std::string text = text_of(bundled_folder() + "/" + facts_file(original.cik));
    replace_first(text, std::string("\"cik\":") + original.cik, "\"cik\":" + cik_of_copy(i));
    std::ofstream(folder_ + "/" + facts_file(cik_of_copy(i)), std::ios::binary) << text;
  }
}

research::Analysis CompanyCopies::order(std::size_t i) const {
  research::Analysis analysis;
  analysis.request.ticker = ticker_of(i);
  analysis.request.ciks[analysis.request.ticker] = cik_of_copy(i);
  return analysis;
}

void write_large_facts(const std::string& folder, std::size_t bytes, Excess excess) {
  create_folder(folder);
  std::string path = folder + "/" + facts_file(bundled.front().cik);
  std::string text = text_of(bundled_folder() + "/" + facts_file(bundled.front().cik));
  const std::string begin = "\"us-gaap\":{";
  std::size_t at = text.find(begin);
  if (at == std::string::npos) exit_with("The bundled file has no us-gaap facts.");
  at += begin.size();
  std::ofstream file(path, std::ios::binary);
  file << text.substr(0, at);
  constexpr std::size_t facts_of_tag = 250;
  const std::size_t facts = (bytes - std::min(bytes, text.size())) / fact_text(0).size();
  if (excess == Excess::used_tags) write_tag(file, "Revenues", facts);
  for (std::size_t i = 0; excess == Excess::unused_tags && i < facts; i += facts_of_tag) {
    write_tag(file, "UnusedTag" + std::to_string(i), facts_of_tag);
  }
  file << text.substr(at);
  if (!file.flush()) exit_with("Cannot write " + path + ".");
}

}  // namespace belay::bench
