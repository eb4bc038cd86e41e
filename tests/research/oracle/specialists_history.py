"""Latest figures over several years: sections 6.2, 6.5, 6.6 and 6.9."""
from __future__ import annotations

import math
from typing import Callable, Optional

from formulas import Company
from market import regress
from quantity import (MISSING_INPUT, TOO_LITTLE_HISTORY, Missing, Num, Result, add,
                      apply, clip, divide, number, positive, subtract, total, unit_free)
from sheet import Sheet
from valuation import Valuation

# Components of a score: name, value that gives 0, value that gives 100, weight.
Component = tuple[str, float, float, float]
ALLOCATION: tuple[Component, ...] = (
    ("allocation_roic_spread_3y", -0.05, 0.15, 0.30), ("roi_incremental_5y", 0, 0.30, 0.20),
    ("allocation_cash_conversion_3y", 0.5, 1.2, 0.15),
    ("allocation_payout_to_fcf_3y", 1.5, 0.9, 0.15), ("diluted_share_cagr_3y", 0.05, -0.03, 0.10),
    ("net_debt_to_ebitda", 4, 0, 0.10))
MOAT: tuple[Component, ...] = (
    ("roic_minus_wacc", -0.05, 0.15, 0.35), ("share_of_years_roic_above_wacc", 0, 1, 0.25),
    ("gross_margin_mean_5y", 0.10, 0.60, 0.20), ("operating_margin_sd_5y", 0.10, 0, 0.20))


def weighted_score(components: tuple[Component, ...], find: Callable[[str], Result]) -> Result:
    """W of section 6.2: weighted mean of the available components, each from 0 to 100."""
    score, weights = 0.0, 0.0
    used = []
    for name, low, high, weight in components:
        result = find(name)
        if isinstance(result, Num):
            score += weight * 100 * clip((result.value - low) / (high - low), 0, 1)
            weights += weight
            used.append(result)
    if weights < 0.6:
        return Missing(MISSING_INPUT, "components with less than 0.6 of the weight are available")
    return number(score / weights, *used)


def share_of_years(available: list[tuple[bool, Result]]) -> Result:
    """Share of the years with a true condition; at least 3 years are needed."""
    if len(available) < 3:
        return Missing(TOO_LITTLE_HISTORY, f"{len(available)} of 3 years needed")
    years = [result for _, result in available]
    share = sum(holds for holds, _ in available) / len(available)
    return apply(lambda *_: share, *years)


