"""The valuation specialist: section 6.3."""
from __future__ import annotations

import math
from typing import Callable, NamedTuple

from config import constant, count, limit
from formulas import Company
from market import MarketView
from quantity import (MISSING_INPUT, NON_POSITIVE, Missing, Num, Result, add, apply, clip, divide,
                      first_missing, multiply, number, positive, subtract, unit_free)
from specialists_market import NOT_USD

ASSUMPTIONS = ("base_revenue", "initial_growth", "terminal_growth", "target_operating_margin",
               "model_tax_rate", "sales_to_capital")
PROJECTED = ("revenue", "ebit", "nopat", "reinvestment", "fcff")
TOO_CLOSE = Missing(NON_POSITIVE, "wacc is too close to terminal growth")


class Plan(NamedTuple):
    """Values of the six assumptions and of wacc, as a scenario changes them."""

    revenue: float
    growth: float
    terminal: float
    margin: float
    tax: float
    sales_to_capital: float
    wacc: float


def project(plan: Plan) -> list[tuple[float, float, float, float, float]]:
    """Revenue, EBIT, NOPAT, reinvestment and FCFF of each projected year."""
    steady, horizon = count("growth_years"), count("horizon_years")
    rows = []
    before = plan.revenue
    for y in range(1, horizon + 1):
        growth = plan.growth
        if y > steady:
            growth += (plan.terminal - plan.growth) * (y - steady) / (horizon - steady)
        revenue = before * (1 + growth)
        ebit = revenue * plan.margin
        nopat = ebit * (1 - plan.tax)
        reinvestment = (revenue - before) / plan.sales_to_capital
        rows.append((revenue, ebit, nopat, reinvestment, nopat - reinvestment))
        before = revenue
    return rows


def power(base: float, exponent: int) -> float:
    """A power as IEEE doubles have it: infinite beyond their range."""
    try:
        return base ** exponent
    except OverflowError:
        return math.inf


def quotient(a: float, b: float) -> float:
    """a / b, not finite for a denominator of 0."""
    return a / b if b != 0 else math.nan


def discount(plan: Plan) -> dict[str, float]:
    """The figures of terminal_value up to enterprise_value."""
    rows = project(plan)
    w, g, n = plan.wacc, plan.terminal, len(rows)
    last = rows[-1][0]
    after = last * (1 + g)
    nopat = after * plan.margin * (1 - plan.tax)
    fcff = nopat - (after - last) / plan.sales_to_capital
    value = quotient(fcff, w - g)
    explicit = 0.0
    for y, row in enumerate(rows, start=1):
        explicit += quotient(row[4], power(1 + w, y))
    present = quotient(value, power(1 + w, n))
    return {"terminal_fcff": fcff, "terminal_value": value,
            "terminal_value_convergence": quotient(nopat, w), "pv_explicit": explicit,
            "pv_terminal": present, "enterprise_value": explicit + present}


