"""A filer's facts: R2 taxonomy, R3 currency, R6 spine, R9 splits, R11 banks."""
from __future__ import annotations

import re
from collections import Counter
from datetime import date
from typing import NamedTuple, Optional

from facts import AnalysisFailed, Fact, FactSet
from items import IFRS, ITEMS, SPLIT_TAGS, US_GAAP

SPLIT_FACTORS = (1.5, 2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 25, 30, 40, 50, 100)
SPLIT_RATIOS = SPLIT_FACTORS + tuple(1 / factor for factor in SPLIT_FACTORS)


class Year(NamedTuple):
    """One fiscal year of the spine."""

    start: date
    end: date


class Evidence(NamedTuple):
    """A pair of facts about one period whose ratio is a split's; in the order of R9."""

    later: date
    earlier: date
    ratio: float


def choose_taxonomy(facts: FactSet) -> str:
    """R2."""
    if facts.of(US_GAAP, "Assets") or not facts.of(IFRS, "Assets"):
        return US_GAAP
    return IFRS


def choose_currency(facts: FactSet, taxonomy: str) -> Optional[str]:
    """R3: the unit of three capitals with most facts; tie: earliest end, then alphabet."""
    counts: Counter[str] = Counter()
    earliest: dict[str, date] = {}
    for item in ("assets", "net_income", "revenue"):
        for tag in ITEMS[item].tags[taxonomy]:
            for fact in facts.of(taxonomy, tag):
                if re.fullmatch(r"[A-Z]{3}", fact.unit):
                    counts[fact.unit] += 1
                    earliest[fact.unit] = min(earliest.get(fact.unit, fact.end), fact.end)
    ranked = sorted(counts, key=lambda unit: (-counts[unit], earliest[unit], unit))
    return ranked[0] if ranked else None


def spine_ends(by_end: dict[date, list[Fact]]) -> list[date]:
    """R6: drops trailing-twelve-month ends, the earliest close pair first."""
    ends = sorted(by_end)
    position = 0
    while position + 1 < len(ends):
        first, second = ends[position], ends[position + 1]
        if (second - first).days >= 350:
            position += 1
            continue

        def weight(end: date) -> tuple[int, int, date]:
            facts = by_end[end]
            return (sum(fact.is_annual_form for fact in facts), len(facts), end)

        ends.remove(min(first, second, key=weight))
        position = 0
    return ends


def most_frequent_start(facts: list[Fact]) -> date:
    """R6: the most frequent start; tie: the earlier."""
    counts = Counter(fact.start for fact in facts if fact.start is not None)
    return min(counts, key=lambda start: (-counts[start], start))


def split_evidence(facts: list[Fact]) -> list[Evidence]:
    """R9: evidence of splits in one tag's facts."""
    groups: dict[tuple[Optional[date], date], list[Fact]] = {}
    for fact in facts:
        groups.setdefault((fact.start, fact.end), []).append(fact)
    found = []
    for group in groups.values():
        group.sort(key=lambda fact: fact.order)
        for a, b in zip(group, group[1:]):
            if a.value <= 0 or b.value <= 0 or a.filed >= b.filed:
                continue
            for ratio in SPLIT_RATIOS:
                if abs(b.value / a.value / ratio - 1) <= 0.01:
                    found.append(Evidence(b.filed, a.filed, ratio))
    return found


def split_events(evidence: list[Evidence]) -> list[tuple[date, float]]:
    """R9: per ratio, evidence that reaches back before the last event belongs to that event."""
    events: list[tuple[date, float]] = []
    last: dict[float, date] = {}
    for item in sorted(evidence):
        if item.ratio in last and item.earlier < last[item.ratio]:
            continue
        last[item.ratio] = item.later
        events.append((item.later, item.ratio))
    return events


class Filer:
    """The visible facts of one company with the choices that hold for the whole file."""

    def __init__(self, facts: FactSet, source: str) -> None:
        self.facts = facts
        self.as_of = facts.as_of
        self.taxonomy = choose_taxonomy(facts)
        currency = choose_currency(facts, self.taxonomy)
        if currency is None:
            raise AnalysisFailed(f"{source}: no usable fiscal year: no visible fact of assets, "
                                 "net income or revenue in a currency")
        self.currency = currency
        self.spine_facts = self._spine_facts()
        self.years = [Year(most_frequent_start(self.spine_facts[end]), end)
                      for end in spine_ends(self.spine_facts)]
        if not self.years:
            raise AnalysisFailed(f"{source}: no usable fiscal year: no annual fact of net income, "
                                 "revenue or operating cash flow")
        self.is_bank = self._is_bank()
        evidence = [item for tag in SPLIT_TAGS[self.taxonomy]
                    for item in split_evidence(self.of(tag, "shares"))]
        self.splits = split_events(evidence)

    def of(self, tag: str, unit: str) -> list[Fact]:
        """Returns the visible facts of a tag of the filer's taxonomy in a unit."""
        return self.facts.of(self.taxonomy, tag, unit)

    def unit_of(self, kind: str) -> str:
        """R3: the unit of facts of an item kind."""
        if kind == "P":
            return self.currency + "/shares"
        return "shares" if kind in ("SF", "SI") else self.currency

    def split_factor(self, filed: date) -> float:
        """R9: product of the splits after the date on which a fact was filed."""
        forward = reverse = 1.0  # products of whole numbers and 1.5 are exact
        for event, ratio in self.splits:
            if event > filed and ratio >= 1:
                forward *= ratio
            elif event > filed:
                reverse *= 1 / ratio
        return forward / reverse

    def prior(self, index: int, years: int) -> Optional[int]:
        """R6: the spine year `years` years before the one at `index`, or None."""
        end = self.years[index].end
        near = [(abs((end - year.end).days - 365.25 * years), position)
                for position, year in enumerate(self.years[:index])]
        distance, position = min(near, default=(16.0, -1))
        return position if distance <= 15 else None

    def _spine_facts(self) -> dict[date, list[Fact]]:
        """R6: annual facts, not of proxy forms, of net income, revenue and operating cash flow."""
        by_end: dict[date, list[Fact]] = {}
        for item in ("net_income", "revenue", "cfo"):
            for tag in ITEMS[item].tags[self.taxonomy]:
                for fact in self.of(tag, self.currency):
                    if fact.is_annual and not fact.is_proxy_form:
                        by_end.setdefault(fact.end, []).append(fact)
        return by_end

    def _is_bank(self) -> bool:
        """R11."""
        marks: tuple[str, ...]
        if self.taxonomy == IFRS:
            marks = ("DepositsFromCustomers",)
            current = "CurrentAssets"
        else:
            marks = ("Deposits", "NoninterestIncome", "NoninterestExpense")
            current = "AssetsCurrent"
        has_mark = any(self.of(tag, self.currency) for tag in marks)
        return has_mark and not self.of(current, self.currency)
