"""Peers (section 6.1) and governance (section 6.13)."""
from __future__ import annotations

from typing import Optional

from config import count, limit
from facts import Fact
from formulas import Company
from items import ITEMS
from metric_table import METRICS
from quantity import MISSING_INPUT, NO_PEERS, Input, Missing, Num, Result, apply
from sheet import Sheet

PEER_METRICS = ("gross_margin", "operating_margin", "net_margin", "return_on_equity", "roic",
                "fcf_margin", "asset_turnover", "current_ratio", "debt_to_equity", "revenue_growth")
RESTATED = ("revenue", "gross_profit", "operating_income", "net_income", "assets", "liabilities",
            "equity", "cfo")


def median(*values: float) -> float:
    """The middle value, or the mean of the middle two."""
    ordered = sorted(values)
    half = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[half]
    return (ordered[half - 1] + ordered[half]) / 2


def add_peer_figures(sheet: Sheet, company: Company, peers: list[Company]) -> None:
    """Adds the peer comparison; `peers` are the companies with a usable fiscal year."""
    owner, year_end = "financial.peer_comparison", company.filer.years[-1].end
    as_of = company.filer.as_of
    near = [peer for peer in peers
            if 0 <= (as_of - peer.filer.years[-1].end).days <= count("peer_max_age_days")]
    no_peers = Missing(NO_PEERS, "no peer has a recent fiscal year")
    number_of: Result = no_peers
    if near:
        number_of = Num(float(len(near))) if company.applies("") else company.not_applicable()
    sheet.figure(owner, "peer_count", "count", year_end, number_of)
    for name in PEER_METRICS:
        subject = company.latest(name)
        others = [x for x in (peer.latest(name) for peer in near) if isinstance(x, Num)]
        figures: dict[str, Result] = {}
        if near and isinstance(subject, Num) and others:
            figures = {
                "median": apply(median, *others),
                "rank": apply(lambda x, *ys: 1 + sum(y > x for y in ys), subject, *others),
                "percentile": apply(lambda x, *ys: (sum(y < x for y in ys)
                                                    + 0.5 * sum(y == x for y in ys)) / len(ys),
                                    subject, *others)}
        reason = subject if near and isinstance(subject, Missing) else no_peers
        for kind, unit in (("median", METRICS[name].unit), ("rank", "count"),
                           ("percentile", "ratio")):
            sheet.figure(owner, f"peer_{kind}_{name}", unit, year_end, figures.get(kind, reason))


class GovernanceFigures:
    """Adds filing timeliness, restatements and the split factor; text is elsewhere."""

    def __init__(self, sheet: Sheet, company: Company) -> None:
        self.sheet = sheet
        self.company = company
        self.filer = company.filer
        self.statements = company.statements

    def add_all(self) -> None:
        """Adds the figures and the finding `restated`."""
        first = max(0, len(self.filer.years) - count("figure_years"))
        for index in range(first, len(self.filer.years)):
            end = self.filer.years[index].end
            self.sheet.figure("governance.filing_timeliness", "days_to_annual_filing", "days", end,
                              self._days_to_filing(index))
            restated = self._restated_items(index)
            self.sheet.figure("governance.restatements", "restated_items", "count", end, restated)
            if isinstance(restated, Num) and restated.value > 0:
                self.sheet.finding("governance.restatements", "restated", "medium", end)
            self.sheet.figure("governance.share_structure", "split_factor_applied", "ratio", end,
                              self._split_factor(index))
        amended = {fact.accn for fact in self.filer.facts.all
                   if fact.is_annual_form and fact.form.endswith("/A")}
        self.sheet.figure("governance.restatements", "amended_annual_filings", "count",
                          self.filer.years[-1].end, Num(float(len(amended))))

    def _days_to_filing(self, index: int) -> Result:
        end = self.filer.years[index].end
        facts = [fact for fact in self.filer.spine_facts[end] if fact.is_annual_form]
        if not facts:
            return Missing(MISSING_INPUT, "no annual filing of that year")
        earliest = min(facts, key=lambda fact: fact.order)
        days = (earliest.filed - end).days
        if days > limit("filing_max_days"):
            return Missing(MISSING_INPUT, "the original filing is not in the file")
        return Num(float(days), (Input("filing", None, end.isoformat(), float(days), earliest.accn,
                                       earliest.form, earliest.filed.isoformat()),))

    def _restated_items(self, index: int) -> Result:
        differing: list[Input] = []
        seen, number = False, 0
        for name in RESTATED:
            facts = self._annual_form_facts(name, index)
            if facts is None:
                continue
            seen = True
            first = min(facts, key=lambda fact: fact.order)
            last = max(facts, key=lambda fact: fact.order)
            larger = max(abs(first.value), abs(last.value))
            if (first.accn != last.accn
                    and abs(first.value - last.value) > limit("restatement_tolerance") * larger):
                number += 1
                differing += [first.entry, last.entry]
        if not seen:
            return Missing(MISSING_INPUT, "no fact of an annual form")
        return Num(float(number), tuple(dict.fromkeys(differing)))

    def _annual_form_facts(self, name: str, index: int) -> Optional[list[Fact]]:
        """Facts of annual forms for a year, of the item's first tag that has any."""
        item = ITEMS[name]
        unit = self.filer.unit_of(item.kind)
        for tag in item.tags[self.filer.taxonomy]:
            annual = [fact for fact in self.filer.of(tag, unit) if fact.is_annual_form]
            found = self.statements.candidates(annual, item.kind, self.filer.years[index])
            if found:
                return found
        return None

    def _split_factor(self, index: int) -> Result:
        fact = self.statements.shares_fact(index)
        if fact is None:
            return Missing(MISSING_INPUT, "shares_outstanding")
        return Num(self.filer.split_factor(fact.filed), (fact.entry,))
