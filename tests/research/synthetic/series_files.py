"""Files of prices, rates and the stock index, with gaps, zeros, and ends in the past."""
from __future__ import annotations

import random
from pathlib import Path

PRICE_YEARS = range(2005, 2026)
SHILLER = "sp500_shiller_monthly.csv"
TREASURY = "us_treasury_10y_monthly.csv"


def price_rows(rng: random.Random, tickers: list[str]) -> list[str]:
    """Month ends with adjusted closes; a company lists late, or leaves, or misses months."""
    price = {ticker: rng.uniform(1, 300) for ticker in tickers}
    first = {ticker: rng.choice((2005, 2005, 2010, 2016, 2020)) for ticker in tickers}
    last = {ticker: rng.choice((2025, 2025, 2023, 2021, 2018)) for ticker in tickers}
    rows = ["Date," + ",".join(tickers)]
    for year in PRICE_YEARS:
        for month in range(1, 13):
            cells = []
            for ticker in tickers:
                price[ticker] *= rng.uniform(0.85, 1.2)
                listed = first[ticker] <= year <= last[ticker] and rng.random() > 0.004
                odd = rng.choice(("", "n/a")) if rng.random() < 0.3 else ""
                cells.append(f"{price[ticker]:.4f}" if listed else odd)
            rows.append(f"{year}-{month:02d}-{rng.choice((27, 28))}," + ",".join(cells))
    return rows


def changed_rows(rng: random.Random, rows: list[str]) -> list[str]:
    """The rows of a bundled file: shorter, with holes, in another order, or all of them."""
    header, body = rows[0], rows[1:]
    kind = rng.randrange(7)
    if kind == 0:
        body = body[:-rng.randrange(1, 120)]
    elif kind == 1:
        body = [row for row in body if rng.random() > 0.01]
    elif kind == 2:
        rng.shuffle(body)
    elif kind == 3:
        body = body[-rng.randrange(1, 80):]
    elif kind == 4:  # twice the same month: the later row counts
        body += [row.split(",")[0] + "," + ",".join("1.5" for _ in row.split(",")[1:])
                 for row in rng.sample(body, 3)]
    return [header] + body


def write_series(rng: random.Random, folder: Path, bundled: Path, tickers: list[str]) -> None:
    """Writes some or all of the files of prices/."""
    target = folder / "prices"
    target.mkdir(parents=True, exist_ok=True)
    for name in (SHILLER, TREASURY):
        if rng.random() < 0.94:
            rows = (bundled / "prices" / name).read_text(encoding="utf-8").splitlines()
            text = "\n".join(changed_rows(rng, rows)) + "\n"
            (target / name).write_text(text, encoding="utf-8")
    listed = [ticker for ticker in tickers if rng.random() < 0.8]
    if listed:
        text = "\n".join(price_rows(rng, listed)) + "\n"
        (target / "monthly_adjclose_synthetic.csv").write_text(text, encoding="utf-8")
        if rng.random() < 0.2:
            text = "\n".join(price_rows(rng, listed[:1])) + "\n"
            (target / "monthly_adjclose_zzz.csv").write_text(text, encoding="utf-8")
