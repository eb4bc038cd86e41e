#!/usr/bin/env python3
"""Checks that the comparison finds a wrong figure: guard_check.py PROGRAM SOURCE.

Takes an analysis of the program that equals the independent computation, makes one thing of it
wrong at a time, and requires a difference for each. Exit status 1 when one is not found.
"""
from __future__ import annotations

import copy
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable, Union

sys.dont_write_bytecode = True  # the source tree stays clean
sys.path.append(str(Path(__file__).resolve().parents[1] / "oracle"))

from cases import Case
from comparison import Program, compare_case

Document = dict[str, Any]


def with_value(document: Document) -> Document:
    """The first figure with a value other than 0, facts as inputs, and items taken as zero."""
    found: Document = next(
        figure for figure in document["figures"]
        if figure.get("value") and figure["inputs"] and figure.get("assumed_zero"))
    return found


def without_value(document: Document) -> Document:
    """The first figure that is not available for want of an input."""
    found: Document = next(figure for figure in document["figures"]
                           if figure.get("not_available", "").startswith("missing_input"))
    return found


def quoted(document: Document) -> Document:
    """The first finding with a quote."""
    found: Document = next(finding for finding in document["findings"] if finding.get("quote"))
    return found


DAMAGES: dict[str, Callable[[Document], Any]] = {
    "a value": lambda d: with_value(d).update(value=with_value(d)["value"] * (1 + 3e-9)),
    "a sign": lambda d: with_value(d).update(value=-with_value(d)["value"]),
    "a unit": lambda d: with_value(d).update(unit="EURO"),
    "a period": lambda d: with_value(d).update(period_end="1999-12-31"),
    "a number for a reason": lambda d: without_value(d).update(value=0.0),
    "a code": lambda d: without_value(d).update(not_available="non_positive: x"),
    "a reason for a number": lambda d: (with_value(d).pop("value"),
                                        with_value(d).update(not_available="no_text: x")),
    "an infinite value": lambda d: with_value(d).update(value=float("inf")),
    "an input's value": lambda d: with_value(d)["inputs"][0].update(value=17),
    "an input's filing": lambda d: with_value(d)["inputs"][0].update(accn="9"),
    "an input's form": lambda d: with_value(d)["inputs"][0].update(form="8-K"),
    "an input's date": lambda d: with_value(d)["inputs"][0].update(filed="1999-12-31"),
    "an input that lacks": lambda d: with_value(d)["inputs"].pop(),
    "an input twice": lambda d: with_value(d)["inputs"].append(with_value(d)["inputs"][0]),
    "an item taken as zero": lambda d: with_value(d).pop("assumed_zero"),
    "a figure that lacks": lambda d: d["figures"].pop(),
    "a figure twice": lambda d: d["figures"].append(d["figures"][0]),
    "a figure too many": lambda d: d["figures"].append({**d["figures"][0], "metric": "other"}),
    "a finding that lacks": lambda d: d["findings"].pop(),
    "a severity": lambda d: d["findings"][0].update(severity="none"),
    "a quote": lambda d: quoted(d).update(quote=quoted(d)["quote"] + "!"),
    "an offset": lambda d: quoted(d).update(offset=quoted(d)["offset"] + 1),
    "a currency": lambda d: d.update(currency="EUR"),
    "a fiscal year": lambda d: d["fiscal_years"].pop(),
    "an as-of date": lambda d: d.update(as_of="2024-01-01")}


class OtherProgram(Program):
    """A program whose analysis is one that was made before, perhaps damaged."""

    document: Document = {}

    def analyze(self, case: Case) -> Union[Document, str]:
        return self.document


def main() -> int:
    """Damages an analysis in each way."""
    program, source = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    bundled = source / "agents" / "research" / "data"
    case = Case("AAPL", [bundled], {}, ["MSFT", "GOOGL"], None, "guard")
    missed = []
    with tempfile.TemporaryDirectory(prefix="synthetic") as name:
        document = Program(program, Path(name), bundled).analyze(case)
        if isinstance(document, str):
            print(f"the analysis failed: {document}")
            return 1
        other = OtherProgram(program, Path(name), bundled)
        other.document = document
        unharmed = compare_case(other, case)
        if unharmed.differences or not unharmed.figures:
            print(f"the analysis differs undamaged: {unharmed.differences[:5]}")
            return 1
        for damage, change in DAMAGES.items():
            other.document = copy.deepcopy(document)
            change(other.document)
            if not compare_case(other, case).differences:
                missed.append(damage)
    for damage in missed:
        print(f"not found: {damage}")
    print(f"{len(DAMAGES) - len(missed)} of {len(DAMAGES)} damages found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
