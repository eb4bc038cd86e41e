"""Companies from scratch: fiscal calendars, statements, and the filings that repeat them."""
from __future__ import annotations

import calendar
import random
from datetime import date, timedelta
from typing import Optional

from entries import IFRS, US_GAAP, Entry, accession, later
from items import ITEMS

PER_SHARE = ("eps_basic", "eps_diluted", "dividends_per_share")
SHARES = ("shares_basic", "shares_diluted", "shares_outstanding")
BANK_ITEMS = ("net_interest_income", "noninterest_income", "noninterest_expense",
              "credit_loss_provision", "deposits")
NOT_OF_BANKS = ("current_assets", "current_liabilities", "cost_of_revenue", "gross_profit",
                "inventory", "receivables", "payables")
# Tags that are parts of items, with the item whose values they have, and its share of them.
PARTS = {
    US_GAAP: (("SellingAndMarketingExpense", "sga", 0.6), ("GeneralAndAdministrativeExpense",
              "sga", 0.4), ("DepreciationAmortizationAndAccretionNet", "depreciation", 1.3),
              ("DepreciationAndAmortization", "depreciation", 1.2),
              ("DepreciationDepletionAndAmortization", "depreciation", 1.25),
              ("LongTermDebtAndCapitalLeaseObligationsCurrent", "long_term_debt", 0.1),
              ("DebtCurrent", "long_term_debt", 0.2), ("LongTermDebtCurrent", "long_term_debt",
              0.12), ("ShortTermBorrowings", "long_term_debt", 0.05),
              ("CommercialPaper", "long_term_debt", 0.12),
              ("CommonStockSharesIssued", "shares_outstanding", 1.1)),
    IFRS: (("SellingExpense", "sga", 0.6), ("GeneralAndAdministrativeExpense", "sga", 0.4),
           ("DepreciationAndAmortisationExpense", "depreciation", 1.2),
           ("LongtermBorrowings", "long_term_debt", 0.8),
           ("NoncurrentPortionOfNoncurrentBondsIssued", "long_term_debt", 0.2),
           ("ShorttermBorrowings", "long_term_debt", 0.1),
           ("CurrentPortionOfLongtermBorrowings", "long_term_debt", 0.15),
           ("CurrentBondsIssuedAndCurrentPortionOfNoncurrentBondsIssued", "long_term_debt", 0.05),
           ("NumberOfSharesIssued", "shares_outstanding", 1.1))}
SHARE_OF_REVENUE = {
    "cost_of_revenue": 0.55, "gross_profit": 0.45, "research_and_development": 0.1, "sga": 0.15,
    "operating_income": 0.18, "interest_expense": 0.02, "pretax_income": 0.17, "income_tax": 0.04,
    "net_income": 0.13, "depreciation": 0.05, "amortization_intangibles": 0.01,
    "share_based_compensation": 0.03, "cfo": 0.2, "cfi": -0.1, "cff": -0.08, "capex": 0.07,
    "dividends_paid": 0.02, "buybacks": 0.05, "acquisitions": 0.03, "income_taxes_paid": 0.03,
    "net_interest_income": 0.5, "noninterest_income": 0.4, "noninterest_expense": 0.6,
    "credit_loss_provision": 0.05, "assets": 1.3, "current_assets": 0.6, "cash": 0.2,
    "short_term_investments": 0.1, "receivables": 0.12, "inventory": 0.08, "ppe": 0.4,
    "goodwill": 0.15, "intangibles": 0.06, "liabilities": 0.7, "current_liabilities": 0.35,
    "payables": 0.09, "deferred_revenue": 0.05, "long_term_debt": 0.25, "minority_interest": 0.01,
    "equity": 0.58, "equity_total": 0.59, "retained_earnings": 0.3, "deposits": 0.9}


