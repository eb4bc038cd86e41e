#!/usr/bin/env python3
"""Checks of the reference computation: the golden values of section 11 and properties of the rules.

Run: python3 golden_check.py [-v]
"""
from __future__ import annotations

import math
import random
import sys
import unittest
from datetime import date, timedelta
from functools import lru_cache
from typing import Any, Iterable, Optional

sys.dont_write_bytecode = True  # the source tree stays clean

from analysis import BUNDLED_CIKS, Analysis, Library
from compare import compare
from facts import AnalysisFailed, Fact, FactSet, parse_fact, read_facts
from filer import Evidence, Filer, spine_ends, split_events
from items import SPLIT_TAGS, US_GAAP
from show import BUNDLED_DATA
from text import Passage, heading_of, split_items, syllables

LIBRARY = Library([BUNDLED_DATA], {})

GOLDEN = """
AAPL revenue 2024-09-28 391035000000
AAPL net_income 2024-09-28 93736000000
NVDA revenue 2025-01-26 130497000000
NVDA revenue 2019-01-27 11716000000
GOOGL revenue 2022-12-31 282836000000
AAPL eps_diluted 2017-09-30 2.3025
NVDA shares_diluted 2020-01-26 24720000000
GOOGL shares_outstanding 2020-12-31 13504440000
TSLA eps_diluted 2021-12-31 1.6333333333333333
CAT cost_of_revenue 2024-12-31 40199000000
CAT net_income 2023-12-31 10332000000
AAPL total_debt 2024-09-28 106629000000
TSLA total_debt 2021-12-31 5342000000
AAPL gross_margin 2025-09-27 0.4690516410716045
AAPL roic 2025-09-27 0.8314270092598283
NVDA beneish_m_score 2025-01-26 -0.9608358173358142
GOOGL altman_z_1968 2024-12-31 12.148749758213372
MSFT piotroski_f_score 2025-06-30 6
AAPL beta_raw 2022-12-28 1.4585285252293487
AAPL enterprise_value 2025-09-27 1853214578969.585
AAPL wacc 2025-09-27 0.1048210394957704
AAPL terminal_growth 2025-09-27 0.025
"""

NO_NUMBERS = """
MSFT revenue_growth 2017-06-30 too_little_history
JPM current_ratio 2025-12-31 not_applicable
NVDA equity_value 2026-01-25 missing_input
TSLA interest_coverage 2019-12-31 non_positive
GOOGL beta_raw 2025-12-31 no_market_data
"""


@lru_cache(maxsize=None)
def bundled_facts(ticker: str) -> tuple[Fact, ...]:
    """The facts of a bundled company."""
    return tuple(read_facts(LIBRARY.facts_path(ticker), BUNDLED_CIKS[ticker]))


def run(ticker: str, facts: Iterable[Fact], as_of: Optional[date] = None,
        peers: tuple[str, ...] = ()) -> dict[str, Any]:
    """The analysis of a company with other facts."""
    analysis = Analysis(ticker, list(facts), "test", as_of)
    companies = [LIBRARY.peer(peer, analysis.as_of) for peer in peers]
    return analysis.run(LIBRARY.market, [BUNDLED_DATA], [c for c in companies if c is not None])


@lru_cache(maxsize=None)
def bundled(ticker: str) -> dict[str, Any]:
    """The analysis of a bundled company on the default as-of date."""
    return run(ticker, bundled_facts(ticker))


def figure(result: dict[str, Any], metric: str, period_end: str) -> dict[str, Any]:
    """The one figure of a metric and a period."""
    found = [entry for entry in result["figures"]
             if (entry["metric"], entry["period_end"]) == (metric, period_end)]
    assert len(found) == 1, (metric, period_end, found)
    return found[0]


def values(result: dict[str, Any]) -> dict[tuple[str, str], Any]:
    """Value, or code of not_available, by metric and period."""
    return {(entry["metric"], entry["period_end"]):
            entry.get("value", entry.get("not_available", "").split(":")[0])
            for entry in result["figures"]}


