"""Facts of a companyfacts file: reading, R1 (as-of date) and R5 (form classes)."""
from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path
from typing import Any, Iterator, NamedTuple, NoReturn, Optional

from quantity import Input

ANNUAL_FORMS = frozenset(("10-K", "10-KT", "20-F", "40-F"))
MAX_VALUE = 1e20
ISO_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")


class AnalysisFailed(Exception):
    """The analysis has no result; the message names the file and the cause."""


class Fact(NamedTuple):
    """One entry of a companyfacts file."""

    taxonomy: str
    tag: str
    unit: str
    start: Optional[date]
    end: date
    value: float
    accn: str
    form: str
    filed: date

    @property
    def order(self) -> tuple[date, str, date, float, str]:
        """Order of R7: filed, accession number, start, value; the form only settles the rest."""
        return (self.filed, self.accn, self.start or date.min, self.value, self.form)

    @property
    def is_annual_form(self) -> bool:
        """R5: 10-K, 10-KT, 20-F or 40-F, with or without /A."""
        return self.form.removesuffix("/A") in ANNUAL_FORMS

    @property
    def is_proxy_form(self) -> bool:
        """R5: forms that start with DEF or PRE."""
        return self.form.startswith(("DEF", "PRE"))

    @property
    def is_annual(self) -> bool:
        """R4: the period is a year of 52 or 53 weeks, whatever the form."""
        return self.start is not None and 350 <= (self.end - self.start).days + 1 <= 380

    @property
    def entry(self) -> Input:
        """The fact as an entry of `inputs`: the value as filed."""
        start = None if self.start is None else self.start.isoformat()
        return Input(self.tag, start, self.end.isoformat(), self.value, self.accn, self.form,
                     self.filed.isoformat())


def parse_date(text: Any) -> Optional[date]:
    """Returns the calendar date of a YYYY-MM-DD text, or None."""
    match = ISO_DATE.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    try:
        return date(*(int(part) for part in match.groups()))
    except ValueError:
        return None


def parse_fact(taxonomy: str, tag: str, unit: str, entry: Any) -> Optional[Fact]:
    """Returns the fact of one entry, or None when it does not exist by R1."""
    if not isinstance(entry, dict):
        return None
    value, accn, form = entry.get("val"), entry.get("accn"), entry.get("form")
    if not isinstance(value, float) or not abs(value) <= MAX_VALUE:
        return None
    if not isinstance(accn, str) or not isinstance(form, str):
        return None
    filed, end = parse_date(entry.get("filed")), parse_date(entry.get("end"))
    start = parse_date(entry.get("start"))
    if filed is None or end is None or (start is None and entry.get("start") is not None):
        return None
    return Fact(taxonomy, tag, unit, start, end, value, accn, form, filed)


def walk(facts: Any) -> Iterator[Fact]:
    """Yields the facts of the `facts` object; parts of another shape are skipped."""
    for taxonomy, concepts in facts.items() if isinstance(facts, dict) else ():
        for tag, concept in concepts.items() if isinstance(concepts, dict) else ():
            units = concept.get("units") if isinstance(concept, dict) else None
            for unit, entries in units.items() if isinstance(units, dict) else ():
                for entry in entries if isinstance(entries, list) else ():
                    fact = parse_fact(taxonomy, tag, unit, entry)
                    if fact is not None:
                        yield fact


def reject_constant(name: str) -> NoReturn:
    """NaN and Infinity are no JSON."""
    raise ValueError(f"{name} is no JSON number")


def cik_of(document: dict[str, Any]) -> Optional[int]:
    """Returns the `cik` of a file, which is a number or a text of digits."""
    cik = document.get("cik")
    if isinstance(cik, float) and cik.is_integer():
        return int(cik)
    return int(cik) if isinstance(cik, str) and re.fullmatch(r"[0-9]{1,10}", cik) else None


def read_facts(path: Path, cik: int) -> list[Fact]:
    """Returns all facts of a companyfacts file, of any date. Fails when it is another company's."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise AnalysisFailed(f"{path}: the file cannot be read: {error.strerror}") from error
    try:
        document = json.loads(raw, parse_int=float, parse_constant=reject_constant)
    except (ValueError, RecursionError) as error:
        raise AnalysisFailed(f"{path}: the file is no JSON: {error}") from error
    if not isinstance(document, dict):
        raise AnalysisFailed(f"{path}: the file is no JSON object")
    found = cik_of(document)
    if found is not None and found != cik:
        raise AnalysisFailed(f"{path}: the facts are of CIK {found}, not of CIK {cik}")
    return list(walk(document.get("facts")))


class FactSet:
    """The facts visible on the as-of date (R1), by taxonomy and tag, in the order of R7."""

    def __init__(self, facts: list[Fact], as_of: date) -> None:
        self.as_of = as_of
        self.all = sorted((fact for fact in facts if fact.filed <= as_of),
                          key=lambda fact: (fact.taxonomy, fact.tag, fact.unit) + fact.order)
        self._by_tag: dict[tuple[str, str], list[Fact]] = {}
        for fact in self.all:
            self._by_tag.setdefault((fact.taxonomy, fact.tag), []).append(fact)

    def of(self, taxonomy: str, tag: str, unit: Optional[str] = None) -> list[Fact]:
        """Returns the visible facts of a tag, of one unit or of all."""
        facts = self._by_tag.get((taxonomy, tag), [])
        return facts if unit is None else [fact for fact in facts if fact.unit == unit]