def month_end(year: int, month: int) -> date:
    """The last day of a month; months beyond 12 are of the next year."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return date(year, month, calendar.monthrange(year, month)[1])


def fiscal_ends(rng: random.Random) -> list[date]:
    """Ends of the fiscal years, and sometimes of a transition period."""
    first = rng.randrange(2006, 2019)
    last = rng.randrange(first + rng.choice((0, 1, 3, 6, 9)), first + 16)
    month = rng.choice((1, 1, 3, 6, 6, 9, 9, 10, 12, 12))
    ends = [month_end(year, month) for year in range(first, min(last, 2024) + 1)]
    kind = rng.randrange(6)
    if kind <= 1:  # 52/53 weeks: the last Saturday of the month, or the one nearest to its end
        shift = 0 if kind == 0 else 3
        ends = [day - timedelta(days=(day.weekday() - 5 + shift) % 7 - shift) for day in ends]
    elif kind == 2 and len(ends) > 3:  # the year end moves after one of the years
        at = rng.randrange(1, len(ends) - 1)
        moved = rng.choice((-9, -6, -3, -1, 3, 6))
        before, after = ends[:at + 1], ends[at + 1:]
        ends = before + [month_end(day.year, day.month + moved + (12 if moved < 0 else 0))
                         if moved > 0 else month_end(day.year - 1, day.month + moved + 12)
                         for day in after]
        ends = [day for i, day in enumerate(ends) if i == 0 or day > ends[i - 1]]
    elif kind == 3 and len(ends) > 4:  # a year without filings
        del ends[rng.randrange(1, len(ends) - 1)]
    return ends


class Filer:
    """Draws the facts of one company."""

    def __init__(self, rng: random.Random, kind: str) -> None:
        self.rng = rng
        self.kind = kind
        self.taxonomy = IFRS if kind == "ifrs" else US_GAAP
        self.currency = "USD"
        if kind == "ifrs":
            self.currency = rng.choice(("JPY", "EUR", "TWD", "CHF", "USD"))
        self.annual_form = rng.choice(("20-F", "20-F", "40-F")) if kind == "ifrs" else "10-K"
        self.other_form = "6-K" if kind == "ifrs" else "10-Q"
        self.ends = fiscal_ends(rng)
        self.splits = self._splits()
        self.values: dict[tuple[str, date], float] = {}
        self.present = self._present_items()
        self.parts = [part for part in PARTS[self.taxonomy] if rng.random() < 0.3]
        self.entries: list[Entry] = []
        self._draw_values()

    def _splits(self) -> list[tuple[date, float]]:
        factors = (2, 3, 4, 7, 10, 1.5, 20, 0.1, 0.05, 1 / 8, 2, 5)
        number = self.rng.choice((0, 0, 1, 1, 2, 3))
        first, last = self.ends[0], later(self.ends[-1], 400)
        days = max((last - first).days, 1)
        return sorted((later(first, self.rng.randrange(days)), self.rng.choice(factors))
                      for _ in range(number))

    def _present_items(self) -> dict[str, list[str]]:
        """The tags that the company uses for an item, in the order of their use."""
        present = {}
        for name, item in ITEMS.items():
            tags = list(item.tags[self.taxonomy])
            if not tags or (self.kind == "bank" and name in NOT_OF_BANKS):
                continue
            if self.kind != "bank" and name in BANK_ITEMS and self.rng.random() < 0.98:
                continue
            needed = name in ("assets", "net_income")
            if needed or self.rng.random() < 0.87:
                self.rng.shuffle(tags)
                present[name] = tags[:self.rng.choice((1, 1, 1, 2, 3))]
        return present

    def _draw_values(self) -> None:
        rng = self.rng
        scale = 10 ** rng.uniform(5.5, 12)
        revenue, shares = scale, scale / 10 ** rng.uniform(0, 1.5)
        loss = rng.random() < 0.25
        sizes = {name: rng.choice((1, 1, 1, 0.2, 3, 8)) for name in SHARE_OF_REVENUE}
        for end in self.ends:
            revenue *= rng.uniform(0.8, 1.35)
            shares *= rng.choice((1.0, rng.uniform(0.96, 1.06)))
            year_loss = loss if rng.random() < 0.8 else not loss
            for name, share in SHARE_OF_REVENUE.items():
                value = revenue * share * sizes[name] * rng.uniform(0.8, 1.25)
                if year_loss and name in ("net_income", "operating_income", "pretax_income", "cfo",
                                          "income_tax") and rng.random() < 0.9:
                    value = -value
                if name in ("equity", "equity_total", "retained_earnings") and loss:
                    value *= rng.choice((1, -0.5))
                self.values[name, end] = float(round(value))
            self.values["revenue", end] = float(round(revenue))
            for name, factor in (("shares_outstanding", 1.0), ("shares_basic", 0.99),
                                 ("shares_diluted", 1.02)):
                self.values[name, end] = shares * factor
            income = self.values["net_income", end]
            self.values["eps_basic", end] = income / (shares * 0.99)
            self.values["eps_diluted", end] = income / (shares * 1.02)
            self.values["dividends_per_share", end] = self.values["dividends_paid", end] / shares
            self._force_identities(end)

    def _force_identities(self, end: date) -> None:
        if self.rng.random() < 0.5:
            value = self.values["revenue", end] - self.values["cost_of_revenue", end]
            self.values["gross_profit", end] = value
        if self.rng.random() < 0.3:
            self.values["minority_interest", end] = 0.0
        if self.kind == "zero_revenue" and self.rng.random() < 0.7:
            self.values["revenue", end] = 0.0

    def value(self, name: str, end: date, filed: date) -> float:
        """A value on the share basis of the filing's date."""
        value = self.values[name, end]
        factor = 1.0
        for day, ratio in self.splits:
            if day <= filed:
                factor *= ratio
        if name in SHARES:
            return float(round(value * factor))
        return round(value / factor, 4) if name in PER_SHARE else value

    def unit(self, name: str) -> str:
        """The unit of an item's facts."""
        if name in SHARES:
            return "shares"
        return self.currency + "/shares" if name in PER_SHARE else self.currency

    def start_of(self, position: int) -> date:
        """The first day of a fiscal year."""
        end = self.ends[position]
        if position > 0 and (end - self.ends[position - 1]).days <= 380:
            return self.ends[position - 1] + timedelta(days=1)
        return end - timedelta(days=364)

    def tag_of(self, name: str, position: int) -> str:
        """The tag of an item in a year: companies change their tags."""
        tags = self.present[name]
        return tags[min(position * len(tags) // len(self.ends), len(tags) - 1)]

    def add(self, tag: str, unit: str, start: Optional[date], end: date, value: float,
            filing: tuple[str, str, date], taxonomy: Optional[str] = None) -> None:
        """Adds one fact of a filing (accession number, form, date)."""
        self.entries.append(Entry(taxonomy or self.taxonomy, tag, unit, start, end, value, *filing))

    def add_year(self, position: int, filing: tuple[str, str, date], balances: bool) -> None:
        """Adds what a filing states about a fiscal year."""
        start, end = self.start_of(position), self.ends[position]
        for name in self.present:
            if self.rng.random() < 0.03:
                continue
            instant = ITEMS[name].kind in ("I", "SI")
            if instant and not balances:
                continue
            self.add(self.tag_of(name, position), self.unit(name), None if instant else start, end,
                     self.value(name, end, filing[2]), filing)
        for tag, name, share in self.parts:
            instant = ITEMS[name].kind in ("I", "SI")
            if (instant and not balances) or self.rng.random() < 0.1:
                continue
            value = float(round(self.value(name, end, filing[2]) * share))
            self.add(tag, self.unit(name), None if instant else start, end, value, filing)

    def add_annual_filing(self, position: int) -> None:
        """Adds a year's annual report, which repeats the two years before."""
        end = self.ends[position]
        filed = later(end, self.rng.choice((25, 45, 60, 60, 75, 90, 118, 200)))
        is_short = position > 0 and (end - self.ends[position - 1]).days < 350
        form = "10-KT" if is_short and self.kind != "ifrs" else self.annual_form
        filing = (accession(self.rng, filed), form, filed)
        for back in range(3):
            if position - back >= 0:
                self.add_year(position - back, filing, back < 2)
        if self.rng.random() < 0.9:
            self.add("EntityPublicFloat", self.currency, None, later(end, -180),
                     float(round(self.values["equity", end] * self.rng.uniform(0.5, 4))), filing,
                     "dei")
        shares = self.value("shares_outstanding", end, filed)
        for share_class in range(self.rng.choice((1, 1, 1, 2))):
            self.add("EntityCommonStockSharesOutstanding", "shares", None, later(filed, -14),
                     float(round(shares / (1 + share_class))), filing, "dei")

    def add_quarters(self, position: int) -> None:
        """Adds the year's other reports: quarters, the year to date, the balances."""
        start = self.start_of(position)
        for quarter in (1, 2, 3):
            end = start + timedelta(days=91 * quarter - 1)
            filed = later(end, self.rng.choice((20, 35, 45)))
            filing = (accession(self.rng, filed), self.other_form, filed)
            for name in self.present:
                instant = ITEMS[name].kind in ("I", "SI")
                value = self.value(name, self.ends[position], filed)
                unit, tag = self.unit(name), self.tag_of(name, position)
                if instant:
                    self.add(tag, unit, None, end, value, filing)
                elif name not in SHARES:
                    self.add(tag, unit, start, end, value * quarter / 4, filing)
                if instant and position > 0 and self.rng.random() < 0.3:
                    before = self.ends[position - 1]
                    self.add(tag, unit, None, before, self.value(name, before, filed), filing)

    def all_entries(self) -> list[Entry]:
        """The facts of all filings."""
        quarters = self.rng.random() < 0.6
        for position in range(len(self.ends)):
            self.add_annual_filing(position)
            if quarters:
                self.add_quarters(position)
        return self.entries
