"""Market data of section 7: monthly series, macro figures, beta and total returns."""
from __future__ import annotations

import csv
import math
from datetime import date
from pathlib import Path
from typing import NamedTuple, Optional

from config import constant, count, limit
from facts import parse_date
from quantity import (NO_MARKET_DATA, TOO_LITTLE_HISTORY, Input, Missing, Num, Result, apply,
                      positive, subtract)

UNKNOWN = Missing(NO_MARKET_DATA, "a month that the formula needs is not there")
TOO_OLD = Missing(NO_MARKET_DATA, "the series ends too long before the as-of date")


class Row(NamedTuple):
    """One known value of a series."""

    day: date
    value: float


class Dated(NamedTuple):
    """A result and the date of the series' last usable row, None when there is no such row."""

    result: Result
    day: Optional[date]


def month_of(day: date) -> int:
    """A month as a number that grows by 1 from month to month."""
    return day.year * 12 + day.month - 1


class Series:
    """Known values by month, with the concept that names them in `inputs`."""

    def __init__(self, concept: str) -> None:
        self.concept = concept
        self.rows: dict[int, Row] = {}
        self.exists = False  # whether a file has the column

    def get(self, month: int) -> Result:
        """The value of a month with its row as input."""
        row = self.rows.get(month)
        return UNKNOWN if row is None else Num(row.value, (self.entry(month),))

    def entry(self, month: int) -> Input:
        """The row of a known month as an entry of `inputs`."""
        row = self.rows[month]
        return Input(self.concept, None, row.day.isoformat(), row.value, None, None, None)

    def last(self, usable: int) -> Optional[int]:
        """The latest known month that is not after `usable`."""
        return max((month for month in self.rows if month <= usable), default=None)


def cell_value(text: Optional[str]) -> Optional[float]:
    """Returns the finite number of a cell, or None."""
    try:
        value = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def read_table(path: Path) -> tuple[list[str], list[tuple[date, dict[str, float]]]]:
    """Returns the columns of a CSV file, and its rows that have a date with their numbers."""
    table: list[tuple[date, dict[str, float]]] = []
    try:
        text = path.read_text(encoding="utf-8-sig", errors="replace")
        reader = csv.DictReader(text.splitlines())
        columns, rows = list(reader.fieldnames or ()), list(reader)
    except (OSError, csv.Error):
        return [], table
    for row in rows:
        day = parse_date(row.get("Date"))
        if day is None:
            continue
        cells = {}
        for column, cell in row.items():
            value = cell_value(cell) if column not in (None, "Date") else None
            if value is not None:
                cells[column] = value
        table.append((day, cells))
    return columns, table


class Market:
    """All series of the data folders; of two rows for a month the later one wins."""

    def __init__(self, folders: list[Path]) -> None:
        self.prices: dict[str, Series] = {}
        self.sp500 = Series("sp500")
        self.dividend = Series("shiller:Dividend")
        self.cpi = Series("shiller:Consumer Price Index")
        self.cape = Series("shiller:PE10")
        self.treasury = Series("treasury_10y")
        for folder in folders:
            prices = folder / "prices"
            for path in sorted(prices.glob("monthly_adjclose*.csv")):
                self._read_prices(path)
            self._read(prices / "sp500_shiller_monthly.csv", {
                "SP500": self.sp500, "Dividend": self.dividend,
                "Consumer Price Index": self.cpi, "PE10": self.cape}, zero_is_unknown=True)
            self._read(prices / "us_treasury_10y_monthly.csv", {"Rate": self.treasury},
                       zero_is_unknown=False)

    def _read_prices(self, path: Path) -> None:
        columns, table = read_table(path)
        for ticker in columns:
            if ticker != "Date":
                self.prices.setdefault(ticker, Series("price:" + ticker))
        for day, cells in table:
            for ticker, value in cells.items():
                self.prices[ticker].rows[month_of(day)] = Row(day, value)

    def _read(self, path: Path, names: dict[str, Series], zero_is_unknown: bool) -> None:
        if not path.is_file():
            return
        columns, table = read_table(path)
        for column, series in names.items():
            series.exists = series.exists or column in columns
            for day, cells in table:
                value = cells.get(column)
                if value is not None and not (zero_is_unknown and value == 0.0):
                    series.rows[month_of(day)] = Row(day, value)


class Regression(NamedTuple):
    """Ordinary least squares with intercept; r_squared is Missing for a constant series."""

    slope: Result
    r_squared: Result


def deviations(values: list[float]) -> list[float]:
    """Distances from the mean; those of equal values are exactly 0."""
    shifted = [value - values[0] for value in values]
    mean = sum(shifted) / len(shifted)
    return [value - mean for value in shifted]


def regress(x: list[float], y: list[float]) -> Regression:
    """Slope and coefficient of determination of y on x."""
    dx, dy = deviations(x), deviations(y)
    sxx = sum(a * a for a in dx)
    syy = sum(b * b for b in dy)
    sxy = sum(a * b for a, b in zip(dx, dy))
    slope = apply(lambda a, b: a / b, Num(sxy), Num(sxx))
    squared = apply(lambda a, b, c: a * a / (b * c), Num(sxy), Num(sxx), Num(syy))
    return Regression(slope, squared)


