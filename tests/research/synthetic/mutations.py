"""Changes of a company's facts: each keeps the file valid and makes another case of the rules."""
from __future__ import annotations

import random
from datetime import date, timedelta
from typing import Callable

from entries import IFRS, US_GAAP, Entry, accession, last_filed, later, quarter_of
from items import ITEMS, SPLIT_TAGS

Entries = list[Entry]
IFRS_FORMS = {"10-K": "20-F", "10-K/A": "20-F/A", "10-KT": "20-F", "10-Q": "6-K", "8-K": "6-K"}
PER_SHARE_TAGS = {tag for item in ITEMS.values() if item.kind == "P"
                  for tags in item.tags.values() for tag in tags}
SIGNED_ITEMS = ("net_income", "operating_income", "cfo", "equity", "pretax_income", "income_tax",
                "equity_total", "capex", "total_debt", "long_term_debt", "interest_expense")
ZERO_ITEMS = ("revenue", "inventory", "short_term_investments", "minority_interest", "intangibles",
              "interest_expense", "assets", "receivables", "cost_of_revenue", "dividends_paid")
SPLIT_RATIOS = (1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 20.0, 50.0, 1 / 2, 1 / 10, 1 / 8, 1 / 30)
RESTATEMENTS = (0.996, 0.9951, 0.99, 1.0049, 1.006, 1.05, 0.5, 1000.0, 0.001, -1.0, 0.0)


def is_annual_report(entry: Entry) -> bool:
    """Whether the form is an annual report."""
    return entry.form.removesuffix("/A") in ("10-K", "10-KT", "20-F", "40-F")


def tags_of(name: str) -> set[str]:
    """The tags of an item in both taxonomies."""
    return {tag for tags in ITEMS[name].tags.values() for tag in tags}


def some_day(rng: random.Random, entries: Entries) -> date:
    """A date between the first and the last filing."""
    days = sorted({entry.filed for entry in entries})
    return later(rng.choice(days), rng.randrange(-20, 20)) if days else date(2020, 1, 1)


def shift_calendar(rng: random.Random, entries: Entries) -> Entries:
    """All dates move: another fiscal calendar."""
    days = rng.choice((-334, -153, -92, -31, -7, 28, 59, 181, 366))
    return [entry.but(start=None if entry.start is None else later(entry.start, days),
                      end=later(entry.end, days), filed=later(entry.filed, days))
            for entry in entries]


def move_year_end(rng: random.Random, entries: Entries) -> Entries:
    """The fiscal year ends in another month until some year; the gap has no annual facts."""
    until, days = some_day(rng, entries), rng.choice((-273, -181, -92, -30, -16, -12, 9, 14, 21))
    return [entry.but(start=None if entry.start is None else later(entry.start, days),
                      end=later(entry.end, days)) if entry.end < until else entry
            for entry in entries]


def other_weeks(rng: random.Random, entries: Entries) -> Entries:
    """Years of 52 or 53 weeks: each end moves to a Saturday, each start to a Sunday."""
    weekday = rng.randrange(7)
    return [entry.but(
        start=None if entry.start is None
        else entry.start - timedelta(days=(entry.start.weekday() - weekday - 1) % 7),
        end=entry.end - timedelta(days=(entry.end.weekday() - weekday) % 7)) for entry in entries]


