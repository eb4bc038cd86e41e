"""Texts of annual reports: headings in many spellings, tables, odd bytes, words of the lists."""
from __future__ import annotations

import random

TITLES = {
    "1": "Business", "1A": "Risk Factors", "1B": "Unresolved Staff Comments",
    "1C": "Cybersecurity", "2": "Properties", "3": "Legal Proceedings", "4": "Mine Safety",
    "5": "Market for Registrant's Common Equity", "6": "[Reserved]", "7": "Management's Discussion",
    "7A": "Quantitative Disclosures", "8": "Financial Statements", "9": "Changes in Accountants",
    "9A": "Controls and Procedures", "9B": "Other Information", "9C": "Disclosure Regarding",
    "10": "Directors", "11": "Executive Compensation", "12": "Security Ownership",
    "13": "Certain Relationships", "14": "Principal Accountant Fees", "15": "Exhibits",
    "16": "Form 10-K Summary"}
WORDS = """the of and to in we our company may could risk risks adverse strong growth loss losses
    litigation claims customers suppliers supply competition competitors will must always never able
    unable uncertain depends table simple idea queue reliable eye a I don't company's re-use naive
    goodwill impairment china tariffs inflation interest employees retain climate earthquake ai
    software privacy breach cyber regulation compliance tax taxes audit improve improved decline
    harm lawsuit subpoena contract contracts required limited maybe sometimes shall best worst
    cooperation communication revenue e le be the rhythm""".split()
PHRASES = ("going concern", "substantial doubt", "material weakness", "not effective", "subpoena",
           "restatement", "antitrust", "impairment", "related party", "10% or more",
           "was effective", "were effective", "is effective", "are effective",
           "ineffective", "not  effective", "Not Effective", "going\u00a0concern")
SPACES = (" ", " ", " ", " ", "  ", "\t", "\u00a0", "\u2003", "\u200b", "\v")
ENDS = (".", ".", ".", "!", "?", "", ".\u00a0", ".)", ".\t", "...", "?!", " .")
ODD_BYTES = (b"\xff", b"\xc3\x28", b"\xe2\x82", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"\xc2",
             "caf\u00e9 \u212a \u0130".encode(), b"\x00", b"\x07")


def sentence(rng: random.Random) -> str:
    """Words of the lists and others, sometimes with a phrase."""
    words = [rng.choice(WORDS) for _ in range(rng.randrange(1, 25))]
    if rng.random() < 0.15:
        words.insert(rng.randrange(len(words) + 1), rng.choice(PHRASES))
    text = words[0].capitalize()
    for word in words[1:]:
        text += rng.choice(SPACES) + rng.choice((word, word, word, word.upper()))
    return text + rng.choice(ENDS)


def line(rng: random.Random) -> str:
    """A line of prose, a row of a table, or a line that no rule counts."""
    kind = rng.randrange(12)
    if kind == 0:
        return " | ".join(rng.choice(WORDS) for _ in range(3)) + rng.choice(("", " | 17", " |"))
    if kind == 1:
        return rng.choice(("", "  ", "PART II", " Part  IV", "part x.", "PART\u00a0III ", "Part 1",
                           "PARTII", "\tpart viii\t", "---"))
    if kind == 2:  # a phrase in two lines
        first, _, second = rng.choice(PHRASES).partition(" ")
        return f"{rng.choice(WORDS)} {first}{rng.choice(('', ' ', chr(9)))}\n{second} end."
    return rng.choice(("", "  ", "\u2022 ")) + " ".join(
        sentence(rng) for _ in range(rng.randrange(1, 5)))


def heading(rng: random.Random, item: str) -> str:
    """A heading in one of the spellings of real reports, or something like one."""
    title = rng.choice((TITLES[item], TITLES[item].upper(), TITLES[item].lower()))
    gap = rng.choice((" ", "\u00a0", "  ", "\t", " \u00a0"))
    dot = rng.choice((". ", ".", " - ", ": ", ".\u00a0", " \u2013 ", " | ", ". \u201c", ""))
    word = rng.choice(("Item", "ITEM", "item", "Item", "ITEM"))
    text = f"{word}{gap}{item if rng.random() < 0.9 else item.lower()}{dot or ' '}{title}"
    odd = rng.randrange(14)
    if odd == 0:
        text += rng.choice((" | 12", "| 7 ", " |\u00a03", " | 12a", " | page", "|"))
    elif odd == 1:
        text += " " + "x" * rng.choice((150, 210, 226, 240, 300))
    elif odd == 2:
        text = rng.choice(("See ", "In ", "\u201c", "Items ")) + text
    elif odd == 3:
        text = text.replace(title, rng.choice(("", "Other", "None", "Selected Data", "1 " + title)))
    return rng.choice(("", " ", "\u00a0", "\t")) + text + rng.choice(("", " ", "\u00a0", "\r"))


def report_text(rng: random.Random) -> bytes:
    """The bytes of a report: a table of contents, then items with text."""
    if rng.random() < 0.03:
        return rng.choice((b"", b"\n\n", b"12345 | 6", b"word"))
    items = [item for item in TITLES if rng.random() < 0.85]
    lines = []
    if rng.random() < 0.6:
        lines += [heading(rng, item) + rng.choice((" | 5", "", " | 33 ")) for item in items]
    if rng.random() < 0.2:
        rng.shuffle(items)
    for item in items:
        lines.append(heading(rng, item))
        lines += [line(rng) for _ in range(rng.choice((0, 1, 3, 10, 25)))]
        if rng.random() < 0.05:
            lines.append(heading(rng, rng.choice(list(TITLES))))
    feed = rng.choice(("\n", "\n", "\r\n", "\n\n"))
    content = feed.join(lines).encode("utf-8")
    if rng.random() < 0.3:
        for _ in range(5):
            at = rng.randrange(len(content) + 1)
            content = content[:at] + rng.choice(ODD_BYTES) + content[at:]
    return content + rng.choice((b"", b"\n", b"\r\n"))
