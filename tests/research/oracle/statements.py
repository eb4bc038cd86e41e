"""From facts to the value of a line item in a fiscal year: R7, R8, R10, R12 and R13."""
from __future__ import annotations

from typing import Callable, Iterable, NamedTuple, Optional

from facts import Fact
from filer import Filer, Year
from items import IFRS, ITEMS
from quantity import MISSING_INPUT, Missing, Num, Result, number

LEASE_DEBT = "LongTermDebtAndCapitalLeaseObligations"
IFRS_LONG_TERM_DEBT = ("LongtermBorrowings", "NoncurrentPortionOfNoncurrentBondsIssued")
IFRS_CURRENT_DEBT = ("ShorttermBorrowings", "CurrentPortionOfLongtermBorrowings",
                     "CurrentBondsIssuedAndCurrentPortionOfNoncurrentBondsIssued")
D_AND_A = (("DepreciationAmortizationAndAccretionNet",), ("DepreciationAndAmortization",),
           ("DepreciationDepletionAndAmortization",),
           ("Depreciation", "AmortizationOfIntangibleAssets"), ("Depreciation",))
IFRS_D_AND_A = (("DepreciationAndAmortisationExpense",),
                ("DepreciationExpense", "AmortisationExpense"), ("DepreciationExpense",))


class Pick(NamedTuple):
    """A tag, the fact that it gives in a year, and the value with any split factor."""

    tag: str
    fact: Fact
    num: Num


def plus(nums: Iterable[Num]) -> Optional[Num]:
    """Sum of numbers from the left; None when it is not finite."""
    terms = list(nums)
    result = number(sum((term.value for term in terms[1:]), terms[0].value), *terms)
    return result if isinstance(result, Num) else None


def minus(a: Num, b: Num) -> Optional[Num]:
    """a - b"""
    result = number(a.value - b.value, a, b)
    return result if isinstance(result, Num) else None


def with_zero(num: Num, item: str) -> Num:
    """The number with `item` named as taken for zero."""
    return num._replace(zeros=tuple(dict.fromkeys(num.zeros + (item,))))