class HistoryFigures:
    """Adds the latest figures that the formula language does not express."""

    def __init__(self, sheet: Sheet, company: Company, valuation: Valuation) -> None:
        self.sheet = sheet
        self.company = company
        self.valuation = valuation
        self.year_end = company.filer.years[-1].end
        self.found: dict[str, Result] = {}

    def add_all(self) -> None:
        """Adds all figures."""
        self._acquisitions()
        self._figure("strategy.mgmt_compensation", "ceo_total_compensation", "cur", "°",
                     self._ceo_compensation)
        self._execution()
        self._revenue_trend()
        self._excess_returns()
        self._capital_allocation()

    def _figure(self, owner: str, metric: str, unit: str, mark: str,
                compute: Callable[[], Result]) -> None:
        result: Result = self.company.not_applicable()
        if self.company.applies(mark):
            result = compute()
        self.found[metric] = result
        self.sheet.figure(owner, metric, unit, self.year_end, result)

    def _find(self, name: str) -> Result:
        return self.found[name] if name in self.found else self.company.latest(name)

    def _acquisitions(self) -> None:
        owner = "strategy.ma_review"
        years = [(bought, paid) for (_, bought), (_, paid) in
                 zip(self.company.window("acquisitions", 0, 9), self.company.window("cfo", 0, 9))]

        def years_with() -> Result:
            available = [bought for bought, _ in years if isinstance(bought, Num)]
            if len(available) < 3:
                return Missing(TOO_LITTLE_HISTORY, f"{len(available)} of 3 years needed")
            return apply(lambda *values: sum(value > 0 for value in values), *available)

        def to_cfo() -> Result:
            both = [pair for pair in years if all(isinstance(x, Num) for x in pair)]
            if len(both) < 3:
                return Missing(TOO_LITTLE_HISTORY, f"{len(both)} of 3 years needed")
            return divide(total(bought for bought, _ in both),
                          positive(total(paid for _, paid in both)))

        self._figure(owner, "acquisition_years_10y", "count", "°", years_with)
        self._figure(owner, "acquisitions_to_cfo_10y", "ratio", "°", to_cfo)

    def _ceo_compensation(self) -> Result:
        filer, statements = self.company.filer, self.company.statements
        facts = filer.facts.of("ecd", "PeoTotalCompAmt", filer.currency)
        for proxy in (False, True):
            fact = statements.select((f for f in facts if f.is_proxy_form == proxy), "F",
                                     self.company.last)
            if fact is not None:
                return Num(fact.value, (fact.entry,))
        return Missing(MISSING_INPUT, "PeoTotalCompAmt")

    def _execution(self) -> None:
        owner, company = "management_quality.execution_consistency", self.company

        def revenue_grew() -> Result:
            return share_of_years([(x.value > 0, x) for _, x in
                                   company.window("revenue_growth", 0, 9) if isinstance(x, Num)])

        def income_grew() -> Result:
            available: list[tuple[bool, Result]] = []
            for k in range(10):
                index = company.filer.prior(company.last, k) if k else company.last
                if index is None:
                    continue
                now = company.value("operating_income", index)
                before = company.prior("operating_income", index, 1)
                if isinstance(now, Num) and isinstance(before, Num):
                    available.append((now.value > before.value, add(now, before)))
            return share_of_years(available)

        self._figure(owner, "share_of_years_revenue_grew", "ratio", "°", revenue_grew)
        self._figure(owner, "share_of_years_operating_income_grew", "ratio", "", income_grew)

    def _revenue_trend(self) -> None:
        """Least squares of ln(revenue) on -k; k counts the years back."""
        owner = "growth.growth_stability"
        points = [(-float(k), x) for k, x in self.company.window("revenue", 0, 9)
                  if isinstance(x, Num) and x.value > 0]
        growth: Result = Missing(TOO_LITTLE_HISTORY, f"{len(points)} of 5 years needed")
        squared: Result = growth
        if len(points) >= 5:
            line = regress([x for x, _ in points], [math.log(num.value) for _, num in points])
            nums = [num for _, num in points]
            growth = apply(lambda slope, *_: math.exp(slope) - 1, line.slope, *nums)
            squared = apply(lambda square, *_: square, line.r_squared, *nums)
        self._figure(owner, "revenue_trend_growth", "ratio", "°", lambda: growth)
        self._figure(owner, "revenue_trend_r_squared", "ratio", "°", lambda: squared)

    def _excess_returns(self) -> None:
        company, wacc = self.company, self.valuation.result("wacc")

        def years_above() -> Result:
            if isinstance(wacc, Missing):
                return wacc
            return share_of_years([(x.value > wacc.value, add(x, wacc)) for _, x in
                                   company.window("roic", 0, 9) if isinstance(x, Num)])

        owner = "competitive_position.excess_returns"
        self._figure(owner, "roic_minus_wacc", "ratio", "",
                     lambda: subtract(company.latest("roic"), wacc))
        self._figure(owner, "share_of_years_roic_above_wacc", "ratio", "", years_above)
        self._figure("competitive_position.moat_score", "moat_score", "score", "",
                     lambda: weighted_score(MOAT, self._find))

    def _sum_3y(self, first: str, second: Optional[str] = None, sign: int = 1) -> Result:
        """Sum of first, or of first + sign x second, over t, t-1, t-2."""
        terms: list[Result] = []
        for k in range(3):
            term = self.company.prior(first, self.company.last, k)
            if second is not None:
                term = apply(lambda a, b: a + sign * b, term,
                             self.company.prior(second, self.company.last, k))
            terms.append(term)
        return total(terms)

    def _capital_allocation(self) -> None:
        owner, wacc = "strategy.capital_allocation_scoring", self.valuation.result("wacc")
        self._figure(owner, "allocation_roic_spread_3y", "ratio", "",
                     lambda: subtract(divide(self._sum_3y("roic"), unit_free(3)), wacc))
        self._figure(owner, "allocation_cash_conversion_3y", "ratio", "",
                     lambda: divide(self._sum_3y("cfo"), positive(self._sum_3y("net_income"))))
        self._figure(owner, "allocation_payout_to_fcf_3y", "ratio", "",
                     lambda: divide(self._sum_3y("dividends_paid", "buybacks"),
                                    positive(self._sum_3y("cfo", "capex", -1))))
        self._figure(owner, "capital_allocation_score", "score", "",
                     lambda: weighted_score(ALLOCATION, self._find))
