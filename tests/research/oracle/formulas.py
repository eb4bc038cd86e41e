"""Evaluation of the formula language of section 5 for one company."""
from __future__ import annotations

import ast
import math
from typing import Callable

from config import constant
from items import ITEMS
from metric_table import METRICS
from quantity import (MISSING_INPUT, NOT_APPLICABLE, NON_POSITIVE, TOO_LITTLE_HISTORY, Missing, Num,
                      Result, add, apply, clip, divide, multiply, positive, subtract, total,
                      unit_free)
from statements import Statements

OPERATORS: dict[type, Callable[[Result, Result], Result]] = {
    ast.Add: add, ast.Sub: subtract, ast.Mult: multiply, ast.Div: divide}
COMPARISONS: dict[type, Callable[[float, float], bool]] = {
    ast.Gt: lambda a, b: a > b, ast.Lt: lambda a, b: a < b, ast.LtE: lambda a, b: a <= b}
NO_YEAR = Missing(TOO_LITTLE_HISTORY, "the earlier fiscal year is not there")


def standard_deviation(values: list[float]) -> float:
    """Sample standard deviation, with n - 1."""
    mean = sum(values) / len(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))


class Company:
    """Line items and metrics of one company by fiscal year; a year is an index in the spine."""

    def __init__(self, statements: Statements) -> None:
        self.statements = statements
        self.filer = statements.filer
        self.is_bank = self.filer.is_bank
        self.last = len(self.filer.years) - 1
        self._cache: dict[tuple[str, int], Result] = {}

    def value(self, name: str, index: int) -> Result:
        """Returns a line item or a metric of a year, with the marks of R11."""
        key = (name, index)
        if key not in self._cache:
            self._cache[key] = self._value(name, index)
        return self._cache[key]

    def latest(self, name: str) -> Result:
        """Returns a line item or a metric of the last fiscal year."""
        return self.value(name, self.last)

    def prior(self, name: str, index: int, years: int) -> Result:
        """x[-k]"""
        earlier = index if years == 0 else self.filer.prior(index, years)
        return NO_YEAR if earlier is None else self.value(name, earlier)

    def window(self, name: str, first: int, last: int) -> list[tuple[int, Result]]:
        """Pairs of k and x[-k] for k = first .. last, seen from the last fiscal year."""
        return [(k, self.prior(name, self.last, k)) for k in range(first, last + 1)]

    def applies(self, mark: str) -> bool:
        """R11: whether a metric with this mark is for the company."""
        return mark in ("°", "B") if self.is_bank else mark != "B"

    def not_applicable(self) -> Missing:
        """The reason of a metric that is not for this company."""
        return Missing(NOT_APPLICABLE, "bank" if self.is_bank else "not a bank")

    def _value(self, name: str, index: int) -> Result:
        if name in ITEMS:
            return self.statements.item(name, index)
        if name == "tax_rate_model":
            return self._tax_rate_model(index)
        metric = METRICS[name]
        if not self.applies(metric.mark):
            return self.not_applicable()
        return self._evaluate(metric.expression, index)

    def _tax_rate_model(self, index: int) -> Result:
        rate = self.value("effective_tax_rate", index)
        if isinstance(rate, Missing):
            return constant("statutory_tax_rate")
        return apply(clip, rate, constant("tax_rate_min"), constant("tax_rate_max"))

    def _evaluate(self, node: ast.expr, index: int) -> Result:
        if isinstance(node, ast.Constant):
            return unit_free(float(node.value))
        if isinstance(node, ast.Name):
            return self.value(node.id, index)
        if isinstance(node, ast.BinOp):
            left = self._evaluate(node.left, index)
            if isinstance(left, Missing):
                return left
            return OPERATORS[type(node.op)](left, self._evaluate(node.right, index))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return apply(lambda x: -x, self._evaluate(node.operand, index))
        if isinstance(node, ast.Compare):
            test = COMPARISONS[type(node.ops[0])]
            return apply(lambda a, b: 1.0 if test(a, b) else 0.0, self._evaluate(node.left, index),
                         self._evaluate(node.comparators[0], index))
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            return apply(max, *(self._evaluate(value, index) for value in node.values))
        if isinstance(node, ast.Subscript):
            return self._earlier(node.value, index, -int(ast.literal_eval(node.slice)))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self._call(node.func.id, node.args, index)
        raise ValueError(f"no expression of section 5: {ast.dump(node)}")

    def _earlier(self, node: ast.expr, index: int, years: int) -> Result:
        earlier = index if years == 0 else self.filer.prior(index, years)
        return NO_YEAR if earlier is None else self._evaluate(node, earlier)

    def _call(self, function: str, arguments: list[ast.expr], index: int) -> Result:
        if function == "depreciation_rate_index":
            return self._depreciation_rate_index(index)
        operand = arguments[0]
        if function == "opt" and isinstance(operand, ast.Name):
            return self.statements.optional(operand.id, index)
        if function == "pos":
            return positive(self._evaluate(operand, index))
        if function == "ln":
            return apply(math.log, self._evaluate(operand, index))
        if function == "avg":
            return apply(lambda a, b: (a + b) / 2, self._evaluate(operand, index),
                         self._earlier(operand, index, 1))
        numbers = [int(ast.literal_eval(argument)) for argument in arguments[1:]]
        if function == "cagr":
            return self._cagr(operand, index, numbers[0])
        years = (self._earlier(operand, index, k) for k in range(numbers[0]))
        if function in ("mean", "sd"):
            return self._over_all(function, list(years))
        if function in ("meanav", "sumav"):
            return self._over_available(function, list(years), numbers[1])
        raise ValueError(f"no function of section 5: {function}")

    def _cagr(self, operand: ast.expr, index: int, years: int) -> Result:
        newest, oldest = self._evaluate(operand, index), self._earlier(operand, index, years)
        for value in (newest, oldest):
            if isinstance(value, Missing):
                return value
        return apply(lambda a, b: math.pow(a / b, 1 / years) - 1, positive(newest),
                     positive(oldest))

    @staticmethod
    def _over_all(function: str, years: list[Result]) -> Result:
        if function == "mean":
            return divide(total(years), unit_free(len(years)))
        return apply(lambda *values: standard_deviation(list(values)), *years)

    @staticmethod
    def _over_available(function: str, years: list[Result], needed: int) -> Result:
        available = [year for year in years if isinstance(year, Num)]
        if len(available) < needed:
            return Missing(TOO_LITTLE_HISTORY, f"{len(available)} of {needed} years needed")
        result = total(available)
        return divide(result, unit_free(len(available))) if function == "meanav" else result

    def _depreciation_rate_index(self, index: int) -> Result:
        """beneish_depi of section 6.8, with one basis of depreciation for both years."""
        if self.filer.prior(index, 1) is None:
            return NO_YEAR
        before, now = self._depreciation_pair(index)
        if isinstance(before, Missing) or isinstance(now, Missing):
            return Missing(MISSING_INPUT, "depreciation")
        ppe_before, ppe_now = self.prior("ppe", index, 1), self.value("ppe", index)
        for ppe in (ppe_before, ppe_now):
            if isinstance(ppe, Missing):
                return ppe
        for dep, ppe in ((before, ppe_before), (now, ppe_now)):
            if dep.value <= 0 or dep.value + ppe.value <= 0:
                return Missing(NON_POSITIVE, "depreciation, or depreciation + ppe")
        return apply(lambda d0, p0, d1, p1: (d0 / (d0 + p0)) / (d1 / (d1 + p1)),
                     before, ppe_before, now, ppe_now)

    def _depreciation_pair(self, index: int) -> tuple[Result, Result]:
        """Depreciation of the year before and of the year, on the first basis that both have."""
        pair: tuple[Result, Result] = (NO_YEAR, NO_YEAR)
        for basis in ("depreciation", "less_amortization", "d_and_a"):
            values = []
            for k in (1, 0):
                if basis == "less_amortization":
                    values.append(subtract(self.prior("d_and_a", index, k),
                                           self.prior("amortization_intangibles", index, k)))
                else:
                    values.append(self.prior(basis, index, k))
            pair = (values[0], values[1])
            if not any(isinstance(value, Missing) for value in pair):
                return pair
        return pair
