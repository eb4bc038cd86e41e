"""Numbers that carry their inputs, and the reasons for numbers that do not exist.

A result is either a `Num` (a finite double with the facts that it was computed from) or a
`Missing` (a code of section 1 and a text). Arithmetic on results keeps the union of the inputs;
the first operand that fails, in the order written, decides the reason.
"""
from __future__ import annotations

import math
from typing import Callable, Iterable, NamedTuple, Optional, Union


class Input(NamedTuple):
    """One entry of a figure's `inputs`, with dates as ISO texts."""

    concept: str
    start: Optional[str]
    end: Optional[str]
    value: float
    accn: Optional[str]
    form: Optional[str]
    filed: Optional[str]


class Num(NamedTuple):
    """A finite value, the inputs that it used, and the items that were taken as zero."""

    value: float
    inputs: tuple[Input, ...] = ()
    zeros: tuple[str, ...] = ()


class Missing(NamedTuple):
    """Reason why there is no value; `code` is one of the codes of section 1."""

    code: str
    text: str


Result = Union[Num, Missing]

MISSING_INPUT = "missing_input"
TOO_LITTLE_HISTORY = "too_little_history"
NON_POSITIVE = "non_positive"
NOT_APPLICABLE = "not_applicable"
CURRENCY_MISMATCH = "currency_mismatch"
NO_MARKET_DATA = "no_market_data"
NO_PEERS = "no_peers"
NO_TEXT = "no_text"


def first_missing(results: Iterable[Result]) -> Optional[Missing]:
    """Returns the first result that is missing, in the order given."""
    for result in results:
        if isinstance(result, Missing):
            return result
    return None


def number(value: float, *sources: Num) -> Result:
    """Returns `value` with the union of the inputs of `sources`; non-finite is `non_positive`."""
    if isinstance(value, complex) or not math.isfinite(value):
        return Missing(NON_POSITIVE, "the result is not finite")
    if len(sources) == 1:
        return Num(float(value), sources[0].inputs, sources[0].zeros)
    inputs = dict.fromkeys(entry for source in sources for entry in source.inputs)
    zeros = dict.fromkeys(name for source in sources for name in source.zeros)
    return Num(float(value), tuple(inputs), tuple(zeros))


def apply(function: Callable[..., float], *operands: Result) -> Result:
    """Returns function(values of operands), or the reason of the first operand that fails.

    A division by zero, a domain error or an overflow is `non_positive`.
    """
    failed = first_missing(operands)
    if failed is not None:
        return failed
    numbers = [operand for operand in operands if isinstance(operand, Num)]
    try:
        value = function(*(operand.value for operand in numbers))
    except (ZeroDivisionError, OverflowError, ValueError):
        return Missing(NON_POSITIVE, "the result is not finite")
    return number(value, *numbers)


def add(a: Result, b: Result) -> Result:
    """a + b"""
    return apply(lambda x, y: x + y, a, b)


def subtract(a: Result, b: Result) -> Result:
    """a - b"""
    return apply(lambda x, y: x - y, a, b)


def multiply(a: Result, b: Result) -> Result:
    """a * b"""
    return apply(lambda x, y: x * y, a, b)


def divide(a: Result, b: Result) -> Result:
    """a / b; a denominator of 0 is `non_positive`."""
    return apply(lambda x, y: x / y, a, b)


def positive(a: Result) -> Result:
    """pos(e) of section 5: e, or `non_positive` if e <= 0."""
    if isinstance(a, Num) and a.value <= 0:
        return Missing(NON_POSITIVE, "a value that must be greater than 0 is not")
    return a


def total(results: Iterable[Result]) -> Result:
    """Sum from the left; all operands are needed."""
    terms = list(results)
    return apply(lambda *values: sum(values[1:], values[0]), *terms)


def clip(value: float, low: float, high: float) -> float:
    """Returns `value` limited to [low, high]."""
    return min(max(value, low), high)


def unit_free(value: float) -> Num:
    """A number that is written in a formula; it has no inputs."""
    return Num(float(value))
