"""The constants of section 3. Each is a declared assumption, not a measurement."""
from __future__ import annotations

from quantity import Input, Num

CONSTANTS: dict[str, float] = {
    "figure_years": 10,
    "equity_risk_premium": 0.05,
    "statutory_tax_rate": 0.21,
    "tax_rate_min": 0.0,
    "tax_rate_max": 0.35,
    "beta_default": 1.0,
    "beta_months": 60,
    "beta_min_months": 36,
    "market_data_max_age_months": 48,
    "blume_weight": 2 / 3,
    "beta_time_average_factor": 4 / 3,
    "debt_spread_default": 0.01,
    "debt_spread_max": 0.06,
    "target_debt_weight": 0.2,
    "growth_min": -0.05,
    "growth_max": 0.15,
    "terminal_growth_cap": 0.025,
    "min_wacc_minus_growth": 0.01,
    "growth_years": 5,
    "horizon_years": 10,
    "peer_max_age_days": 550,
    "filing_max_days": 150,
    "restatement_tolerance": 0.005,
}


def limit(name: str) -> float:
    """Value of a constant that decides whether a figure exists; it is no input of the figure."""
    return CONSTANTS[name]


def count(name: str) -> int:
    """A constant that counts years, months or days."""
    return int(CONSTANTS[name])


def constant(name: str) -> Num:
    """A constant that enters the arithmetic of a figure, with `config:NAME` as its input."""
    value = float(CONSTANTS[name])
    return Num(value, (Input("config:" + name, None, None, value, None, None, None),))
