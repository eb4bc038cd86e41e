"""Prints analyses of `belay research show --json` side by side.

    side_by_side.py ANALYSIS.json...       a table of their last years
    side_by_side.py --state ANALYSIS.json  the progress of one, in one line
"""

import json
import sys

# Specialist, metric, its name in the table, and how its number is written.
ROWS = [
    ("financial", "revenue", "Revenue", "billions"),
    ("growth", "revenue_growth", "Growth of revenue", "percent"),
    ("financial", "gross_margin", "Gross margin", "percent"),
    ("financial", "operating_margin", "Operating margin", "percent"),
    ("financial", "roic", "Return on invested capital", "percent"),
    ("financial", "fcf", "Free cash flow", "billions"),
    ("strategy", "capital_allocation_score", "Capital allocation score", "score"),
    ("valuation", "wacc", "Cost of capital", "percent"),
    ("competitive_position", "moat_score", "Moat score", "score"),
    ("earnings_quality", "piotroski_f_score", "Piotroski F-score", "count"),
    ("credit", "net_debt_to_ebitda", "Net debt to EBITDA", "multiple"),
    ("credit", "altman_z_1968", "Altman Z", "multiple"),
    ("risk_factors", "risk_words", "Words of risk factors", "count"),
    ("governance", "days_to_annual_filing", "Days to the annual filing", "count"),
]


def written(figure, form):
    if "not_available" in figure:
        return "n/a: " + figure["not_available"].split(":")[0]
    value = figure["value"]
    if form == "billions":
        return f"{value / 1e9:,.1f} bn {figure['unit']}"
    if form == "percent":
        return f"{100 * value:.1f}%"
    return {"score": f"{value:.1f}", "multiple": f"{value:.2f}", "count": f"{value:,.0f}"}[form]


def last(analysis, specialist, metric):
    figures = [
        each
        for each in analysis["figures"]
        if each["specialist"] == specialist and each["metric"] == metric
    ]
    return max(figures, key=lambda each: each["period_end"], default=None)


def table(analyses):
    yield ["", *(each["ticker"] for each in analyses)]
    yield ["Company", *(each["entity"] for each in analyses)]
    yield ["Fiscal year", *(each["fiscal_years"][-1] for each in analyses)]
    for specialist, metric, name, form in ROWS:
        figures = [last(each, specialist, metric) for each in analyses]
        yield [name, *(written(each, form) if each else "" for each in figures)]
    for severity in ("high", "medium", "low"):
        counts = [
            sum(finding["severity"] == severity for finding in each["findings"])
            for each in analyses
        ]
        yield [f"Findings, {severity}", *map(str, counts)]


def state(analysis):
    parts = analysis["specialists"].values()
    steps = [[int(word) for word in each["progress"].split() if word.isdigit()] for each in parts]
    done, total = (sum(column) for column in zip(*steps))
    outcome = analysis["outcome"] or "waits at the gate"
    return f"{analysis['ticker']}: {outcome}, {done} of {total} subtasks"


def read(paths):
    analyses = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            analyses.append(json.load(file))
    return analyses


if sys.argv[1] == "--state":
    print(state(read(sys.argv[2:])[0]))
else:
    for label, *cells in table(read(sys.argv[1:])):
        print(f"{label:<27}" + "".join(f"{cell:>22}" for cell in cells))
    print("\nNot investment advice.")
