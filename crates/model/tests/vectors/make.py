"""Writes python_json.json and garden.json: texts, and what Python makes of them.

The files are committed; run this again only to add cases. JSON values are written as texts,
because a value in the file itself would already have been read by our own parser. The three
functions below say what the contract's functions of the same names do.
"""

import hashlib
import json
import math
import random
import re
import struct
import unicodedata
from pathlib import Path

rng = random.Random(20260719)

FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.1, 0.5, 1.5, 100.0, 1e15, 1e16, 1e17, 1e21, 1e22, 1e23, 1e100,
    9999999999999998.0, 99999999999999980.0, 123456789012345680.0, 1234567890123456.7,
    0.001, 0.0001, 0.00012345, 0.00001, 1e-5, 1.5e-5, 1e-7, 1e-10, 1e-100, 5e-324,
    2.2250738585072014e-308, 1.7976931348623157e308, 9007199254740993.0, 2.0**63, 2.0**64,
    -(2.0**63), 3.141592653589793, 0.1 + 0.2, 1 / 3, 2 / 3, 5e-5, 9.5e-5, 4.35, 2.675, 1e-4,
]
INTS = [0, 1, -1, 10, 2**31, -(2**31), 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 2**64 - 1]
TEXTS = [
    "", "plain", 'quote " backslash \\ slash /', "tab\tline\nreturn\rfeed\fbell\b",
    "".join(map(chr, range(32))), "\x7f\x80\x9f\xa0", "é", "ß", "ﬁ", "日本語", "עברית", "\u2028\u2029",
    "😀", "👩‍👩‍👧", "\U0010ffff", "\uffff", "\ufeff", "\ue000", "a\u0301", "\u202e", "\\u0041", "</script>",
]
ALPHABET = "abc ABC019_\"\\/\n\t\x00\x1f\x7f\x80éßñ中文\u2028\uffff😀\U00010000\U0010ffff"


def bits_float():
    while True:
        (value,) = struct.unpack("<d", rng.randbytes(8))
        if math.isfinite(value):
            return value


def text():
    return "".join(rng.choice(ALPHABET) for _ in range(rng.randrange(12)))


def value(depth):
    kind = rng.randrange(8 if depth else 6)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind == 1:
        return rng.choice(INTS) if rng.random() < 0.5 else rng.randrange(-1000, 1000)
    if kind == 2:
        return bits_float()
    if kind == 3:
        return round(rng.uniform(-1000, 1000), rng.randrange(6))
    if kind in (4, 5):
        return text()
    if kind == 6:
        return [value(depth - 1) for _ in range(rng.randrange(5))]
    return {text(): value(depth - 1) for _ in range(rng.randrange(6))}


cases = FLOATS + INTS + TEXTS + [None, True, False, [], {}, [[]], [{}], {"": {}}]
cases += [2.0**n for n in range(-1074, 1024, 61)]
cases += [10.0**n for n in range(-20, 25)]
cases += [bits_float() for _ in range(120)]
cases += [rng.uniform(-1, 1) * 10 ** rng.randrange(-8, 20) for _ in range(60)]
# Two spellings equally short and equally near: Python takes the even one.
cases += [2.0**-25, 2.0**50 + 0.25, 2.0**50 + 0.75, 179501203790.953125, 26893561329494.5625]
cases += [rng.randrange(2**49, 2**51) + rng.choice([0.25, 0.75]) for _ in range(20)]
# Above U+FFFF, UTF-16 order and code point order part ways.
cases += [{"\uffff": 1, "\U00010000": 2, "z": 3, "Z": 4, "é": 5, "": 6, "10": 7, "9": 8}]
cases += [value(4) for _ in range(150)]

pairs = []
for case in cases:
    spelled = json.dumps(case, sort_keys=True, separators=(",", ":"))
    # The input is spelled otherwise on purpose: unsorted, spaced and not in ASCII.
    pairs.append([json.dumps(case, ensure_ascii=False, indent=1), spelled])
out = Path(__file__).with_name("python_json.json")
out.write_text(json.dumps(pairs, indent=0) + "\n", encoding="utf-8")
print(len(pairs), "cases")


# The garden's functions: ids of fragments, references in a text, hashes of entities.


def generate_fragment_id(content):
    number = int.from_bytes(hashlib.sha256(content.encode()).digest()[:2], "big")
    digits = ""
    while number > 0:
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[number % 36] + digits
        number //= 36
    return "^" + digits.zfill(3)


