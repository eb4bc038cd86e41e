"""Entries of companyfacts files as flat records, and the files that they come from and go to."""
from __future__ import annotations

import json
import random
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Iterable, Optional

US_GAAP = "us-gaap"
IFRS = "ifrs-full"


@dataclass(frozen=True)
class Entry:
    """One fact of a file; dates are calendar dates, `value` is a number."""

    taxonomy: str
    tag: str
    unit: str
    start: Optional[date]
    end: date
    value: float
    accn: str
    form: str
    filed: date

    def but(self, **changes: Any) -> "Entry":
        """The entry with other members."""
        return replace(self, **changes)

    @property
    def days(self) -> int:
        """Length of the period, 0 for an instant."""
        return 0 if self.start is None else (self.end - self.start).days + 1


@dataclass
class Company:
    """A synthetic company: what its folder contains."""

    ticker: str
    cik: int
    entries: list[Entry]
    raw: list[tuple[str, str, str, Any]]  # taxonomy, tag, unit, entry of any shape


def later(day: date, days: int) -> date:
    """A date some days later, within the calendar."""
    return date.fromordinal(min(max(day.toordinal() + days, 1), date.max.toordinal()))


def accession(rng: random.Random, filed: date) -> str:
    """A number in the form of EDGAR's accession numbers."""
    return f"{rng.randrange(10 ** 7):010d}-{filed.year % 100:02d}-{rng.randrange(10 ** 6):06d}"


def document_entry(entry: Entry) -> dict[str, Any]:
    """The members of an entry, with those that no rule reads."""
    found: dict[str, Any] = {}
    if entry.start is not None:
        found["start"] = entry.start.isoformat()
    whole = float(entry.value).is_integer() and abs(entry.value) < 2 ** 53
    found.update(end=entry.end.isoformat(), val=int(entry.value) if whole else entry.value,
                 accn=entry.accn, fy=entry.filed.year - 1, fp="FY", form=entry.form,
                 filed=entry.filed.isoformat(), frame=f"CY{entry.end.year}")
    return found


def document(company: Company) -> dict[str, Any]:
    """The company as an object of the companyfacts structure."""
    facts: dict[str, dict[str, Any]] = {}

    def add(taxonomy: str, tag: str, unit: str, value: Any) -> None:
        concept = facts.setdefault(taxonomy, {}).setdefault(
            tag, {"label": tag, "description": None, "units": {}})
        concept["units"].setdefault(unit, []).append(value)

    for entry in company.entries:
        add(entry.taxonomy, entry.tag, entry.unit, document_entry(entry))
    for taxonomy, tag, unit, value in company.raw:
        add(taxonomy, tag, unit, value)
    return {"cik": company.cik, "entityName": f"SYNTHETIC {company.ticker}", "facts": facts}


def write_company(company: Company, folder: Path) -> None:
    """Writes edgar/CIK<10 digits>.json."""
    path = folder / "edgar" / f"CIK{company.cik:010d}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document(company)), encoding="utf-8")


def entries_of(path: Path) -> list[Entry]:
    """Reads the entries of a real file."""
    found = []
    facts = json.loads(path.read_text(encoding="utf-8"))["facts"]
    for taxonomy, concepts in facts.items():
        for tag, concept in concepts.items():
            for unit, values in concept["units"].items():
                for value in values:
                    start = value.get("start")
                    found.append(Entry(
                        taxonomy, tag, unit, date.fromisoformat(start) if start else None,
                        date.fromisoformat(value["end"]), float(value["val"]), value["accn"],
                        value["form"], date.fromisoformat(value["filed"])))
    return found


def last_filed(entries: Iterable[Entry]) -> date:
    """The largest filing date."""
    return max((entry.filed for entry in entries), default=date(2024, 12, 31))


def quarter_of(entry: Entry) -> Entry:
    """The last quarter of an annual fact."""
    return entry.but(start=entry.end - timedelta(days=90), value=entry.value / 4)
