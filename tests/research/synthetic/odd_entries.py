"""Entries and files of the wrong shape."""
from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from entries import Company, document, document_entry

WRONG_MEMBERS: tuple[tuple[str, Any], ...] = (
    ("val", None), ("val", True), ("val", "17"), ("val", [1]), ("val", {"val": 1}), ("val", 1e300),
    ("val", 1.0000001e20), ("val", -1e21), ("val", 10 ** 400), ("accn", None), ("accn", 5),
    ("form", None), ("form", ["10-K"]), ("filed", "2023-02-30"), ("filed", "20230228"),
    ("filed", None), ("filed", "2023-2-28"), ("end", "2022-13-01"), ("end", ""), ("end", 20221231),
    ("end", None), ("start", ""), ("start", "x"), ("start", 5), ("start", {"a": {"b": []}}),
    ("start", "0000-01-01"), ("start", False))
WRONG_ENTRIES: tuple[Any, ...] = (None, 5, "x", [], [[]], {}, {"val": 1}, True, [{"val": 3}])


def add_wrong_entries(rng: random.Random, company: Company) -> None:
    """Adds entries that do not exist by rule R1 next to those that do."""
    if not company.entries:
        return
    for _ in range(30):
        entry = rng.choice(company.entries)
        place = (entry.taxonomy, entry.tag, entry.unit)
        if rng.random() < 0.3:
            company.raw.append((*place, rng.choice(WRONG_ENTRIES)))
            continue
        name, value = rng.choice(WRONG_MEMBERS)
        found = document_entry(entry.but(value=entry.value * 2))
        found[name] = value
        company.raw.append((*place, found))
    for name in ("start", "start"):  # these exist: a null start is no start
        entry = rng.choice(company.entries)
        found = document_entry(entry)
        found.setdefault(name, None)
        company.raw.append((entry.taxonomy, entry.tag, entry.unit, found))


def wrong_files(company: Company) -> dict[str, bytes]:
    """Files that are no facts of the company, by a name of the case."""
    good = json.dumps(document(company)).encode("utf-8")
    deep = 10_000
    cik = company.cik
    return {
        "empty": b"", "blank": b" \n", "null": b"null", "number": b"17", "array": b"[]",
        "truncated": good[:len(good) * 2 // 3],
        "truncated in a number": good[:good.rfind(b":") + 2],
        "with more after it": good + b"{}", "not UTF-8": good.replace(b"SYNTHETIC", b"\xff\xfe"),
        "without facts": json.dumps({"cik": cik}).encode(),
        "facts null": json.dumps({"cik": cik, "facts": None}).encode(),
        "facts array": json.dumps({"cik": cik, "facts": [1, [2]]}).encode(),
        "facts empty": json.dumps({"cik": cik, "facts": {}}).encode(),
        "units of wrong types": json.dumps({"cik": cik, "facts": {"us-gaap": {
            "Assets": {"units": {"USD": {"end": 1}, "EUR": 5, "JPY": None}}, "Revenues": [],
            "NetIncomeLoss": {"units": []}, "Goodwill": 3}, "dei": "x"}}).encode(),
        "another company": json.dumps({**document(company), "cik": cik + 1}).encode(),
        "deep arrays": b'{"facts":' + b"[" * deep + b"]" * deep + b"}",
        "deep objects": b'{"facts":' + b'{"a":' * deep + b"1" + b"}" * deep + b"}",
        "NaN": good.replace(b'"val": ', b'"val": NaN, "v": ', 1),
        "Infinity": good.replace(b'"val": ', b'"val": -Infinity, "v": ', 1),
        "comment": b"/* */" + good, "NUL": good + b"\0", "single quotes": good.replace(b'"', b"'"),
        "instants only": json.dumps({"cik": cik, "facts": {"us-gaap": {"Assets": {"units": {
            "USD": [{"end": "2022-12-31", "val": 1, "accn": "a", "form": "10-K",
                     "filed": "2023-02-01"}]}}}}}).encode()}


def write_wrong_file(company: Company, name: str, folder: Path) -> None:
    """Writes one of wrong_files() as the company's file."""
    path = folder / "edgar" / f"CIK{company.cik:010d}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(wrong_files(company)[name])