def parse_references(content):
    refs = []
    for m in re.finditer(r"\^[a-z0-9]{3,4}", content):
        refs.append({"type": "fragment", "id": m.group(), "span": m.span()})
    for m in re.finditer(r"([\w_]+):(\d+)(?:@([a-f0-9]+))?", content):
        line = int(m.group(2))
        refs.append(
            {
                "type": "artifact_line",
                "label": m.group(1),
                "line": line if line < 2**63 else None,
                "commit": m.group(3),
                "span": m.span(),
            }
        )
    for m in re.finditer(r"\[.*?\]\((uuid_[\w-]+)\)", content):
        refs.append({"type": "conversation_log", "uuid": m.group(1), "span": m.span()})
    for m in re.finditer(r"@([a-z0-9_-]+)", content):
        refs.append({"type": "item", "uuid": m.group(1), "span": m.span()})
    return refs


def compute_entity_hash(data, previous):
    spelled = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"{spelled}|{previous or ''}".encode()).hexdigest()


def of(category):
    return [
        chr(c)
        for c in range(0x110000)
        if unicodedata.category(chr(c)).startswith(category) and not 0xD800 <= c < 0xE000
    ]


LETTERS, MARKS, DIGITS, NUMBERS = of("L"), of("M"), of("Nd"), of("N")
OTHERS = of("S") + of("P") + of("Z") + of("C")[:60]
PIECES = [
    "^", "^a7f", "^k3m9", "^A7f", "^ab", "^abcde", "@", "@item_1-x", "@Ab", "@é", ":", ":15", "::1",
    "goals_doc", "goals_doc:15", "doc:0007@c4f2a1b", "doc:1@", "doc:1@xyz", "a:1b:2@ff:3", "[", "]",
    "(", ")", "](", "[x](uuid_", "[x](uuid_a-b_c)", "[](uuid_é9)", "[x](uuid_)", "(uuid_q)", "-", "_",
    "\n", "\r", "\u2028", "\t", " ", " ", "a", "z9", "Ⅷ", "²", "½", "Ⓐ", "ी", "e\u0301", "中文:٣", "०:१२",
    "𝟘:𝟙𝟚", "😀", "ª:1", ":99999999999999999999", ":9223372036854775807", ":9223372036854775808",
]

texts = [
    "", "Use PostgreSQL instead - ^k3m shows SQLite won't scale",
    "Update goals_doc:15 to reflect new storage decision", "See [previous exploration](uuid_abc) for context",
    "[a [b](uuid_1) c](uuid_2)", "[a\nb](uuid_1)", "[a](uuid_1)[b](uuid_2)", "[x] (uuid_1)", "[[[](uuid_1)",
    "a:1:2:3", "12:30 12:30:45", "http://a:80@ff/", "mail@example.org", "^^a7f", "^a7f^b2e", "^a7fb2e",
    "label:1@deadbeefg", "label:1@DEAD", "x:1@@item", "_:_1", "__:1", "a-b:1", "[", "](uuid_1)", "\x00^abc\x00",
]
texts += ["".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 14))) for _ in range(400)]
for pool in (LETTERS, MARKS, DIGITS, NUMBERS, OTHERS):
    for _ in range(40):
        a, b, c = rng.choice(pool), rng.choice(pool), rng.choice(pool)
        texts.append(f"x{a}y{b}:{c}1{a}@ab [q](uuid_{b}-{c}z) ^{a}bc{b}d @{a}{b}q:{rng.choice(DIGITS)}")

data = [
    {}, {"a": None}, {"é": "ü", "中": "文", "😀": "\U0010ffff"}, {"f": [1e16, 1e-7, -0.0, 5e-324, 1.0, 1e22]},
    {"i": [2**63 - 1, -(2**63), 2**64 - 1, 2**53 + 1]}, {"n": {"b": [{"z": 1, "a": [[]]}], "a": {}}},
    {"": ""}, {"B": 1, "a": 2, "_": 3}, {"\u2028": "\x7f\x00"},
]
data += [{text(): value(3) for _ in range(rng.randrange(1, 6))} for _ in range(120)]
hashes = []
previous = None
for entity in data:
    spelled = json.dumps(entity, ensure_ascii=False, indent=1)
    for before in (None, previous):
        now = compute_entity_hash(entity, before)
        hashes.append([spelled, before, now])
    previous = now

fragments = texts + [text() for _ in range(100)] + [str(n) for n in range(200)]
# Where the first bytes are zero, the digits are padded.
fragments += [str(n) for n in range(2_000_000) if generate_fragment_id(str(n)) in ("^000", "^001", "^00a")][:9]

garden = {
    "fragments": [[content, generate_fragment_id(content)] for content in fragments],
    "references": [[content, parse_references(content)] for content in texts],
    "hashes": hashes,
}
out = Path(__file__).with_name("garden.json")
out.write_text(json.dumps(garden, indent=0, separators=(",", ":")) + "\n", encoding="utf-8")
print({key: len(cases) for key, cases in garden.items()})
