"""Writes python_json.json: JSON texts, and what Python makes of them.

The file is committed; run this again only to add cases. Each case is a pair of a JSON text and
its spelling, because a value in the file itself would already have been read by our own parser.
"""

import json
import math
import random
import struct
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
