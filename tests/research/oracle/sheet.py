"""The figures and findings of an analysis, in the form of section 1."""
from __future__ import annotations

from datetime import date
from typing import Any

from quantity import Missing, Result


class Sheet:
    """Collects figures and findings; a key occurs once."""

    def __init__(self, currency: str) -> None:
        self.currency = currency
        self.figures: dict[tuple[str, str, str, date], dict[str, Any]] = {}
        self.findings: dict[tuple[str, str, str, date], dict[str, Any]] = {}

    def figure(self, owner: str, metric: str, unit: str, period_end: date, result: Result) -> None:
        """Adds a figure of `specialist.subtask`; `cur` in a unit stands for the currency."""
        specialist, subtask = owner.split(".")
        key = (specialist, subtask, metric, period_end)
        if key in self.figures:
            raise ValueError(f"two figures of one key: {key}")
        figure: dict[str, Any] = {"specialist": specialist, "subtask": subtask, "metric": metric,
                                  "period_end": period_end.isoformat()}
        if isinstance(result, Missing):
            figure["not_available"] = f"{result.code}: {result.text}"
        else:
            figure["value"] = result.value
            figure["unit"] = unit.replace("cur", self.currency)
            figure["inputs"] = [entry._asdict() for entry in result.inputs]
            if result.zeros:
                figure["assumed_zero"] = list(result.zeros)
        self.figures[key] = figure

    def finding(self, owner: str, code: str, severity: str, period_end: date) -> None:
        """Adds a finding of `specialist.subtask`."""
        specialist, subtask = owner.split(".")
        key = (specialist, subtask, code, period_end)
        if key in self.findings:
            raise ValueError(f"two findings of one key: {key}")
        self.findings[key] = {"specialist": specialist, "subtask": subtask, "code": code,
                              "severity": severity, "period_end": period_end.isoformat()}
