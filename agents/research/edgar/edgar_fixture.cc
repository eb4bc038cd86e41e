#include "agents/research/edgar/edgar_fixture.h"

#include <fstream>
#include <iterator>

namespace belay::research {

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string bundled_folder() { return BELAY_SOURCE_DIR "/agents/research/data"; }

std::string bundled_file(const std::string& name) {
  return contents_of(bundled_folder() + "/edgar/" + name);
}

std::string sample_submissions() {
  return R"({"cik":"0000320193","name":"Apple Inc.","filings":{"recent":{
    "accessionNumber":["0000320193-25-000008","0000320193-24-000130","0000320193-24-000123",
                       "0000320193-23-000106"],
    "filingDate":["2025-01-31","2024-12-02","2024-11-01","2023-11-03"],
    "reportDate":["2024-12-28","2024-09-28","2024-09-28","2023-09-30"],
    "form":["10-Q","10-K/A","10-K","10-K"],
    "primaryDocument":["aapl-20241228.htm","aapl-a.htm","aapl-20240928.htm","aapl-20230930.htm"]},
   "files":[{"name":"CIK0000320193-submissions-001.json","filingCount":1,
             "filingFrom":"1994-01-26","filingTo":"2015-07-28"}]}})";
}

std::string sample_tickers() {
  return R"({"0":{"cik_str":1045810,"ticker":"NVDA","title":"NVIDIA CORP"},
    "1":{"cik_str":320193,"ticker":"AAPL","title":"Apple Inc."},
    "2":{"cik_str":1067983,"ticker":"BRK-B","title":"BERKSHIRE HATHAWAY INC"}})";
}

std::string sample_html() {
  return "<html><head><title>aapl-20240928</title></head><body><div style=\"display:none\">"
         "<ix:header><ix:hidden>false</ix:hidden></ix:header></div>"
         "<div>Item 1.&#160;&#160;&#160;&#160;Business</div><div>Apple designs phones.</div>"
         "<div>Item 1A.&#160;&#160;&#160;&#160;Risk Factors</div>"
         "<div>There are many risks.</div></body></html>";
}

void give_apple(FakeEdgar& edgar) {
  edgar.has(kTickersPath, {"200 OK", sample_tickers(), "ETag: \"t1\"\r\n"});
  edgar.has(kFactsPath, {"200 OK", bundled_file("CIK0000320193.json"),
                         "ETag: \"f1\"\r\nLast-Modified: Fri, 30 Jan 2026 11:00:00 GMT\r\n"});
  edgar.has(kSubmissionsPath, {"200 OK", sample_submissions(), "ETag: \"s1\"\r\n"});
  edgar.has(kDocumentPath, {"200 OK", sample_html(), "ETag: \"d1\"\r\n"});
}

std::shared_ptr<HttpAccess> http_for(const FakeEdgar& edgar) {
  return open_http(edgar_policy({edgar.url(), edgar.url()}).value()).value();
}

EdgarOptions quick_options() {
  EdgarOptions options;
  options.user_agent = kDeclaredAgent;
  options.interval = std::chrono::milliseconds(1);
  options.retry.base = std::chrono::milliseconds(1);
  options.retry.cap = std::chrono::milliseconds(5);
  return options;
}

}  // namespace belay::research
