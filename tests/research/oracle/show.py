#!/usr/bin/env python3
"""Prints the analysis of a company as `belay research show --json` does.

show.py TICKER [--peers A,B] [--as-of YYYY-MM-DD] [--data DIR]... [--cik TICKER=CIK]...

Reference computation of the research contract, written from its text alone. It shares no code
with agents/research. Exit status 1 and a message on stderr when the analysis fails.
"""
from __future__ import annotations

import argparse
import json
import sys
from datetime import date
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays clean

from analysis import Library
from facts import AnalysisFailed, parse_date

BUNDLED_DATA = Path(__file__).resolve().parents[3] / "agents" / "research" / "data"


def date_argument(text: str) -> date:
    """Reads a YYYY-MM-DD argument."""
    day = parse_date(text)
    if day is None:
        raise argparse.ArgumentTypeError(f"{text} is no date YYYY-MM-DD")
    return day


def cik_argument(text: str) -> tuple[str, int]:
    """Reads a TICKER=CIK argument."""
    ticker, equals, cik = text.partition("=")
    if not ticker or not equals or not cik.isascii() or not cik.isdigit():
        raise argparse.ArgumentTypeError(f"{text} is no TICKER=CIK")
    return ticker, int(cik)


def main() -> int:
    """Reads the arguments, prints the analysis."""
    parser = argparse.ArgumentParser(description="prints the analysis of a company")
    parser.add_argument("ticker")
    parser.add_argument("--peers", default="")
    parser.add_argument("--as-of", type=date_argument)
    parser.add_argument("--data", type=Path, action="extend", nargs="+", default=[])
    parser.add_argument("--cik", type=cik_argument, action="extend", nargs="+", default=[])
    arguments = parser.parse_args()
    peers = [peer for peer in arguments.peers.split(",") if peer]
    try:
        library = Library(arguments.data or [BUNDLED_DATA], dict(arguments.cik))
        result = library.analyze(arguments.ticker, peers, arguments.as_of)
    except AnalysisFailed as error:
        print(f"failed: {error}", file=sys.stderr)
        return 1
    print(json.dumps(result, allow_nan=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
