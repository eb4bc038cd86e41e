#pragma once
// agents/research/report/analysis_document.h - everything that a report of one analysis contains.

#include <string>
#include <vector>

#include "agents/research/finance/figure.h"

namespace belay::research {

// A declared assumption, as it was used. `name` is that of inputs with concept "config:NAME".
struct ReportConstant {
  std::string name;
  double value = 0;
  bool overridden = false;  // by the configuration; otherwise the default
};

// A quote of a sentence of a model: verbatim from the filing.
struct ReportQuote {
  std::string item;          // "1A"
  std::uint64_t offset = 0;  // in bytes
  std::string text;
};

// The prose of a subtask.
struct ReportText {
  std::string specialist;
  std::string subtask;
  std::string text;                      // paragraphs are separated by empty lines
  bool extractive = true;                // sentences of the filing
  std::string model = {};                // "PROVIDER/MODEL"; empty if extractive
  std::vector<ReportQuote> quotes = {};  // empty if extractive
};

// A specialist without a complete deliverable.
struct ReportFailure {
  std::string specialist;
  std::string reason;
};

// A filing that was read.
struct ReportSource {
  std::string accn;
  std::string form;
  std::string filed;     // YYYY-MM-DD
  std::string cik = {};  // of the filer; empty: the company of the report
};

// The input of markdown_report() and html_report(). All texts may be hostile: they are escaped and
// cut, and bytes that are not UTF-8 are replaced. No order is needed, except where it is named.
struct AnalysisDocument {
  std::string analysis_id;
  std::string ticker;
  std::string entity_name;
  std::string cik;  // with or without leading zeros; EDGAR links need it
  std::string as_of;
  std::string currency;                   // ISO code of the statements
  std::vector<std::string> fiscal_years;  // ends of the reported years, the oldest first
  std::vector<std::string> peers;         // tickers
  std::vector<ReportConstant> constants;
  // Metrics of one subtask are shown in the order of their first occurrence here.
  Results results;
  std::vector<ReportText> texts;
  std::string generated_at;  // ISO 8601
  std::vector<ReportFailure> failures;
  // Filings that inputs name but that are not in this list are added. Filings of peers need their
  // `cik` here; without it their accession numbers are shown without a link.
  std::vector<ReportSource> sources;
  // The facts come from a bundled file, which lacks tags that EDGAR has. The report names them.
  bool reduced_facts = false;
};

}  // namespace belay::research