class MarketView:
    """What the market series give on an as-of date."""

    def __init__(self, market: Market, as_of: date) -> None:
        self.market = market
        self.as_of_month = month_of(as_of)
        self.usable = self.as_of_month - 1

    def too_old(self, month: int) -> bool:
        """Whether a last month is too long before the as-of month."""
        return self.as_of_month - month > limit("market_data_max_age_months")

    def last_value(self, series: Series) -> Dated:
        """The last usable value of a series."""
        month = series.last(self.usable)
        if month is None:
            return Dated(UNKNOWN, None)
        result = TOO_OLD if self.too_old(month) else series.get(month)
        return Dated(result, series.rows[month].day)

    def year_before(self, series: Series) -> Result:
        """The value 12 months before the last usable one."""
        month = series.last(self.usable)
        return UNKNOWN if month is None else series.get(month - 12)

    def risk_free_rate(self) -> Dated:
        """The last usable Treasury rate as a ratio."""
        last = self.last_value(self.market.treasury)
        return Dated(apply(lambda rate: rate / 100, last.result), last.day)

    def risk_free_rate_change(self) -> Dated:
        """The change of the Treasury rate over 12 months, as a ratio."""
        last = self.risk_free_rate()
        before = apply(lambda rate: rate / 100, self.year_before(self.market.treasury))
        return Dated(subtract(last.result, before), last.day)

    def change_12m(self, series: Series) -> Dated:
        """Value over the value 12 months earlier, minus 1."""
        last = self.last_value(series)
        before = positive(self.year_before(series))
        return Dated(apply(lambda a, b: a / b - 1, last.result, before), last.day)

    def cpi_of(self, day: date) -> Result:
        """The consumer price index of a date's month, when that month is usable."""
        month = month_of(day)
        return self.market.cpi.get(month) if month <= self.usable else UNKNOWN

    def beta(self, ticker: str) -> dict[str, Dated]:
        """beta_raw, beta_adjusted, beta_r_squared and beta_months."""
        names = ("beta_raw", "beta_adjusted", "beta_r_squared", "beta_months")
        prices = self.market.prices.get(ticker)
        index = self.market.sp500
        if prices is None or not index.exists:
            missing = Missing(NO_MARKET_DATA, f"no column {ticker}, or none of the index")
            return {name: Dated(missing, None) for name in names}
        months = [month for month in sorted(prices.rows) if month <= self.usable
                  and all(m in series.rows for m in (month, month - 1)
                          for series in (prices, index))]
        months = months[-count("beta_months"):]
        day = prices.rows[months[-1]].day if months else None
        if months and self.too_old(months[-1]):
            return {name: Dated(TOO_OLD, day) for name in names}
        if len(months) < count("beta_min_months"):
            missing = Missing(TOO_LITTLE_HISTORY, f"{len(months)} months of returns")
            return {name: Dated(missing, day) for name in names}
        figures = self._regression_figures(prices, index, months)
        return {name: Dated(figures[name], day) for name in names}

    @staticmethod
    def _regression_figures(prices: Series, index: Series, months: list[int]) -> dict[str, Result]:
        def returns(series: Series) -> Result:
            """A stand-in number that carries the first and the last row of a series."""
            return Num(0.0, (series.entry(months[0] - 1), series.entry(months[-1])))

        def change(series: Series, month: int) -> float:
            before = series.rows[month - 1].value
            return series.rows[month].value / before - 1 if before > 0 else math.nan

        rows = (returns(prices), returns(index))
        fit = regress([change(index, month) for month in months],
                      [change(prices, month) for month in months])
        raw = apply(lambda slope, factor, *_: factor * slope, fit.slope,
                    constant("beta_time_average_factor"), *rows)
        adjusted = apply(lambda beta, weight: weight * beta + (1 - weight), raw,
                         constant("blume_weight"))
        return {"beta_raw": raw, "beta_adjusted": adjusted,
                "beta_r_squared": apply(lambda r, *_: r, fit.r_squared, *rows),
                "beta_months": apply(lambda n, *_: n, Num(float(len(months))), *rows)}

    def total_returns(self, ticker: str, years: int) -> tuple[Dated, Dated, Dated]:
        """tsr, sp500_tsr and tsr_excess over `years` years up to the last usable price."""
        prices = self.market.prices.get(ticker)
        last = None if prices is None else prices.last(self.usable)
        if prices is None or last is None:
            missing = Dated(Missing(NO_MARKET_DATA, f"no usable price of {ticker}"), None)
            return missing, missing, missing
        day = prices.rows[last].day
        if self.too_old(last):
            old = Dated(TOO_OLD, day)
            return old, old, old
        own = apply(lambda a, b: math.pow(a / b, 1 / years) - 1, prices.get(last),
                    positive(prices.get(last - 12 * years)))
        index = self._index_return(last, years)
        return Dated(own, day), Dated(index, day), Dated(subtract(own, index), day)

    def _index_return(self, last: int, years: int) -> Result:
        """Return of the S&P 500 with a twelfth of the yearly dividend reinvested each month."""
        level, paid = self.market.sp500, self.market.dividend
        first = last - 12 * years
        months = range(last, first, -1)
        if first not in level.rows or any(m not in level.rows or m not in paid.rows
                                          for m in months):
            return UNKNOWN
        growth = 1.0
        for m in months:
            before = level.rows[m - 1].value
            now = level.rows[m].value + paid.rows[m].value / 12
            growth *= now / before if before > 0 else math.nan
        rows = Num(0.0, (level.entry(first), level.entry(last), paid.entry(first + 1),
                         paid.entry(last)))
        return apply(lambda g, _: math.pow(g, 1 / years) - 1, Num(growth), rows)
