"""One analysis: reads the data folders, runs all specialists, returns the object of section 1."""
from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any, Optional

from config import count
from facts import AnalysisFailed, Fact, FactSet, read_facts
from filer import Filer
from formulas import Company
from items import ITEMS
from market import Market, MarketView
from metric_table import METRICS
from quantity import Missing, Num
from sheet import Sheet
from specialists_filer import GovernanceFigures, add_peer_figures
from specialists_history import HistoryFigures
from specialists_market import MarketFigures
from specialists_text import TextFigures
from statements import Statements
from text import find_document
from valuation import Valuation

BUNDLED_CIKS = {"AAPL": 320193, "MSFT": 789019, "GOOGL": 1652044, "NVDA": 1045810,
                "TSLA": 1318605, "JPM": 19617, "CAT": 18230}
UNITS = {"F": "cur", "I": "cur", "SF": "shares", "SI": "shares", "P": "cur/shares"}
FLAG_OWNER = "financial.red_flag_detection"
FLAG_YEARS = 3
FLAG_SEVERITY = {
    "receivables_outpace_sales": "medium", "inventory_outpace_sales": "medium",
    "net_loss": "high", "negative_operating_cash_flow": "high", "weak_cash_backing": "medium",
    "high_accruals": "medium", "gross_margin_drop": "medium", "operating_margin_drop": "medium",
    "revenue_decline": "medium", "negative_equity": "high", "low_current_ratio": "medium",
    "high_leverage": "high", "low_interest_coverage": "high", "goodwill_heavy": "low",
    "sbc_heavy": "medium", "dilution": "medium", "unusual_tax_rate": "low",
    "payout_exceeds_fcf": "low"}
# Findings of all reported years: owner, code, severity, metric, comparison, threshold.
THRESHOLDS = (
    ("strategy.ma_review", "large_acquisition", "medium", "acquisitions_to_opening_assets", ">",
     0.10),
    ("strategy.ma_review", "goodwill_decline", "medium", "goodwill_growth", "<", -0.05),
    ("earnings_quality.beneish_m_score", "beneish_above_threshold", "medium", "beneish_m_score",
     ">", -1.78),
    ("earnings_quality.piotroski_f_score", "weak_fundamentals", "medium", "piotroski_f_score",
     "<=", 3),
    ("credit.altman_z_score", "distress_zone", "high", "altman_z_1968", "<", 1.81),
    ("credit.altman_z_score", "distress_zone_book", "high", "altman_z2_1995", "<", 1.10))


def exceeds(value: float, comparison: str, threshold: float) -> bool:
    """Whether a value meets the condition of a finding."""
    if comparison == ">":
        return value > threshold
    return value <= threshold if comparison == "<=" else value < threshold


