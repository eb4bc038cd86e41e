"""The text of an annual report as section 8 reads it: items, words, sentences, phrases."""
from __future__ import annotations

import re
from collections import Counter
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Iterable, Optional

from facts import AnalysisFailed, parse_date
from quantity import Input, Num

ITEM_TITLES: dict[str, tuple[str, ...]] = {
    "1": ("business",), "1a": ("risk",), "1b": ("unresolved",), "1c": ("cybersecurity",),
    "2": ("properties",), "3": ("legal",), "4": ("mine",), "5": ("market",),
    "6": ("reserved", "selected"), "7": ("management",), "7a": ("quantitative",),
    "8": ("financial", "consolidated"), "9": ("changes",), "9a": ("controls",), "9b": ("other",),
    "9c": ("disclosure",), "10": ("directors",), "11": ("executive",), "12": ("security",),
    "13": ("certain",), "14": ("principal",), "15": ("exhibit",), "16": ("form",)}

BLANKS = " \t\u00a0"
HEADING = re.compile(r"item[ \t\u00a0]+((?:1[0-6]|[1-9])[abc]?)(?![a-z0-9])",
                     re.ASCII | re.IGNORECASE)
CONTENTS_ROW = re.compile(r"\|[ \t\u00a0]*[0-9]+\Z")
PART_LINE = re.compile(r"part[ \t\u00a0]+[ivx]+", re.ASCII | re.IGNORECASE)
BEFORE_LETTER = re.compile(r"[^A-Za-z]*")
WORD = re.compile(r"[a-z]{2,}")
SENTENCE_END = re.compile(r"[.!?](?=[ \t]|\Z)")
VOWELS = re.compile(r"[aeiouy]+")
WHITE_SPACE = re.compile(r"[ \t\n\v\f\r]+")
ASCII_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def lower(text: str) -> str:
    """ASCII lower case; other characters stay."""
    return text.translate(ASCII_LOWER)


def syllables(word: str) -> int:
    """Runs of vowels, without a final e that does not follow an l, at least 1."""
    runs = len(VOWELS.findall(word))
    if word.endswith("e") and not word.endswith("le"):
        runs -= 1
    return max(runs, 1)


def heading_of(line: str) -> Optional[str]:
    """Returns the item that a line is the heading of, or None."""
    trimmed = line.strip(BLANKS)
    if len(trimmed) > 250 or CONTENTS_ROW.search(trimmed):
        return None
    match = HEADING.match(trimmed)
    if match is None:
        return None
    item = match.group(1).lower()
    rest = lower(BEFORE_LETTER.sub("", trimmed[match.end():], count=1))
    return item if rest.startswith(ITEM_TITLES.get(item, ("\0",))) else None


class Passage:
    """Lines of text with their words, sentences and phrases."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = list(lines)
        self.prose = [line for line in self.lines if "|" not in line]

    @cached_property
    def words(self) -> Counter[str]:
        """Words of the prose lines with their counts."""
        return Counter(word for line in self.prose for word in WORD.findall(lower(line)))

    @cached_property
    def word_count(self) -> int:
        """Number of words."""
        return sum(self.words.values())

    @cached_property
    def sentence_count(self) -> int:
        """Number of sentence ends in the prose lines."""
        return sum(len(SENTENCE_END.findall(line)) for line in self.prose)

    @cached_property
    def complex_count(self) -> int:
        """Number of words of three or more syllables."""
        return sum(n for word, n in self.words.items() if syllables(word) >= 3)

    @cached_property
    def _joined(self) -> str:
        text = lower(" ".join(self.lines)).replace("\u00a0", " ")
        return WHITE_SPACE.sub(" ", text)

    def in_list(self, words: frozenset[str]) -> int:
        """Number of words that are in a list."""
        return sum(n for word, n in self.words.items() if word in words)

    def phrase_count(self, phrase: str) -> int:
        """Number of occurrences of a phrase, from the left, without overlap."""
        return self._joined.count(phrase)


class Document:
    """A report as filed, split into items."""

    def __init__(self, content: bytes, filed: date) -> None:
        self.filed = filed
        self.size = len(content)
        text = content.decode("utf-8", errors="surrogateescape")
        lines = [line.removesuffix("\r") for line in text.split("\n")]
        self.whole = Passage(lines)
        self.items = split_items(lines)

    def count(self, value: float) -> Num:
        """A number from the text, with the text as its input."""
        return Num(float(value), (Input("filing-text", None, None, float(self.size), None, "10-K",
                                        self.filed.isoformat()),))


def split_items(lines: list[str]) -> dict[str, Passage]:
    """Returns the items by lower-case name, in the order of their headings."""
    candidates: dict[str, int] = {}
    for position, line in enumerate(lines):
        item = heading_of(line)
        if item is not None:
            candidates[item] = position
    accepted: list[tuple[str, int]] = []
    for item in ITEM_TITLES:
        if item in candidates and (not accepted or candidates[item] > accepted[-1][1]):
            accepted.append((item, candidates[item]))
    ends = [position for _, position in accepted[1:]] + [len(lines)]
    return {item: Passage(line for line in lines[position + 1:end]
                          if not PART_LINE.fullmatch(line.strip(BLANKS)))
            for (item, position), end in zip(accepted, ends)}


def find_document(folders: list[Path], ticker: str, as_of: date) -> Optional[Document]:
    """Returns the text with the latest date in its name that is not after the as-of date."""
    found: dict[date, Path] = {}
    prefix = f"{ticker}-10-K-"
    for folder in folders:
        texts = folder / "edgar" / "10k"
        for path in sorted(texts.iterdir()) if texts.is_dir() else ():
            if path.name.startswith(prefix) and path.suffix == ".txt":
                filed = parse_date(path.name[len(prefix):-len(".txt")])
                if filed is not None and filed <= as_of:
                    found[filed] = path
    if not found:
        return None
    filed = max(found)
    try:
        return Document(found[filed].read_bytes(), filed)
    except OSError as error:
        raise AnalysisFailed(f"{found[filed]}: the text cannot be read: {error}") from error
