#!/usr/bin/env python3
"""Compares two analyses in the form of section 1: compare.py EXPECTED.json ACTUAL.json.

Figures by (specialist, subtask, metric, period_end): the value to 1e-9 relative, the code of
`not_available`, the unit, the inputs and `assumed_zero` as sets. Findings by (specialist, subtask,
code, period_end) with the severity. Prints at most 50 differences; exit status 1 when there is any.
`--ignore-config` leaves config:NAME entries of the inputs out of the comparison.
"""
from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any, Iterator, Optional

TOLERANCE = 1e-9
MAX_LINES = 50
FIGURE_KEY = ("specialist", "subtask", "metric", "period_end")
FINDING_KEY = ("specialist", "subtask", "code", "period_end")
INPUT_FIELDS = ("concept", "start", "end", "value", "accn", "form", "filed")

Key = tuple[Any, ...]


def by_key(entries: Any, fields: tuple[str, ...], side: str,
           differences: list[str]) -> dict[Key, dict[str, Any]]:
    """Returns the entries by key; a key that occurs twice is a difference."""
    found: dict[Key, dict[str, Any]] = {}
    for entry in entries:
        key = tuple(entry.get(field) for field in fields)
        if key in found:
            differences.append(f"{' '.join(map(str, key))}: twice in {side}")
        found[key] = entry
    return found


def is_number(value: Any) -> bool:
    """Whether a JSON value is a finite number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def same_value(expected: Any, actual: Any) -> bool:
    """Equality to 1e-9 of the larger absolute value."""
    if not is_number(expected) or not is_number(actual):
        return False
    return abs(expected - actual) <= TOLERANCE * max(abs(expected), abs(actual))


def code_of(figure: dict[str, Any]) -> Optional[str]:
    """The code of not_available, None for a figure with a value."""
    reason = figure.get("not_available")
    return None if reason is None else str(reason).split(":", 1)[0]


def input_set(figure: dict[str, Any], ignore_config: bool) -> set[Key]:
    """The inputs as comparable tuples."""
    found = set()
    for entry in figure.get("inputs") or []:
        if ignore_config and str(entry.get("concept")).startswith("config:"):
            continue
        fields = [entry.get(field) for field in INPUT_FIELDS]
        fields[3] = float(fields[3]) if is_number(fields[3]) else repr(fields[3])
        found.add(tuple(fields))
    return found


def set_differences(name: str, expected: set[Any], actual: set[Any]) -> Iterator[str]:
    """Describes what one of two sets lacks."""
    def listed(values: set[Any]) -> str:
        shown = sorted(map(str, values))
        return "; ".join(shown[:4]) + (f" and {len(shown) - 4} more" if len(shown) > 4 else "")

    if expected - actual:
        yield f"{name} missing: {listed(expected - actual)}"
    if actual - expected:
        yield f"{name} unexpected: {listed(actual - expected)}"


def figure_differences(expected: dict[str, Any], actual: dict[str, Any],
                       ignore_config: bool) -> Iterator[str]:
    """Describes the differences of two figures of one key."""
    codes = code_of(expected), code_of(actual)
    if codes[0] != codes[1]:
        shown = [figure.get("not_available", figure.get("value")) for figure in (expected, actual)]
        yield f"expected {shown[0]}, is {shown[1]}"
        return
    if codes[0] is not None:
        if "value" in actual:
            yield "has a value and is not available"
        return
    if not same_value(expected.get("value"), actual.get("value")):
        yield f"expected {expected.get('value')!r}, is {actual.get('value')!r}"
    if expected.get("unit") != actual.get("unit"):
        yield f"expected unit {expected.get('unit')}, is {actual.get('unit')}"
    yield from set_differences("inputs", input_set(expected, ignore_config),
                               input_set(actual, ignore_config))
    if len(actual.get("inputs") or []) != len(input_set(actual, False)):
        yield "an input occurs twice"
    yield from set_differences("assumed_zero", set(expected.get("assumed_zero") or []),
                               set(actual.get("assumed_zero") or []))


def compare(expected: dict[str, Any], actual: dict[str, Any],
            ignore_config: bool = False) -> list[str]:
    """Returns all differences, one line each."""
    differences = [f"{name}: expected {expected.get(name)!r}, is {actual.get(name)!r}"
                   for name in ("ticker", "as_of", "currency", "fiscal_years")
                   if expected.get(name) != actual.get(name)]
    for kind, fields in (("figures", FIGURE_KEY), ("findings", FINDING_KEY)):
        wanted = by_key(expected.get(kind) or [], fields, "expected", differences)
        found = by_key(actual.get(kind) or [], fields, "actual", differences)
        for key in sorted(wanted.keys() | found.keys(), key=str):
            label = f"{kind[:-1]} {' '.join(map(str, key))}"
            if key not in found:
                differences.append(f"{label}: missing")
            elif key not in wanted:
                differences.append(f"{label}: unexpected")
            elif kind == "figures":
                differences += [f"{label}: {text}" for text in
                                figure_differences(wanted[key], found[key], ignore_config)]
            elif wanted[key].get("severity") != found[key].get("severity"):
                differences.append(f"{label}: expected {wanted[key].get('severity')}, "
                                   f"is {found[key].get('severity')}")
    return differences


def main() -> int:
    """Reads two files and prints their differences."""
    parser = argparse.ArgumentParser(description="compares two analyses")
    parser.add_argument("expected", type=Path)
    parser.add_argument("actual", type=Path)
    parser.add_argument("--ignore-config", action="store_true")
    arguments = parser.parse_args()
    objects = []
    for path in (arguments.expected, arguments.actual):
        try:
            objects.append(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            print(f"{path}: {error}")
            return 1
    differences = compare(objects[0], objects[1], arguments.ignore_config)
    for line in differences[:MAX_LINES]:
        print(line)
    if len(differences) > MAX_LINES:
        print(f"{len(differences)} differences in all", file=sys.stderr)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
