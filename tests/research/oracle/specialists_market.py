"""Figures of market data: sections 6.2.1 and 6.11."""
from __future__ import annotations

import math
from datetime import date

from formulas import Company, standard_deviation
from market import Dated, MarketView
from quantity import (CURRENCY_MISMATCH, NON_POSITIVE, TOO_LITTLE_HISTORY, Missing, Num, Result,
                      apply)
from sheet import Sheet

NOT_USD = Missing(CURRENCY_MISMATCH, "the statements are not in USD")


class MarketFigures:
    """Adds macro figures, beta, real growth, cycle position and total returns."""

    def __init__(self, sheet: Sheet, company: Company, view: MarketView, ticker: str,
                 as_of: date) -> None:
        self.sheet = sheet
        self.company = company
        self.view = view
        self.ticker = ticker
        self.as_of = as_of
        self.year_end = company.filer.years[-1].end
        self.beta = view.beta(ticker)

    def add_all(self) -> None:
        """Adds all figures of market data."""
        self._macro()
        self._beta()
        self._total_returns()
        self._real_growth()
        self._cycle()

    def _dated(self, owner: str, metric: str, unit: str, dated: Dated, otherwise: date) -> None:
        self.sheet.figure(owner, metric, unit, dated.day or otherwise, dated.result)

    def _macro(self) -> None:
        view, market = self.view, self.view.market
        figures = {
            "risk_free_rate": view.risk_free_rate(),
            "risk_free_rate_change_12m": view.risk_free_rate_change(),
            "cpi_inflation_12m": view.change_12m(market.cpi),
            "sp500_change_12m": view.change_12m(market.sp500),
            "cape": view.last_value(market.cape)}
        for name, dated in figures.items():
            self._dated("industry_macro.macro_context", name, "ratio", dated, self.as_of)

    def _beta(self) -> None:
        for name, dated in self.beta.items():
            unit = "count" if name == "beta_months" else "ratio"
            self._dated("industry_macro.market_sensitivity", name, unit, dated, self.year_end)

    def _total_returns(self) -> None:
        for years in (5, 10):
            names = (f"tsr_{years}y", f"sp500_tsr_{years}y", f"tsr_excess_{years}y")
            for name, dated in zip(names, self.view.total_returns(self.ticker, years)):
                self._dated("strategy.historical_roi", name, "ratio", dated, self.year_end)

    def _real_growth(self) -> None:
        for years in (1, 3, 5):
            self.sheet.figure("industry_macro.real_growth", f"real_revenue_cagr_{years}y", "ratio",
                              self.year_end, self._real_cagr(years))

    def _real_cagr(self, years: int) -> Result:
        """Growth of revenue in constant prices of the months of the two year ends."""
        if self.company.filer.currency != "USD":
            return NOT_USD
        filer = self.company.filer
        earlier = filer.prior(self.company.last, years)
        operands = [self.company.latest("revenue"), self.view.cpi_of(self.year_end),
                    self.company.prior("revenue", self.company.last, years)]
        if earlier is not None:
            operands.append(self.view.cpi_of(filer.years[earlier].end))
        return apply(lambda r, c, r0, c0: math.pow((r / c) / (r0 / c0), 1 / years) - 1, *operands)

    def _cycle(self) -> None:
        marks = {"revenue_growth": "°", "operating_margin": "", "net_margin": "°"}
        for name, mark in marks.items():
            result: Result = self.company.not_applicable()
            if self.company.applies(mark):
                result = self._z_score(name)
            self.sheet.figure("industry_macro.cycle_position", name + "_z", "score", self.year_end,
                              result)

    def _z_score(self, name: str) -> Result:
        """Distance from the mean of the nine earlier years, in standard deviations."""
        now = self.company.latest(name)
        if isinstance(now, Missing):
            return now
        before = [x for _, x in self.company.window(name, 1, 9) if isinstance(x, Num)]
        if len(before) < 4:
            return Missing(TOO_LITTLE_HISTORY, f"{len(before)} of 4 earlier years needed")

        def z_score(x: float, *others: float) -> float:
            return (x - sum(others) / len(others)) / standard_deviation(list(others))

        if standard_deviation([x.value for x in before]) <= 0:
            return Missing(NON_POSITIVE, "the standard deviation is 0")
        return apply(z_score, now, *before)