class Valuation:
    """All figures of the specialist for the last fiscal year, by name."""

    def __init__(self, company: Company, view: MarketView, beta: Result) -> None:
        self.company = company
        self.risk_free = view.risk_free_rate().result
        self.beta = beta
        self.usd = company.filer.currency == "USD"
        self.defaults: list[str] = []
        self.figures: dict[str, tuple[str, str, Result]] = {}
        self._assumptions()
        self._cost_of_capital()
        self._projection()
        self._terminal_value()
        self._sensitivity()

    def result(self, name: str) -> Result:
        """A figure by name."""
        return self.figures[name][2]

    def _set(self, subtask: str, name: str, unit: str, mark: str,
             compute: Callable[[], Result]) -> None:
        result: Result = self.company.not_applicable()
        if self.company.applies(mark):
            result = compute()
        self.figures[name] = (subtask, unit, result)

    def _set_usd(self, subtask: str, name: str, unit: str, mark: str,
                 compute: Callable[[], Result]) -> None:
        self._set(subtask, name, unit, mark, compute if self.usd else lambda: NOT_USD)

    def _assumptions(self) -> None:
        company, subtask = self.company, "dcf_assumptions"
        self._set(subtask, "base_revenue", "cur", "", lambda: company.latest("revenue"))
        self._set(subtask, "initial_growth", "ratio", "", self._initial_growth)
        self._set_usd(subtask, "terminal_growth", "ratio", "°",
                      lambda: apply(min, self.risk_free, constant("terminal_growth_cap")))
        self._set(subtask, "target_operating_margin", "ratio", "", self._target_margin)
        self._set(subtask, "model_tax_rate", "ratio", "", lambda: company.latest("tax_rate_model"))
        self._set(subtask, "sales_to_capital", "ratio", "",
                  lambda: divide(company.latest("revenue"),
                                 positive(company.latest("invested_capital"))))

    def _initial_growth(self) -> Result:
        growth: Result = Missing(MISSING_INPUT, "growth")
        for name in ("revenue_cagr_5y", "revenue_cagr_3y", "revenue_growth"):
            growth = self.company.latest(name)
            if isinstance(growth, Num):
                break
        return apply(clip, growth, constant("growth_min"), constant("growth_max"))

    def _target_margin(self) -> Result:
        latest = self.company.latest("operating_margin")
        if isinstance(latest, Missing):
            return latest
        years = [x for _, x in self.company.window("operating_margin", 0, 2) if isinstance(x, Num)]
        return positive(apply(lambda *values: sum(values) / len(values), *years))

    def _cost_of_capital(self) -> None:
        company, subtask = self.company, "wacc_calculation"
        get = self.result
        self._set_usd(subtask, "wacc_risk_free_rate", "ratio", "°", lambda: self.risk_free)
        self._set_usd(subtask, "wacc_beta", "ratio", "°", self._beta)
        self._set_usd(subtask, "cost_of_equity", "ratio", "°",
                      lambda: apply(lambda rf, beta, premium: rf + beta * premium,
                                    get("wacc_risk_free_rate"), get("wacc_beta"),
                                    constant("equity_risk_premium")))
        self._set_usd(subtask, "cost_of_debt_pretax", "ratio", "", self._cost_of_debt)
        self._set_usd(subtask, "cost_of_debt_aftertax", "ratio", "",
                      lambda: apply(lambda cost, tax: cost * (1 - tax), get("cost_of_debt_pretax"),
                                    company.latest("tax_rate_model")))
        self._set_usd(subtask, "equity_for_weights", "cur", "", self._equity_for_weights)
        self._set(subtask, "debt_for_weights", "cur", "", lambda: company.latest("total_debt"))
        self._set_usd(subtask, "weight_debt", "ratio", "", self._weight_debt)
        self._set_usd(subtask, "weight_equity", "ratio", "",
                      lambda: subtract(unit_free(1), get("weight_debt")))
        self._set_usd(subtask, "wacc", "ratio", "",
                      lambda: add(multiply(get("weight_equity"), get("cost_of_equity")),
                                  multiply(get("weight_debt"), get("cost_of_debt_aftertax"))))

    def _beta(self) -> Result:
        if isinstance(self.beta, Num):
            return self.beta
        self.defaults.append("beta_is_default")
        return constant("beta_default")

    def _cost_of_debt(self) -> Result:
        paid = divide(self.company.latest("interest_expense"), positive(
            apply(lambda a, b: (a + b) / 2, self.company.latest("total_debt"),
                  self.company.prior("total_debt", self.company.last, 1))))
        if isinstance(paid, Missing):
            self.defaults.append("cost_of_debt_is_default")
            return add(self.risk_free, constant("debt_spread_default"))
        return apply(lambda cost, rf, spread: clip(cost, rf, rf + spread), paid, self.risk_free,
                     constant("debt_spread_max"))

    def _equity_for_weights(self) -> Result:
        filer = self.company.filer
        facts = [fact for fact in filer.facts.of("dei", "EntityPublicFloat", filer.currency)
                 if fact.start is None]
        if not facts:
            return Missing(MISSING_INPUT, "public float")
        found = max(facts, key=lambda fact: (fact.end,) + fact.order)
        return positive(Num(found.value, (found.entry,)))

    def _weight_debt(self) -> Result:
        equity = self.result("equity_for_weights")
        if isinstance(equity, Missing):
            self.defaults.append("weights_are_target")
            return constant("target_debt_weight")
        debt = self.result("debt_for_weights")
        return divide(debt, positive(add(equity, debt)))

    def _projection(self) -> None:
        sources = [self.result(name) for name in ASSUMPTIONS]
        sources += [constant("growth_years"), constant("horizon_years")]
        for position, line in enumerate(PROJECTED):
            for y in range(1, count("horizon_years") + 1):
                def projected(*values: float, position: int = position, y: int = y) -> float:
                    return project(Plan(*values[:6], 0.0))[y - 1][position]

                self._set("cash_flow_projection", f"proj_{line}_{y:02d}", "cur", "",
                          lambda projected=projected: apply(projected, *sources))

    def _discounted(self, name: str, change: Callable[[Plan], Plan] = lambda plan: plan) -> Result:
        """A figure of `discount` after a change of the plan."""
        sources = [self.result(assumption) for assumption in ASSUMPTIONS + ("wacc",)]
        failed = first_missing(sources)
        if failed is not None:
            return failed
        numbers = [source for source in sources if isinstance(source, Num)]
        plan = change(Plan(*(source.value for source in numbers)))
        if plan.wacc - plan.terminal < limit("min_wacc_minus_growth"):
            return TOO_CLOSE
        numbers += [constant("growth_years"), constant("horizon_years")]
        try:
            return number(discount(plan)[name], *numbers)
        except (ZeroDivisionError, OverflowError):
            return Missing(NON_POSITIVE, "the result is not finite")

    def _equity_value(self, enterprise: Result) -> Result:
        company = self.company
        statements, last = company.statements, company.last
        return apply(lambda ev, cash, invested, debt, minority:
                     ev + (cash + invested - debt - minority), enterprise, company.latest("cash"),
                     statements.optional("short_term_investments", last),
                     company.latest("total_debt"), statements.optional("minority_interest", last))

    def _shares(self) -> Result:
        for name in ("shares_diluted", "shares_basic", "shares_outstanding"):
            shares = self.company.latest(name)
            if isinstance(shares, Num) and shares.value > 0:
                return shares
        return Missing(MISSING_INPUT, "shares")

    def _terminal_value(self) -> None:
        subtask, get = "terminal_value", self.result
        for name in ("terminal_fcff", "terminal_value", "terminal_value_convergence", "pv_explicit",
                     "pv_terminal", "enterprise_value"):
            self._set(subtask, name, "cur", "", lambda name=name: self._discounted(name))
        self._set(subtask, "equity_value", "cur", "",
                  lambda: self._equity_value(get("enterprise_value")))
        self._set(subtask, "value_per_share", "cur/shares", "",
                  lambda: divide(get("equity_value"), self._shares()))
        self._set(subtask, "terminal_share", "ratio", "",
                  lambda: divide(get("pv_terminal"), positive(get("enterprise_value"))))
        self._set(subtask, "bank_justified_price_to_book", "ratio", "B", self._price_to_book)
        self._set(subtask, "bank_equity_value", "cur", "B",
                  lambda: multiply(get("bank_justified_price_to_book"),
                                   self.company.latest("equity")))

    def _price_to_book(self) -> Result:
        operands = (self.company.latest("return_on_equity"), self.result("terminal_growth"),
                    self.result("cost_of_equity"))
        bound = subtract(operands[2], operands[1])
        if first_missing(operands) is None and isinstance(bound, Num):
            if bound.value < limit("min_wacc_minus_growth"):
                return Missing(NON_POSITIVE, "cost of equity is too close to terminal growth")
        return apply(lambda roe, g, cost: (roe - g) / (cost - g), *operands)

    def _sensitivity(self) -> None:
        for dw in (-100, -50, 0, 50, 100):
            for dg in (-50, -25, 0, 25, 50):
                self._scenario(f"sens_{{}}_w{dw:+d}_g{dg:+d}", lambda plan, dw=dw, dg=dg:
                               plan._replace(wacc=plan.wacc + dw / 10000,
                                             terminal=plan.terminal + dg / 10000))
        for name, wacc, growth, margin in (("bear", 0.01, -0.03, 0.85), ("base", 0.0, 0.0, 1.0),
                                           ("bull", -0.005, 0.03, 1.10)):
            self._scenario(f"scenario_{{}}_{name}",
                           lambda plan, wacc=wacc, growth=growth, margin=margin:
                           plan._replace(wacc=plan.wacc + wacc, growth=plan.growth + growth,
                                         margin=plan.margin * margin))

    def _scenario(self, pattern: str, change: Callable[[Plan], Plan]) -> None:
        """Enterprise value and value per share of a changed plan."""
        subtask, name = "sensitivity_analysis", pattern.format("ev")
        self._set(subtask, name, "cur", "", lambda: self._discounted("enterprise_value", change))
        self._set(subtask, pattern.format("value_per_share"), "cur/shares", "",
                  lambda: divide(self._equity_value(self.result(name)), self._shares()))
