"""Companies whose facts come from few dates, values and filings: every tie of the rules occurs."""
from __future__ import annotations

import random
from datetime import date, timedelta

from entries import IFRS, US_GAAP, Entry
from items import ITEMS, SPLIT_TAGS

ENDS = (date(2018, 12, 29), date(2018, 12, 31), date(2019, 12, 28), date(2019, 12, 31),
        date(2020, 6, 30), date(2020, 12, 26), date(2020, 12, 31), date(2021, 12, 16),
        date(2021, 12, 31), date(2022, 1, 1), date(2022, 12, 31), date(2023, 12, 30),
        date(2024, 2, 29))
DAYS = (349, 350, 363, 364, 365, 365, 365, 370, 380, 381, 91)
FORMS = ("10-K", "10-K", "10-K", "10-K/A", "10-Q", "8-K", "DEF 14A", "20-F", "10-KT", "PRE 14A",
         "10-K405", "10-K/A/A", "/A")
VALUES = (-10.0, -1.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 4.0, 8.0, 10.0, 20.0, 100.0, 1e20, 0.5)
SHARES = (100.0, 100.0, 200.0, 201.0, 202.1, 400.0, 300.0, 50.0, 1000.0, 0.0, 150.0)
ACCESSIONS = ("0000000001-20-000001", "0000000001-20-000002", "0000000001-21-000001", "9")
FILED = tuple(date(year, month, day) for year in range(2019, 2025)
              for month, day in ((2, 1), (2, 1), (5, 1), (11, 30)))
OTHER_TAGS = ("Depreciation", "DepreciationAndAmortization", "DebtCurrent", "LongTermDebtCurrent",
              "LongTermDebtAndCapitalLeaseObligationsCurrent", "ShortTermBorrowings",
              "CommercialPaper", "SellingAndMarketingExpense", "GeneralAndAdministrativeExpense",
              "LongtermBorrowings", "ShorttermBorrowings", "SellingExpense",
              "DepreciationAndAmortisationExpense", "CurrentPortionOfLongtermBorrowings")


def tiny_entries(rng: random.Random) -> list[Entry]:
    """Draws some facts of each tag."""
    found = []
    ends = rng.sample(ENDS, rng.choice((2, 5, 9)))
    units = rng.choice((("USD",), ("USD",), ("USD", "EUR"), ("JPY", "EUR", "USD")))
    shares = SPLIT_TAGS[US_GAAP] + SPLIT_TAGS[IFRS]
    for taxonomy in rng.choice(((US_GAAP,), (US_GAAP,), (IFRS,), (US_GAAP, IFRS))):
        tags = {tag: item.kind for item in ITEMS.values() for tag in item.tags[taxonomy]}
        tags.update({tag: "I" if "Borrowings" in tag or "Debt" in tag or tag == "CommercialPaper"
                     else "F" for tag in OTHER_TAGS})
        tags.update({tag: "SI" if "Outstanding" not in tag else tags.get(tag, "SI")
                     for tag in shares if taxonomy == US_GAAP or tag not in tags})
        if rng.random() < 0.9:
            for tag in ("Deposits", "NoninterestIncome", "NoninterestExpense"):
                tags.pop(tag, None)
        for tag, kind in tags.items():
            for _ in range(rng.choice((0, 2, 4, 8, 16))):
                found.append(one_entry(rng, taxonomy, tag, kind, ends, units))
    for tag, unit in (("EntityPublicFloat", units[0]),
                      ("EntityCommonStockSharesOutstanding", "shares")):
        for _ in range(6):
            day = rng.choice(ends) + timedelta(days=rng.choice((-180, -1, 0, 0, 30, 120, 121)))
            found.append(one_entry(rng, "dei", tag, "SI" if unit == "shares" else "I", [day],
                                   (unit,)))
    for _ in range(6):
        found.append(one_entry(rng, "ecd", "PeoTotalCompAmt", "F", ends, units))
    return found


def one_entry(rng: random.Random, taxonomy: str, tag: str, kind: str, ends: list[date],
              units: tuple[str, ...]) -> Entry:
    """Draws one fact; sometimes with a period that does not fit the tag."""
    end = rng.choice(ends)
    is_instant = (kind in ("I", "SI")) != (rng.random() < 0.02)
    start = None if is_instant else end - timedelta(days=rng.choice(DAYS) - 1)
    unit = rng.choice(units)
    if kind in ("SF", "SI"):
        unit = "shares"
    elif kind == "P":
        unit += "/shares"
    value = rng.choice(SHARES if kind in ("SF", "SI") else VALUES)
    return Entry(taxonomy, tag, unit, start, end, value, rng.choice(ACCESSIONS),
                 rng.choice(FORMS), rng.choice(FILED))