def to_ifrs(rng: random.Random, entries: Entries) -> Entries:
    """The statements of a foreign filer, with a translation of some years into USD."""
    currency = rng.choice(("JPY", "EUR", "TWD", "GBP", "USD"))
    tags: dict[str, list[str]] = {}
    for item in ITEMS.values():
        for position, tag in enumerate(item.tags[US_GAAP]):
            if item.tags[IFRS]:
                tags[tag] = [item.tags[IFRS][min(position, len(item.tags[IFRS]) - 1)]]
    tags.update(LongTermDebtNoncurrent=["LongtermBorrowings"],
                LongTermDebt=["NoncurrentPortionOfNoncurrentBondsIssued", "LongtermBorrowings"],
                LongTermDebtCurrent=["CurrentPortionOfLongtermBorrowings"],
                CommercialPaper=["ShorttermBorrowings"])
    translated = {year for year in range(2000, 2030) if rng.random() < 0.25}
    found: Entries = []
    for entry in entries:
        if entry.taxonomy != US_GAAP:
            found.append(entry.but(unit=entry.unit.replace("USD", currency)))
        for tag in tags.get(entry.tag, []) if entry.taxonomy == US_GAAP else []:
            local = entry.but(taxonomy=IFRS, tag=tag, unit=entry.unit.replace("USD", currency),
                              form=IFRS_FORMS.get(entry.form, entry.form))
            found.append(local)
            if entry.end.year in translated and currency != "USD":
                found.append(local.but(unit=entry.unit, value=entry.value * 1.17))
    return found


def split_shares(rng: random.Random, entries: Entries) -> Entries:
    """Filings from a date on have share counts after a split, and amounts per share likewise."""
    day, ratio = some_day(rng, entries), rng.choice(SPLIT_RATIOS)
    shares = set(SPLIT_TAGS[US_GAAP] + SPLIT_TAGS[IFRS] + ("EntityCommonStockSharesOutstanding",))
    inexact = rng.choice((1.0, 1.0, 1.004, 1.012))
    found = []
    for entry in entries:
        if entry.filed >= day and entry.tag in shares:
            entry = entry.but(value=float(round(entry.value * ratio * inexact)))
        elif entry.filed >= day and entry.tag in PER_SHARE_TAGS:
            entry = entry.but(value=entry.value / ratio)
        found.append(entry)
    return found


def change_values(rng: random.Random, entries: Entries, names: tuple[str, ...],
                  change: Callable[[float], float]) -> Entries:
    """Changes the values of one item from some year on, or of all years."""
    tags, since = tags_of(rng.choice(names)), some_day(rng, entries)
    if rng.random() < 0.4:
        since = date.min
    return [entry.but(value=change(entry.value)) if entry.tag in tags and entry.filed >= since
            else entry for entry in entries]


def flip_signs(rng: random.Random, entries: Entries) -> Entries:
    """Losses, negative equity, negative operating cash flow."""
    return change_values(rng, entries, SIGNED_ITEMS, lambda value: -value)


def zero_values(rng: random.Random, entries: Entries) -> Entries:
    """Lines of zero: no revenue, no inventory."""
    return change_values(rng, entries, ZERO_ITEMS, lambda _: 0.0)


def huge_values(rng: random.Random, entries: Entries) -> Entries:
    """Values near and beyond the limit of 1e20, and tiny ones."""
    factor = 10.0 ** rng.choice((-12, -6, 6, 8, 9, 10, 40))
    return change_values(rng, entries, tuple(ITEMS), lambda value: value * factor)


def drop_tag(rng: random.Random, entries: Entries) -> Entries:
    """A concept that the file does not have, or only until some date."""
    dropped = set(rng.sample(sorted({entry.tag for entry in entries}),
                             min(rng.choice((1, 2, 5)), len({entry.tag for entry in entries}))))
    since = some_day(rng, entries) if rng.random() < 0.5 else date.min
    return [entry for entry in entries if entry.tag not in dropped or entry.filed < since]


def drop_facts(rng: random.Random, entries: Entries) -> Entries:
    """Holes."""
    share = rng.choice((0.02, 0.1, 0.4))
    return [entry for entry in entries if rng.random() >= share]


def drop_year(rng: random.Random, entries: Entries) -> Entries:
    """A year without facts."""
    year = rng.choice([entry.end.year for entry in entries]) if entries else 0
    return [entry for entry in entries if entry.end.year != year]


