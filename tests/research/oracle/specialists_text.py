"""Figures and findings of the filing's text: sections 6.1, 6.4, 6.7, 6.12, 6.13 and 8."""
from __future__ import annotations

import math
from datetime import date
from typing import Callable, Optional

from formulas import Company
from quantity import NO_TEXT, Missing, Num, Result, apply, divide
from sheet import Sheet
from text import Document, Passage
from wordlists import RISKS, TONES

PHRASES = {
    "going_concern": "going concern", "substantial_doubt": "substantial doubt",
    "material_weakness": "material weakness", "not_effective": "not effective",
    "subpoena": "subpoena", "restatement": "restatement", "antitrust": "antitrust",
    "impairment": "impairment", "related_party": "related party",
    "significant_customer": "10% or more"}
PHRASE_FINDINGS = ("going_concern", "substantial_doubt", "not_effective", "subpoena", "antitrust")
EFFECTIVE = ("was effective", "were effective", "is effective", "are effective")
SECTION_TONES = ("negative", "positive", "uncertainty", "litigious")


def text_period(company: Company, document: Optional[Document]) -> date:
    """The latest fiscal year end that is not after the text's date, else the latest of all."""
    ends = [year.end for year in company.filer.years]
    before = [end for end in ends if document is not None and end <= document.filed]
    return max(before or ends)


