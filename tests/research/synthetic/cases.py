"""The cases of a seed: data folders and the analyses to compare."""
from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Optional

from entries import Company, entries_of, last_filed, later, write_company
from mutations import MUTATIONS
from odd_entries import add_wrong_entries
from report_text import report_text
from scratch import Filer
from series_files import write_series
from tiny import tiny_entries

REAL = ("0000320193", "0000789019", "0001652044", "0001045810", "0001318605", "0000019617",
        "0000018230")
REAL_TICKERS = ("AAPL", "MSFT", "GOOGL", "NVDA", "TSLA", "JPM", "CAT")
KINDS = ("real", "real", "real", "us", "us", "us", "ifrs", "ifrs", "bank", "zero_revenue", "tiny",
         "tiny", "tiny")


@dataclass
class Case:
    """One analysis."""

    ticker: str
    folders: list[Path]
    ciks: dict[str, int]
    peers: list[str] = field(default_factory=list)
    as_of: Optional[date] = None
    story: str = ""

    @property
    def options(self) -> list[str]:
        """The arguments of the program and of the independent computation."""
        found = [self.ticker]
        for folder in self.folders:
            found += ["--data", str(folder)]
        for ticker, cik in self.ciks.items():
            found += ["--cik", f"{ticker}={cik}"]
        if self.peers:
            found += ["--peers", ",".join(self.peers)]
        if self.as_of is not None:
            found += ["--as-of", self.as_of.isoformat()]
        return found


def draw_company(rng: random.Random, ticker: str, cik: int, bundled: Path) -> tuple[Company, str]:
    """Returns a company and how it was made."""
    kind = rng.choice(KINDS)
    if kind == "real":
        real = rng.choice(REAL)
        entries, story = entries_of(bundled / "edgar" / f"CIK{real}.json"), f"CIK{real}"
    elif kind == "tiny":
        return Company(ticker, cik, tiny_entries(rng), []), kind
    else:
        entries, story = Filer(rng, kind).all_entries(), kind
    for _ in range(rng.choice((0, 1, 1, 2, 3, 4)) + (kind == "real")):
        mutation = rng.choice(MUTATIONS)
        changed = mutation(rng, entries)
        if changed:
            entries, story = changed, f"{story} {mutation.__name__}"
    if rng.random() < 0.7:
        rng.shuffle(entries)
    company = Company(ticker, cik, entries, [])
    if rng.random() < 0.3:
        add_wrong_entries(rng, company)
        story += " wrong entries"
    return company, story


def as_of_dates(rng: random.Random, company: Company) -> list[Optional[date]]:
    """The default, dates of filings and near them, and one long after the last filing."""
    filed = sorted({entry.filed for entry in company.entries})
    found: list[Optional[date]] = [None]
    if filed:
        found.append(later(rng.choice(filed[len(filed) // 3:]), rng.choice((-1, 0, 0, 1, 40))))
        if rng.random() < 0.4:
            found.append(later(last_filed(company.entries), rng.choice((300, 560, 1500))))
    return found


def write_texts(rng: random.Random, ticker: str, company: Company, folder: Path) -> None:
    """Writes reports of some years; one may lie before all fiscal years, or in the future."""
    target = folder / "edgar" / "10k"
    target.mkdir(parents=True, exist_ok=True)
    filed = sorted({entry.filed for entry in company.entries}) or [date(2020, 1, 1)]
    days = [rng.choice(filed), filed[-1]]
    if rng.random() < 0.2:
        days.append(rng.choice((date(2001, 1, 1), date(2031, 1, 1))))
    for day in days:
        if rng.random() < 0.75:
            (target / f"{ticker}-10-K-{day}.txt").write_bytes(report_text(rng))
    (target / f"{ticker}-10-K-draft.txt").write_bytes(b"no date")
    (target / f"X{ticker}-10-K-{days[0]}.txt").write_bytes(b"another ticker")


def draw_cases(seed: int, folder: Path, bundled: Path) -> list[Case]:
    """Writes the folders of a seed and returns its analyses."""
    rng = random.Random(f"research {seed}")
    data = folder / "data"
    ticker, cik = rng.choice(("SYN", "S-Y", "BRK.B", "AAPL")), 9_000_000 + seed
    company, story = draw_company(rng, ticker, cik, bundled)
    write_company(company, data)
    write_texts(rng, ticker, company, data)
    ciks = {ticker: cik}
    peers: list[str] = []
    for number in range(rng.choice((0, 1, 2, 3))):
        peer, how = draw_company(rng, f"PEER{number}", 9_500_000 + number, bundled)
        if rng.random() < 0.15:  # equal figures
            peer, how = Company(peer.ticker, peer.cik, company.entries, []), "twin"
        write_company(peer, data)
        ciks[peer.ticker] = peer.cik
        peers.append(peer.ticker)
        story += f"; peer {how}"
    if rng.random() < 0.3:
        peers.append(rng.choice(REAL_TICKERS))
    write_series(rng, data, bundled, [ticker, "OTHER"])
    folders = [data]
    if rng.random() < 0.4 or any(peer in REAL_TICKERS for peer in peers):
        folders = [bundled, data]
    if rng.random() < 0.15:
        more = folder / "more"
        write_series(rng, more, bundled, [ticker])
        write_company(Company(ticker, cik, company.entries[::2], []), more)
        folders.append(more)
    return [Case(ticker, folders, ciks, peers if rng.random() < 0.8 else [], as_of, story)
            for as_of in as_of_dates(rng, company)]