class Statements:
    """Line items of one filer by fiscal year. A year is named by its index in the spine."""

    def __init__(self, filer: Filer) -> None:
        self.filer = filer
        self.ifrs = filer.taxonomy == IFRS
        self._cache: dict[tuple[str, int], Optional[Num]] = {}
        self._derived: dict[str, Callable[[int], Optional[Num]]] = {
            "gross_profit": self._gross_profit, "cost_of_revenue": self._cost_of_revenue,
            "sga": self._sga, "liabilities": self._liabilities, "equity": self._equity,
            "equity_total": self._equity_total, "d_and_a": self._d_and_a,
            "current_debt": self._current_debt, "total_debt": self._total_debt,
            "public_float": self._public_float, "shares_outstanding": self._cover_page_shares}
        if self.ifrs:
            self._derived["long_term_debt"] = self._ifrs_long_term_debt

    def item(self, name: str, index: int) -> Result:
        """Returns a line item in a year; R12 and R13 apply when no tag has a value."""
        num = self._item(name, index)
        return Missing(MISSING_INPUT, name) if num is None else num

    def optional(self, name: str, index: int) -> Result:
        """R10, opt(x): the item, or 0 when the filer never has such a line."""
        num = self._item(name, index)
        if num is None and self.never_non_zero(name):
            num = with_zero(Num(0.0), name)
        return Missing(MISSING_INPUT, name) if num is None else num

    def never_non_zero(self, name: str) -> bool:
        """R10: the item has tags here and none of their visible facts is non-zero."""
        tags = ITEMS[name].tags[self.filer.taxonomy]
        unit = self.filer.unit_of(ITEMS[name].kind)
        return bool(tags) and all(fact.value == 0 for tag in tags
                                  for fact in self.filer.of(tag, unit))

    def candidates(self, facts: Iterable[Fact], kind: str, year: Year) -> list[Fact]:
        """R7: the facts of a year among `facts`, by period only."""
        if kind in ("I", "SI"):
            return [fact for fact in facts if fact.start is None and fact.end == year.end]
        annual = [fact for fact in facts if fact.is_annual and fact.end == year.end]
        exact = [fact for fact in annual if fact.start == year.start]
        return exact or annual

    def select(self, facts: Iterable[Fact], kind: str, index: int) -> Optional[Fact]:
        """R7: the fact of a year; annual forms first, then the latest filed."""
        found = self.candidates(facts, kind, self.filer.years[index])
        return max(found, default=None, key=lambda fact: (fact.is_annual_form,) + fact.order)

    def pick(self, tags: Iterable[str], kind: str, index: int) -> Optional[Pick]:
        """R8: the first tag with a value over non-proxy forms, then over proxy forms."""
        unit = self.filer.unit_of(kind)
        for proxy in (False, True):
            for tag in tags:
                facts = [fact for fact in self.filer.of(tag, unit) if fact.is_proxy_form == proxy]
                fact = self.select(facts, kind, index)
                if fact is not None:
                    return Pick(tag, fact, self.scaled(fact, kind))
        return None

    def scaled(self, fact: Fact, kind: str) -> Num:
        """R9: share counts are multiplied, per-share values divided, by the later splits."""
        factor = self.filer.split_factor(fact.filed)
        value = fact.value
        if kind in ("SF", "SI"):
            value = fact.value * factor
        elif kind == "P":
            value = fact.value / factor
        return Num(value, (fact.entry,))

    def pick_item(self, name: str, index: int) -> Optional[Pick]:
        """R8 for the tags of a line item."""
        item = ITEMS[name]
        return self.pick(item.tags[self.filer.taxonomy], item.kind, index)

    def tag(self, name: str, index: int, kind: str = "F") -> Optional[Num]:
        """The value of a single tag."""
        found = self.pick((name,), kind, index)
        return None if found is None else found.num

    def shares_fact(self, index: int) -> Optional[Fact]:
        """The fact that `shares_outstanding` of a year comes from."""
        found = self.pick_item("shares_outstanding", index)
        return self._cover_page_fact(index) if found is None else found.fact

    def _item(self, name: str, index: int) -> Optional[Num]:
        key = (name, index)
        if key not in self._cache:
            found = self._from_tags(name, index)
            if found is None and name in self._derived:
                found = self._derived[name](index)
            self._cache[key] = found
        return self._cache[key]

    def _from_tags(self, name: str, index: int) -> Optional[Num]:
        found = self.pick_item(name, index)
        return None if found is None else found.num

    def _gross_profit(self, index: int) -> Optional[Num]:
        revenue = self._from_tags("revenue", index)
        cost = self._from_tags("cost_of_revenue", index)
        return None if revenue is None or cost is None else minus(revenue, cost)

    def _cost_of_revenue(self, index: int) -> Optional[Num]:
        revenue = self._from_tags("revenue", index)
        profit = self._from_tags("gross_profit", index)
        return None if revenue is None or profit is None else minus(revenue, profit)

    def _sga(self, index: int) -> Optional[Num]:
        selling = self.tag("SellingExpense" if self.ifrs else "SellingAndMarketingExpense", index)
        general = self.tag("GeneralAndAdministrativeExpense", index)
        return None if selling is None or general is None else plus((selling, general))

    def _liabilities(self, index: int) -> Optional[Num]:
        assets, equity = self._from_tags("assets", index), self._item("equity_total", index)
        return None if assets is None or equity is None else minus(assets, equity)

    def _equity(self, index: int) -> Optional[Num]:
        whole = self._from_tags("equity_total", index)
        minority = self._from_tags("minority_interest", index)
        if whole is None:
            return None
        if minority is not None:
            return minus(whole, minority)
        if self.never_non_zero("minority_interest"):
            return with_zero(whole, "minority_interest")
        return None

    def _equity_total(self, index: int) -> Optional[Num]:
        parent = self._from_tags("equity", index)
        minority = self._from_tags("minority_interest", index)
        if parent is None:
            return None
        if minority is None:
            return with_zero(parent, "minority_interest")
        return plus((parent, minority))

    def _d_and_a(self, index: int) -> Optional[Num]:
        """R13: the largest candidate; of equal ones the first."""
        best: Optional[Num] = None
        for tags in IFRS_D_AND_A if self.ifrs else D_AND_A:
            parts = [num for num in (self.tag(tag, index) for tag in tags) if num is not None]
            candidate = plus(parts) if len(parts) == len(tags) else None
            if candidate is not None and (best is None or candidate.value > best.value):
                best = candidate
        return best

    def _sum_of_existing(self, tags: Iterable[str], index: int) -> Optional[Num]:
        parts = [num for num in (self.tag(tag, index, "I") for tag in tags) if num is not None]
        return plus(parts) if parts else None

    def _ifrs_long_term_debt(self, index: int) -> Optional[Num]:
        return self._sum_of_existing(IFRS_LONG_TERM_DEBT, index)

    def _current_debt(self, index: int) -> Optional[Num]:
        """R13: current maturities plus short-term borrowings, one line under two tags once."""
        if self.ifrs:
            return self._sum_of_existing(IFRS_CURRENT_DEBT, index)
        long_term = self.pick_item("long_term_debt", index)
        maturities = None
        if long_term is not None and long_term.tag == LEASE_DEBT:
            maturities = self.tag(LEASE_DEBT + "Current", index, "I")
        if maturities is None:
            alone = self.tag("DebtCurrent", index, "I")
            if alone is not None:
                return alone
            maturities = self.tag("LongTermDebtCurrent", index, "I")
        short = self.tag("ShortTermBorrowings", index, "I")
        if short is None:
            short = self.tag("CommercialPaper", index, "I")
        if maturities is None or short is None:
            return short if maturities is None else maturities
        return maturities if maturities.value == short.value else plus((maturities, short))

    def _total_debt(self, index: int) -> Optional[Num]:
        long_term = self._item("long_term_debt", index)
        current = self._item("current_debt", index)
        if long_term is None:
            return None
        if current is None:
            return with_zero(long_term, "current_debt")
        return plus((long_term, current))

    def _public_float(self, index: int) -> Optional[Num]:
        """R13: the cover page's float with the latest date within the fiscal year."""
        year = self.filer.years[index]
        facts = [fact for fact in self.filer.facts.of("dei", "EntityPublicFloat",
                                                      self.filer.currency)
                 if fact.start is None and year.start <= fact.end <= year.end]
        found = max(facts, default=None, key=lambda fact: (fact.end,) + fact.order)
        return None if found is None else Num(found.value, (found.entry,))

    def _cover_page_fact(self, index: int) -> Optional[Fact]:
        """R13: the cover page's share count, dated at most 120 days after the year end."""
        end = self.filer.years[index].end
        facts = [fact for fact in self.filer.facts.of("dei", "EntityCommonStockSharesOutstanding",
                                                      "shares")
                 if fact.start is None and fact.is_annual_form
                 and 0 <= (fact.end - end).days <= 120]
        earliest = min((fact.end for fact in facts), default=None)
        return max((fact for fact in facts if fact.end == earliest), default=None,
                   key=lambda fact: fact.order)

    def _cover_page_shares(self, index: int) -> Optional[Num]:
        found = self._cover_page_fact(index)
        return None if found is None else self.scaled(found, "SI")