class GoldenValues(unittest.TestCase):
    """Section 11."""

    def test_golden_values(self) -> None:
        for row in GOLDEN.split("\n")[1:-1]:
            ticker, metric, end, value = row.split()
            with self.subTest(row):
                actual = figure(bundled(ticker), metric, end)["value"]
                self.assertLessEqual(abs(actual - float(value)), 1e-9 * abs(float(value)))

    def test_no_numbers(self) -> None:
        for row in NO_NUMBERS.split("\n")[1:-1]:
            ticker, metric, end, code = row.split()
            with self.subTest(row):
                actual = figure(bundled(ticker), metric, end)
                self.assertNotIn("value", actual)
                self.assertTrue(actual["not_available"].startswith(code + ": "))


class Output(unittest.TestCase):
    """Section 1."""

    def test_every_metric_and_subtask_is_there(self) -> None:
        for ticker in BUNDLED_CIKS:
            figures = bundled(ticker)["figures"]
            self.assertEqual(len({entry["metric"] for entry in figures}), 476)
            subtasks = {(entry["specialist"], entry["subtask"]) for entry in figures}
            self.assertEqual(len(subtasks), 53)
            self.assertEqual(len({entry["specialist"] for entry in figures}), 13)

    def test_values_are_finite_and_inputs_occur_once(self) -> None:
        for ticker in BUNDLED_CIKS:
            for entry in bundled(ticker)["figures"]:
                self.assertNotEqual("value" in entry, "not_available" in entry)
                if "value" in entry:
                    self.assertTrue(math.isfinite(entry["value"]))
                    keys = [tuple(item.values()) for item in entry["inputs"]]
                    self.assertEqual(len(keys), len(set(keys)))

    def test_comparison_of_an_analysis_with_a_changed_one_shows_the_change(self) -> None:
        expected = bundled("CAT")
        self.assertEqual(compare(expected, expected), [])
        actual = {**expected, "figures": [dict(entry) for entry in expected["figures"]]}
        changed = figure(actual, "revenue", "2025-12-31")
        changed["value"] *= 1 + 1e-8
        changed["inputs"] = changed["inputs"] * 2
        self.assertEqual(len(compare(expected, actual)), 2)


class Identities(unittest.TestCase):
    """Relations that hold between figures whatever the facts."""

    def test_return_on_equity_is_the_product_of_its_parts(self) -> None:
        checked = 0
        for ticker in BUNDLED_CIKS:
            found = values(bundled(ticker))
            for (metric, end), value in found.items():
                if metric == "dupont_return_on_equity" and isinstance(value, float):
                    self.assertAlmostEqual(value, found[("return_on_equity", end)], delta=1e-12)
                    checked += 1
        self.assertGreater(checked, 40)

    def test_scenarios_without_a_change_give_the_base_value(self) -> None:
        for ticker in ("AAPL", "GOOGL", "TSLA"):
            found = values(bundled(ticker))
            end = bundled(ticker)["fiscal_years"][-1]
            for name in ("sens_ev_w+0_g+0", "scenario_ev_base"):
                self.assertEqual(found[(name, end)], found[("enterprise_value", end)])
            flows = [found[(f"proj_fcff_{y:02d}", end)] for y in range(1, 11)]
            wacc = found[("wacc", end)]
            explicit = sum(flow / (1 + wacc) ** y for y, flow in enumerate(flows, start=1))
            self.assertAlmostEqual(explicit / found[("pv_explicit", end)], 1, delta=1e-12)
            self.assertLess(found[("sens_ev_w+100_g+0", end)], found[("sens_ev_w-100_g+0", end)])