def restate(rng: random.Random, entries: Entries) -> Entries:
    """Amendments and later comparatives with other values."""
    reports = [entry for entry in entries if is_annual_report(entry)]
    found = list(entries)
    for _ in range(rng.choice((1, 3, 20))):
        if not reports:
            break
        entry = rng.choice(reports)
        filed = later(entry.filed, rng.choice((0, 0, 1, 40, 300)))
        form = rng.choice((entry.form, entry.form.removesuffix("/A") + "/A"))
        accn = rng.choice((entry.accn, accession(rng, filed)))
        found.append(entry.but(value=entry.value * rng.choice(RESTATEMENTS), filed=filed,
                               form=form, accn=accn))
    return found


def disagreeing_twins(rng: random.Random, entries: Entries) -> Entries:
    """The same filing has two values for one period."""
    twins = [entry.but(value=entry.value * rng.choice((0.9, 1.1)))
             for entry in entries if rng.random() < 0.03]
    return entries + twins


def other_forms(rng: random.Random, entries: Entries) -> Entries:
    """Current reports and quarterly reports that repeat annual facts with other values."""
    noise = []
    for entry in entries:
        if rng.random() < 0.05:
            form = rng.choice(("8-K", "10-Q", "6-K", "S-1", "10-Q/A", "10-K405", "8-K/A"))
            noise.append(entry.but(form=form, value=entry.value * rng.uniform(0.5, 1.5),
                                   filed=later(entry.filed, rng.randrange(-30, 200))))
        if rng.random() < 0.05 and entry.days > 300:
            noise.append(quarter_of(entry))
    return entries + noise


def proxy_statements(rng: random.Random, entries: Entries) -> Entries:
    """Pay-versus-performance facts: rounded, partly of years and periods that no report has."""
    found = list(entries)
    form = rng.choice(("DEF 14A", "DEFA14A", "PRE 14A", "DEF 14C"))
    for entry in entries:
        if entry.days < 350 or entry.tag not in tags_of("net_income") | tags_of("revenue"):
            continue
        if rng.random() < 0.5:
            filed = later(entry.end, rng.choice((90, 120, 500)))
            start = entry.start if rng.random() < 0.7 else later(entry.end, -363)
            proxy = entry.but(form=form, filed=filed, accn=accession(rng, filed), start=start,
                              value=float(round(entry.value, -8)))
            found.append(proxy)
            if rng.random() < 0.6:
                found.append(proxy.but(taxonomy="ecd", tag="PeoTotalCompAmt",
                                       value=float(rng.randrange(10 ** 5, 10 ** 8))))
    lost = {(entry.tag, entry.end) for entry in found if entry.form == form and rng.random() < 0.5}
    return [entry for entry in found
            if entry.form == form or entry.days < 350 or (entry.tag, entry.end) not in lost]


def trailing_years(rng: random.Random, entries: Entries) -> Entries:
    """Twelve months up to a quarter's end, in annual and other forms."""
    found = list(entries)
    for entry in entries:
        if entry.start is not None and 350 <= entry.days <= 380 and rng.random() < 0.1:
            days = rng.choice((91, 182, 273, 20, -91))
            form = rng.choice(("10-Q", "8-K", entry.form))
            found.append(entry.but(start=later(entry.start, days), end=later(entry.end, days),
                                   form=form, filed=later(entry.filed, max(days, 0))))
    return found


def other_starts(rng: random.Random, entries: Entries) -> Entries:
    """Annual facts whose first day differs from that of the fiscal year."""
    return [entry.but(start=later(entry.start, rng.choice((-14, -1, 1, 7))))
            if entry.start is not None and rng.random() < 0.1 else entry for entry in entries]


def later_facts(rng: random.Random, entries: Entries) -> Entries:
    """Facts that were filed after most as-of dates."""
    day = later(last_filed(entries), rng.choice((1, 30, 400)))
    return entries + [entry.but(filed=day, value=entry.value * 3, accn=accession(rng, day))
                      for entry in entries if rng.random() < 0.02]


