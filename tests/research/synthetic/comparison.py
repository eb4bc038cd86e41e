"""One case: the program's analysis against that of the independent computation."""
from __future__ import annotations

import json
import math
import os
import random
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Union

from analysis import Library
from cases import Case, draw_company
from compare import compare
from entries import write_company
from facts import AnalysisFailed
from odd_entries import write_wrong_file, wrong_files

TIMEOUT_SECONDS = 120


@dataclass
class Outcome:
    """The differences of a case; `figures` is the number of figures that were compared."""

    case: str
    differences: list[str]
    figures: int = 0


class Program:
    """The program under test, with a store in a folder."""

    def __init__(self, path: Path, folder: Path, bundled: Path) -> None:
        self.path = path
        self.environment = {**os.environ, "BELAY_STORE": f"sqlite:{folder}/belay.db",
                            "BELAY_RESEARCH_DATA": str(bundled)}

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Runs a command of `research`."""
        return subprocess.run([str(self.path), "research", *arguments], env=self.environment,
                              capture_output=True, text=True, check=False, timeout=TIMEOUT_SECONDS)

    def analyze(self, case: Case) -> Union[dict[str, Any], str]:
        """Returns the analysis, or the message of one that failed."""
        started = self.run("analyze", *case.options, "--yes", "--quiet", "--json")
        try:
            state = json.loads(started.stdout)
        except ValueError:
            raise RuntimeError(f"exit status {started.returncode}: {started.stdout[:300]} "
                               f"{started.stderr[:300]}") from None
        if state["status"] == "failed":
            return str(state["error"])
        if started.returncode != 0 or state["outcome"] != "complete":
            raise RuntimeError(f"exit status {started.returncode}: {started.stdout[:500]}")
        displayed = self.run("show", state["analysis"], "--json")
        if displayed.returncode != 0:
            raise RuntimeError(f"show: {displayed.stderr[:300]}")
        found: dict[str, Any] = json.loads(displayed.stdout, parse_constant=reject_constant)
        return found


def reject_constant(name: str) -> float:
    """NaN and Infinity are no JSON."""
    raise RuntimeError(f"the output contains {name}")


def expected_analysis(case: Case) -> Union[dict[str, Any], str]:
    """The analysis by the independent computation, or why it failed."""
    try:
        library = Library(case.folders, case.ciks)
        found = library.analyze(case.ticker, case.peers, case.as_of)
    except AnalysisFailed as error:
        return str(error)
    decoded: dict[str, Any] = json.loads(json.dumps(found, allow_nan=False))
    return decoded


def quote_differences(case: Case, actual: dict[str, Any]) -> list[str]:
    """Quotes must be verbatim, at their offset, and within the item that they name."""
    text = text_of(case, actual["as_of"])
    found = []
    for finding in actual["findings"]:
        quote = finding.get("quote")
        if quote is None:
            continue
        offset = finding.get("offset")
        encoded = quote.encode("utf-8")
        if text is None or text[offset:offset + len(encoded)] != encoded:
            found.append(f"finding {finding['code']}: the quote is not at {offset}: {quote!r}")
    return found


def text_of(case: Case, as_of: str) -> Optional[bytes]:
    """The bytes of the report that an analysis reads."""
    paths = [path for folder in case.folders
             for path in (folder / "edgar" / "10k").glob(f"{case.ticker}-10-K-2???-??-??.txt")
             if path.stem[-10:] <= as_of]
    return max(paths, key=lambda path: path.stem[-10:]).read_bytes() if paths else None


def shape_differences(actual: dict[str, Any]) -> list[str]:
    """Section 1: a figure has a finite value with unit and inputs, or a reason."""
    found = []
    for figure in actual["figures"]:
        value, reason = figure.get("value"), figure.get("not_available")
        name = f"{figure['metric']} {figure['period_end']}"
        if (value is None) == (reason is None):
            found.append(f"{name}: neither a value nor a reason, or both")
        elif value is not None and not (math.isfinite(value) and figure["unit"]
                                        and isinstance(figure["inputs"], list)):
            found.append(f"{name}: without a finite value, a unit or inputs")
        elif reason is not None and not reason.partition(": ")[2]:
            found.append(f"{name}: a code without a text: {reason}")
    return found


def compare_case(program: Program, case: Case) -> Outcome:
    """Compares one analysis."""
    label = f"{' '.join(case.options)} ({case.story})"
    try:
        actual, expected = program.analyze(case), expected_analysis(case)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return Outcome(label, [f"{type(error).__name__}: {error}"])
    if isinstance(actual, str) or isinstance(expected, str):
        if not isinstance(expected, str):
            return Outcome(label, [f"the analysis failed: {actual}"])
        if not isinstance(actual, str):
            return Outcome(label, [f"the analysis did not fail; expected: {expected}"])
        return Outcome(label, [], 0)
    differences = compare(expected, actual) + shape_differences(actual)
    return Outcome(label, differences + quote_differences(case, actual), len(actual["figures"]))


def compare_hostile(program: Program, seed: int, folder: Path, bundled: Path) -> list[Outcome]:
    """Files of the wrong shape: both fail, and the program's message names the file."""
    rng = random.Random(f"hostile {seed}")
    company, story = draw_company(rng, "BAD", 9_800_000 + seed, bundled)
    company.raw.clear()
    outcomes = []
    for number, name in enumerate(wrong_files(company)):
        data = folder / f"hostile{number}"
        write_wrong_file(company, name, data)
        case = Case("BAD", [data], {"BAD": company.cik}, [], None, f"{name}: {story}")
        outcome = compare_case(program, case)
        if not outcome.differences:
            message = program.analyze(case)
            if isinstance(message, str) and f"CIK{company.cik:010d}.json" not in message:
                outcome.differences.append(f"the message does not name the file: {message}")
        # A peer with such a file does not count, and is no failure of the analysis.
        write_company(company, folder / "peers")
        subject = Case("BAD", [folder / "peers", data], {"BAD": company.cik, "P": company.cik},
                       ["P"], None, f"peer {name}")
        outcomes += [outcome, compare_case(program, subject)] if number == 0 else [outcome]
    return outcomes