class FactRules(unittest.TestCase):
    """Section 2: what must not change an analysis, and what must."""

    def assert_same(self, ticker: str, facts: Iterable[Fact],
                    as_of: Optional[date] = None) -> None:
        self.assertEqual(compare(bundled(ticker), run(ticker, facts, as_of)), [])

    def test_the_order_of_facts_does_not_matter(self) -> None:
        for ticker in BUNDLED_CIKS:
            facts = list(bundled_facts(ticker))
            random.Random(ticker).shuffle(facts)
            with self.subTest(ticker):
                self.assert_same(ticker, facts)

    def test_facts_filed_after_the_as_of_date_do_not_exist(self) -> None:
        facts = bundled_facts("NVDA")
        as_of = max(fact.filed for fact in facts)
        later = [fact._replace(value=fact.value * 3, filed=as_of + timedelta(days=1), accn="9")
                 for fact in facts]
        self.assert_same("NVDA", list(facts) + later, as_of)

    def test_quarters_and_other_forms_filed_earlier_do_not_matter(self) -> None:
        facts = list(bundled_facts("AAPL"))
        noise = [fact._replace(start=fact.end - timedelta(days=90), form="10-Q",
                               value=fact.value * 7)
                 for fact in facts if fact.start is not None and fact.unit == "USD"]
        noise += [fact._replace(form="8-K", value=fact.value + 1) for fact in facts
                  if fact.is_annual_form and fact.is_annual and fact.unit == "USD"]
        self.assert_same("AAPL", facts + noise)

    def test_a_two_for_one_split_scales_share_figures_only(self) -> None:
        facts = list(bundled_facts("AAPL"))
        as_of = max(fact.filed for fact in facts)
        tag = SPLIT_TAGS[US_GAAP][0]
        counts = [fact for fact in facts if fact.tag == tag]
        newest = max(counts, key=lambda fact: (fact.end, fact.filed))
        after = newest._replace(value=newest.value * 2, filed=as_of + timedelta(days=1), accn="9")
        before = values(run("AAPL", facts, as_of))
        split = values(run("AAPL", facts + [after], as_of + timedelta(days=1)))
        years = [end for metric, end in before if metric == "shares_outstanding"
                 and isinstance(before[(metric, end)], float)]
        self.assertGreater(len(years), 3)
        for end in years:
            self.assertEqual(split[("shares_outstanding", end)],
                             2 * before[("shares_outstanding", end)])
            self.assertEqual(split[("revenue", end)], before[("revenue", end)])
            self.assertEqual(split[("split_factor_applied", end)],
                             2 * before[("split_factor_applied", end)])
            self.assertEqual(split[("eps_diluted", end)], before[("eps_diluted", end)] / 2)

    def test_a_restatement_in_a_later_annual_filing_wins(self) -> None:
        facts = list(bundled_facts("GOOGL"))
        old = next(fact for fact in facts if fact.tag == "Assets" and fact.is_annual_form
                   and fact.end == date(2024, 12, 31))
        as_of = max(fact.filed for fact in facts)
        new = old._replace(value=old.value * 1.1, filed=as_of, accn="9", form="10-K/A")
        result = run("GOOGL", facts + [new], as_of)
        self.assertEqual(figure(result, "assets", "2024-12-31")["value"], new.value)
        restated = figure(result, "restated_items", "2024-12-31")
        self.assertEqual({entry["accn"] for entry in restated["inputs"]} & {"9"}, {"9"})

    def test_entries_of_the_wrong_shape_do_not_exist(self) -> None:
        good = {"end": "2024-12-31", "val": 1.0, "accn": "a", "form": "10-K", "filed": "2025-02-01"}
        self.assertIsNotNone(parse_fact("us-gaap", "Assets", "USD", good))
        self.assertIsNotNone(parse_fact("us-gaap", "Assets", "USD", {**good, "start": None}))
        for change in ({"val": None}, {"val": True}, {"val": 1e300}, {"val": "1"}, {"accn": None},
                       {"form": 1}, {"filed": "2025-02-30"}, {"end": "20241231"}, {"start": "x"}):
            self.assertIsNone(parse_fact("us-gaap", "Assets", "USD", {**good, **change}))

    def test_trailing_year_ends_leave_the_spine(self) -> None:
        def fact(end: date, form: str) -> Fact:
            return Fact(US_GAAP, "NetIncomeLoss", "USD", end - timedelta(days=364), end, 1.0, "a",
                        form, end + timedelta(days=40))

        ends = [(date(2022, 12, 31), "10-K"), (date(2023, 3, 31), "10-Q"),
                (date(2023, 6, 30), "10-Q"), (date(2023, 12, 31), "10-K")]
        kept = spine_ends({end: [fact(end, form)] for end, form in ends})
        self.assertEqual(kept, [date(2022, 12, 31), date(2023, 12, 31)])

    def test_split_evidence_of_one_event_counts_once(self) -> None:
        days = [date(2020, month, 1) for month in range(1, 7)]
        evidence = [Evidence(days[2], days[0], 2.0), Evidence(days[3], days[1], 2.0),
                    Evidence(days[5], days[4], 2.0), Evidence(days[3], days[1], 4.0)]
        self.assertEqual(split_events(evidence),
                         [(days[2], 2.0), (days[3], 4.0), (days[5], 2.0)])

    def test_a_file_without_a_fiscal_year_fails(self) -> None:
        for facts in ([], [fact for fact in bundled_facts("AAPL") if not fact.is_annual]):
            with self.assertRaises(AnalysisFailed):
                run("AAPL", facts)
        with self.assertRaises(AnalysisFailed):
            run("AAPL", bundled_facts("AAPL"), date(1999, 1, 1))
        with self.assertRaises(AnalysisFailed):
            read_facts(LIBRARY.facts_path("AAPL"), BUNDLED_CIKS["MSFT"])