class Analysis:
    """Figures and findings of one company; `facts` are all of its file, of any date."""

    def __init__(self, ticker: str, facts: list[Fact], source: str, as_of: Optional[date]) -> None:
        if not facts:
            raise AnalysisFailed(f"{source}: no usable fiscal year: the file has no usable fact")
        self.ticker = ticker
        self.as_of = as_of or max(fact.filed for fact in facts)
        self.company = Company(Statements(Filer(FactSet(facts, self.as_of), source)))
        self.filer = self.company.filer
        self.sheet = Sheet(self.filer.currency)
        self.first = max(0, len(self.filer.years) - count("figure_years"))
        self.reported = range(self.first, len(self.filer.years))

    def run(self, market: Market, folders: list[Path], peers: list[Company]) -> dict[str, Any]:
        """Runs all specialists and returns the object of section 1."""
        view = MarketView(market, self.as_of)
        market_figures = MarketFigures(self.sheet, self.company, view, self.ticker, self.as_of)
        valuation = Valuation(self.company, view, market_figures.beta["beta_adjusted"].result)
        self._items()
        self._formulas()
        self._flags()
        self._thresholds()
        add_peer_figures(self.sheet, self.company, peers)
        market_figures.add_all()
        self._valuation(valuation)
        HistoryFigures(self.sheet, self.company, valuation).add_all()
        TextFigures(self.sheet, self.company,
                    find_document(folders, self.ticker, self.as_of)).add_all()
        GovernanceFigures(self.sheet, self.company).add_all()
        return {"ticker": self.ticker, "as_of": self.as_of.isoformat(),
                "currency": self.filer.currency,
                "fiscal_years": [self.filer.years[index].end.isoformat()
                                 for index in self.reported],
                "figures": list(self.sheet.figures.values()),
                "findings": list(self.sheet.findings.values())}

    def _end(self, index: int) -> date:
        return self.filer.years[index].end

    def _items(self) -> None:
        owner = "financial.10k_parsing"
        for index in self.reported:
            from_proxy = False
            for name, item in ITEMS.items():
                result = self.company.value(name, index)
                self.sheet.figure(owner, name, UNITS[item.kind], self._end(index), result)
                if isinstance(result, Num):
                    from_proxy |= any((entry.form or "").startswith(("DEF", "PRE"))
                                      for entry in result.inputs)
            if from_proxy:
                self.sheet.finding(owner, "value_from_proxy", "low", self._end(index))

    def _formulas(self) -> None:
        for metric in METRICS.values():
            if metric.name.startswith("flag_"):
                continue
            owner = f"{metric.specialist}.{metric.subtask}"
            for index in [self.company.last] if metric.latest else self.reported:
                self.sheet.figure(owner, metric.name, metric.unit, self._end(index),
                                  self.company.value(metric.name, index))

    def _flags(self) -> None:
        for index in self.reported[-FLAG_YEARS:]:
            available = 0
            raised = 0.0
            for code, severity in FLAG_SEVERITY.items():
                result = self.company.value("flag_" + code, index)
                self.sheet.figure(FLAG_OWNER, "flag_" + code, "count", self._end(index), result)
                if isinstance(result, Missing):
                    continue
                available += 1
                raised += result.value
                if result.value == 1:
                    self.sheet.finding(FLAG_OWNER, code, severity, self._end(index))
            for name, value in (("red_flag_count", raised), ("red_flags_evaluated", available)):
                self.sheet.figure(FLAG_OWNER, name, "count", self._end(index), Num(float(value)))

    def _thresholds(self) -> None:
        for owner, code, severity, metric, comparison, threshold in THRESHOLDS:
            for index in self.reported:
                result = self.company.value(metric, index)
                if isinstance(result, Num) and exceeds(result.value, comparison, threshold):
                    self.sheet.finding(owner, code, severity, self._end(index))

    def _valuation(self, valuation: Valuation) -> None:
        end = self._end(self.company.last)
        for name, (subtask, unit, result) in valuation.figures.items():
            self.sheet.figure("valuation." + subtask, name, unit, end, result)
        if isinstance(valuation.result("wacc"), Missing):
            return
        for code in valuation.defaults:
            self.sheet.finding("valuation.wacc_calculation", code, "low", end)
        if isinstance(self.company.latest("effective_tax_rate"), Missing):
            self.sheet.finding("valuation.dcf_assumptions", "tax_rate_is_statutory", "low", end)


class Library:
    """The data folders and the known tickers."""

    def __init__(self, folders: list[Path], ciks: dict[str, int]) -> None:
        self.folders = folders
        self.ciks = {**BUNDLED_CIKS, **ciks}
        self.market = Market(folders)

    def facts_path(self, ticker: str) -> Path:
        """The companyfacts file of a ticker; the later folder wins."""
        if ticker not in self.ciks:
            raise AnalysisFailed(f"unknown ticker {ticker}: give its CIK with --cik {ticker}=CIK")
        name = f"CIK{self.ciks[ticker]:010d}.json"
        paths = [folder / "edgar" / name for folder in self.folders]
        found = [path for path in paths if path.is_file()]
        if not found:
            raise AnalysisFailed(f"{name}: the file of {ticker} is in no data folder")
        return found[-1]

    def peer(self, ticker: str, as_of: date) -> Optional[Company]:
        """A peer's statements, or None when its file has no usable fiscal year."""
        if ticker not in self.ciks:
            raise AnalysisFailed(f"unknown ticker {ticker}: give its CIK with --cik {ticker}=CIK")
        try:
            path = self.facts_path(ticker)
            facts = read_facts(path, self.ciks[ticker])
            return Company(Statements(Filer(FactSet(facts, as_of), str(path))))
        except AnalysisFailed:
            return None

    def analyze(self, ticker: str, peers: list[str], as_of: Optional[date]) -> dict[str, Any]:
        """Returns the analysis of a ticker, or fails with AnalysisFailed."""
        path = self.facts_path(ticker)
        facts = read_facts(path, self.ciks[ticker])
        analysis = Analysis(ticker, facts, str(path), as_of)
        companies = [self.peer(peer, analysis.as_of) for peer in dict.fromkeys(peers)]
        return analysis.run(self.market, self.folders,
                            [company for company in companies if company is not None])