def other_units(rng: random.Random, entries: Entries) -> Entries:
    """Facts in units that do not count, and in a second currency."""
    unit = rng.choice(("EUR", "usd", "pure", "CAD", "USDX", "US"))
    copies = [entry.but(unit=entry.unit.replace("USD", unit), value=entry.value * 0.9)
              for entry in entries if "USD" in entry.unit and rng.random() < rng.choice((0.1, 1.3))]
    return entries + copies


def share_classes(rng: random.Random, entries: Entries) -> Entries:
    """Cover pages with several share counts; sometimes nothing else has the number of shares."""
    found = []
    cover = "EntityCommonStockSharesOutstanding"
    only_cover = rng.random() < 0.6
    for entry in entries:
        if only_cover and entry.tag in ("CommonStockSharesOutstanding",
                                        "NumberOfSharesOutstanding"):
            continue
        found.append(entry)
        if entry.tag == cover:
            found.append(entry.but(value=float(round(entry.value / 7))))
            found.append(entry.but(end=later(entry.end, rng.choice((-20, 10, 60)))))
    return found


def become_bank(rng: random.Random, entries: Entries) -> Entries:
    """A bank: deposits and no current assets."""
    found = []
    for entry in entries:
        if entry.tag in ("AssetsCurrent", "CurrentAssets"):
            continue
        found.append(entry)
        if entry.tag == "Liabilities":
            tag = "DepositsFromCustomers" if entry.taxonomy == IFRS else "Deposits"
            found.append(entry.but(tag=tag, value=entry.value * 0.8))
        if entry.tag == "Revenues" and rng.random() < 0.9:
            found.append(entry.but(tag="InterestIncomeExpenseNet", value=entry.value * 0.6))
            found.append(entry.but(tag="NoninterestIncome", value=entry.value * 0.4))
            found.append(entry.but(tag="NoninterestExpense", value=entry.value * 0.7))
            found.append(entry.but(tag="ProvisionForLoanAndLeaseLosses", value=entry.value * 0.1))
    return found


def two_taxonomies(rng: random.Random, entries: Entries) -> Entries:
    """The filer has changed from one taxonomy to the other."""
    day = some_day(rng, entries)
    return [entry for entry in entries if entry.filed < day] + to_ifrs(
        rng, [entry for entry in entries if entry.filed >= day])


def odd_float(rng: random.Random, entries: Entries) -> Entries:
    """Public floats of zero, of two values for a date, in thousands."""
    return [entry.but(value=entry.value * rng.choice((0.0, 1.0, 0.001, -1.0)),
                      end=later(entry.end, rng.choice((0, 0, 30, 200))))
            if entry.tag == "EntityPublicFloat" else entry for entry in entries]


def equal_balances(rng: random.Random, entries: Entries) -> Entries:
    """One balance-sheet line under two tags, and totals that contain their parts."""
    pairs = rng.choice(((("LongTermDebtCurrent", "ShortTermBorrowings"),),
                        (("LongTermDebtCurrent", "CommercialPaper"),),
                        (("Depreciation", "DepreciationAndAmortization"),),
                        (("LongTermDebtNoncurrent", "LongTermDebtAndCapitalLeaseObligations"),
                         ("LongTermDebtCurrent", "LongTermDebtAndCapitalLeaseObligationsCurrent"))))
    copies = [entry.but(tag=copy) for entry in entries for tag, copy in pairs if entry.tag == tag]
    drop = {tag for tag, _ in pairs} if rng.random() < 0.3 else set()
    return [entry for entry in entries if entry.tag not in drop] + copies


MUTATIONS = (
    shift_calendar, move_year_end, other_weeks, to_ifrs, split_shares, split_shares, flip_signs,
    flip_signs, zero_values, zero_values, huge_values, drop_tag, drop_tag, drop_facts, drop_year,
    restate, restate, disagreeing_twins, other_forms, proxy_statements, proxy_statements,
    trailing_years, other_starts, later_facts, other_units, share_classes, become_bank,
    two_taxonomies, odd_float, equal_balances)