IFRS_TAGS = {"Assets": "Assets", "Liabilities": "Liabilities", "Goodwill": "Goodwill",
             "StockholdersEquity": "EquityAttributableToOwnersOfParent",
             "Revenues": "Revenue", "NetIncomeLoss": "ProfitLossAttributableToOwnersOfParent",
             "OperatingIncomeLoss": "ProfitLossFromOperatingActivities",
             "IncomeTaxExpenseBenefit": "IncomeTaxExpenseContinuingOperations",
             "NetCashProvidedByUsedInOperatingActivities": "CashFlowsFromUsedInOperatingActivities",
             "CashAndCashEquivalentsAtCarryingValue": "CashAndCashEquivalents",
             "PaymentsToAcquirePropertyPlantAndEquipment":
                 "PurchaseOfPropertyPlantAndEquipmentClassifiedAsInvestingActivities",
             "LongTermDebtNoncurrent": "LongtermBorrowings"}


def as_ifrs(facts: Iterable[Fact]) -> list[Fact]:
    """The facts of a US filer as those of a foreign filer in euros, with a USD translation."""
    found = []
    for fact in facts:
        if fact.tag in IFRS_TAGS and fact.unit == "USD":
            form = "20-F" if fact.is_annual_form else "6-K"
            euro = fact._replace(taxonomy="ifrs-full", tag=IFRS_TAGS[fact.tag], unit="EUR",
                                 form=form)
            found.append(euro)
            if fact.end.year == 2025:
                found.append(euro._replace(unit="USD", value=fact.value * 1.1))
        elif fact.taxonomy == "dei":
            found.append(fact)
    return found


class ForeignFiler(unittest.TestCase):
    """IFRS statements in another currency."""

    def test_values_stay_and_usd_rates_do_not_discount_them(self) -> None:
        result = run("GOOGL", as_ifrs(bundled_facts("GOOGL")))
        self.assertEqual(result["currency"], "EUR")
        usd = bundled("GOOGL")
        for metric in ("revenue", "net_income", "assets", "return_on_assets", "fcf"):
            end = "2025-12-31"
            self.assertEqual(figure(result, metric, end)["value"],
                             figure(usd, metric, end)["value"])
        self.assertEqual(figure(result, "revenue", "2025-12-31")["unit"], "EUR")
        for metric in ("wacc", "terminal_growth", "proj_fcff_01", "sens_ev_w+0_g+0",
                       "equity_for_weights", "roic_minus_wacc", "real_revenue_cagr_1y",
                       "share_of_years_roic_above_wacc"):
            reason = figure(result, metric, "2025-12-31")["not_available"]
            self.assertTrue(reason.startswith("currency_mismatch"), metric)
        self.assertIn("value", figure(result, "base_revenue", "2025-12-31"))
        self.assertIn("value", figure(result, "debt_for_weights", "2025-12-31"))