class TextFigures:
    """Adds everything that is read from the text."""

    def __init__(self, sheet: Sheet, company: Company, document: Optional[Document]) -> None:
        self.sheet = sheet
        self.document = document
        self.period = text_period(company, document)

    def add_all(self) -> None:
        """Adds all figures and findings from text."""
        self._items()
        self._phrases()
        self._business()
        self._risk()
        self._risk_categories()
        self._document()
        self._section_tone()
        self._controls()

    def _figure(self, owner: str, metric: str, unit: str, result: Result) -> None:
        self.sheet.figure(owner, metric, unit, self.period, result)

    def _whole(self, measure: Callable[[Passage], float]) -> Result:
        if self.document is None:
            return Missing(NO_TEXT, "no text of an annual report")
        return self.document.count(measure(self.document.whole))

    def _item(self, item: str, measure: Callable[[Passage], float]) -> Result:
        if self.document is None:
            return Missing(NO_TEXT, "no text of an annual report")
        passage = self.document.items.get(item)
        if passage is None:
            return Missing(NO_TEXT, f"the text has no item {item.upper()}")
        return self.document.count(measure(passage))

    def _items(self) -> None:
        owner = "financial.10k_parsing"
        document = self.document
        self._figure(owner, "item_count", "count",
                     self._whole(lambda _: len(document.items) if document is not None else 0))
        for item in ("1", "1a", "7", "8"):
            self._figure(owner, f"item_{item}_words", "count",
                         self._item(item, lambda passage: passage.word_count))

    def _phrases(self) -> None:
        owner = "financial.red_flag_detection"
        for name, phrase in PHRASES.items():
            found = self._whole(lambda passage, phrase=phrase: passage.phrase_count(phrase))
            self._figure(owner, "phrase_" + name, "count", found)
            if name in PHRASE_FINDINGS and isinstance(found, Num) and found.value > 0:
                self.sheet.finding(owner, "phrase_" + name, "medium", self.period)

    def _business(self) -> None:
        owner = "business_model.business_description"
        self._figure(owner, "business_sentences", "count",
                     self._item("1", lambda passage: passage.sentence_count))
        self._figure(owner, "business_distinct_words", "count",
                     self._item("1", lambda passage: len(passage.words)))

    def _risk(self) -> None:
        owner = "risk_factors.item_1a_extraction"
        words = self._item("1a", lambda passage: passage.word_count)
        weak = self._item("1a", lambda passage: passage.in_list(TONES["modal_weak"]))
        self._figure(owner, "risk_words", "count", words)
        self._figure(owner, "risk_share_of_document", "ratio",
                     divide(words, self._whole(lambda passage: passage.word_count)))
        self._figure(owner, "risk_modal_weak_share", "ratio", divide(weak, words))

    def _risk_categories(self) -> None:
        counts: dict[str, Result] = {}
        for name, words in RISKS.items():
            counts[name] = self._item("1a", lambda passage, words=words: passage.in_list(words))
            self._figure("risk_factors.risk_taxonomy", f"risk_{name}_count", "count", counts[name])
        owner = "risk_factors.risk_ranking"
        concentration = apply(lambda *values: sum((value / sum(values)) ** 2 for value in values),
                              *counts.values())
        self._figure(owner, "risk_concentration_hhi", "ratio", concentration)
        above = [(-count.value, position, name) for position, (name, count)
                 in enumerate(counts.items()) if isinstance(count, Num) and count.value > 0]
        for _, _, name in sorted(above)[:3]:
            self.sheet.finding(owner, "top_risk_" + name, "low", self.period)

    def _document(self) -> None:
        words = self._whole(lambda passage: passage.word_count)
        sentences = self._whole(lambda passage: passage.sentence_count)
        complex_words = self._whole(lambda passage: passage.complex_count)
        owner = "filing_sentiment.tokenization"
        self._figure(owner, "words_total", "count", words)
        self._figure(owner, "sentences_total", "count", sentences)
        self._figure(owner, "distinct_words", "count",
                     self._whole(lambda passage: len(passage.words)))
        owner = "filing_sentiment.tone"
        for name in TONES:
            self._figure(owner, name + "_share", "ratio", self._share(name, self._whole))
        self._figure(owner, "net_tone", "ratio", self._net_tone(self._whole))
        owner = "filing_sentiment.readability"
        self._figure(owner, "gunning_fog", "score",
                     apply(lambda w, s, c: 0.4 * (w / s + 100 * c / w), words, sentences,
                           complex_words))
        self._figure(owner, "words_per_sentence", "ratio", divide(words, sentences))
        self._figure(owner, "complex_word_share", "ratio", divide(complex_words, words))
        document = self.document
        size = self._whole(lambda _: document.size if document is not None else 0)
        self._figure(owner, "log_file_size", "score", apply(math.log, size))

    def _share(self, name: str,
               source: Callable[[Callable[[Passage], float]], Result]) -> Result:
        return divide(source(lambda passage: passage.in_list(TONES[name])),
                      source(lambda passage: passage.word_count))

    def _net_tone(self, source: Callable[[Callable[[Passage], float]], Result]) -> Result:
        return apply(lambda p, n: (p - n) / (p + n),
                     source(lambda passage: passage.in_list(TONES["positive"])),
                     source(lambda passage: passage.in_list(TONES["negative"])))

    def _section_tone(self) -> None:
        owner = "filing_sentiment.section_tone"
        for item in ("1a", "7"):
            def source(measure: Callable[[Passage], float], item: str = item) -> Result:
                return self._item(item, measure)

            for name in SECTION_TONES:
                self._figure(owner, f"item_{item}_{name}_share", "ratio",
                             self._share(name, source))
            self._figure(owner, f"item_{item}_net_tone", "ratio", self._net_tone(source))

    def _controls(self) -> None:
        owner = "governance.controls"
        effective = self._item("9a", lambda passage: sum(passage.phrase_count(phrase)
                                                         for phrase in EFFECTIVE))
        denied = self._item("9a", lambda passage: passage.phrase_count("not effective"))
        weakness = self._item("9a", lambda passage: passage.phrase_count("material weakness"))
        self._figure(owner, "controls_effective_mentions", "count", effective)
        self._figure(owner, "controls_not_effective_mentions", "count", denied)
        self._figure(owner, "material_weakness_mentions", "count", weakness)
        if any(isinstance(count, Num) and count.value > 0 for count in (denied, weakness)):
            self.sheet.finding(owner, "control_weakness_disclosed", "high", self.period)