class Peers(unittest.TestCase):
    """Section 6.1.3."""

    def test_peers_are_ranked_by_their_latest_year(self) -> None:
        result = run("AAPL", bundled_facts("AAPL"), peers=("NVDA", "GOOGL", "TSLA"))
        end = "2025-09-27"
        self.assertEqual(figure(result, "peer_count", end)["value"], 2)
        margins = sorted(figure(run(peer, bundled_facts(peer), date(2026, 1, 30)), "net_margin",
                                year)["value"]
                         for peer, year in (("NVDA", "2025-01-26"), ("GOOGL", "2024-12-31")))
        self.assertEqual(figure(result, "peer_median_net_margin", end)["value"],
                         (margins[0] + margins[1]) / 2)
        own = figure(result, "net_margin", end)["value"]
        self.assertEqual(figure(result, "peer_rank_net_margin", end)["value"],
                         1 + sum(margin > own for margin in margins))

    def test_without_peers_every_reason_is_no_peers(self) -> None:
        for ticker in ("AAPL", "JPM"):
            for entry in bundled(ticker)["figures"]:
                if entry["subtask"] == "peer_comparison":
                    self.assertTrue(entry["not_available"].startswith("no_peers: "))


class TextRules(unittest.TestCase):
    """Section 8."""

    def test_headings(self) -> None:
        headings: dict[str, Optional[str]] = {
            "Item 1. Business": "1", " ITEM\u00a01A \u2013 Risk Factors": "1a",
            "Item 1. | Business | 4": None, "Item 1. | Business": "1", "Item 6. [Reserved]": "6",
            "Item 17. Business": None, "Item 10. Directors": "10", "Item 1. Risk": None,
            "See Item 1. Business": None, "Items 1. Business": None, "Item 2a. Properties": None,
            "Item 1ab Business": None, "Item 1. Business" + "x" * 250: None}
        for line, item in headings.items():
            self.assertEqual(heading_of(line), item, line)

    def test_the_last_candidate_counts_and_out_of_order_items_are_dropped(self) -> None:
        items = split_items(["Item 1. Business", "old", "Item 2. Properties", "b", "PART II",
                             "Item 1. Business", "new one. Yes!", "Item 3. Legal", "c | d e f"])
        self.assertEqual(list(items), ["1", "3"])
        self.assertEqual(items["1"].lines, ["new one. Yes!"])
        self.assertEqual((items["1"].word_count, items["1"].sentence_count), (3, 2))
        self.assertEqual(items["3"].word_count, 0)

    def test_words_sentences_and_phrases(self) -> None:
        passage = Passage(["The company's U.S. plan\u00a0failed.\u00a0It was", "not | effective?!",
                           "\u212aA \u0130i don't. "])
        self.assertEqual(sorted(passage.words), ["company", "don", "failed", "it", "plan", "the",
                                                 "was"])
        self.assertEqual(passage.sentence_count, 2)
        self.assertEqual(passage.phrase_count("it was not | effective"), 1)
        for word, number in (("table", 2), ("make", 1), ("the", 1), ("company", 3), ("yyy", 1)):
            self.assertEqual(syllables(word), number, word)


class Choices(unittest.TestCase):
    """R2, R3 and R11 for the bundled files."""

    def test_only_the_bank_is_a_bank(self) -> None:
        for ticker in BUNDLED_CIKS:
            facts = bundled_facts(ticker)
            filer = Filer(FactSet(list(facts), max(fact.filed for fact in facts)), ticker)
            self.assertEqual(filer.is_bank, ticker == "JPM")
            self.assertEqual((filer.taxonomy, filer.currency), (US_GAAP, "USD"))


if __name__ == "__main__":
    unittest.main()
