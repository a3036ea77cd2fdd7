"""Packs the distilled table for the crate: four bits a number, a scale and a weight a row.

usage: pack.py static256-i8.safetensors vocab.txt corpus.txt out.bin

The weight of a token is its inverse document frequency in a corpus of technical English (one
paragraph a line; ours were 60,000 paragraphs of documentation comments), 0 to 255. The rows' own
frequency weights are taken out and the new ones put in, to the power of 3/4.
"""
import sys
import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

model, words, corpus, out = sys.argv[1:]
raw = open(model, "rb").read()
head = 8 + int.from_bytes(raw[:8], "little")
rows = np.frombuffer(raw[head:], dtype=np.int8).reshape(-1, 256).astype(np.float32)
vocab = {line.rstrip("\n"): at for at, line in enumerate(open(words, encoding="utf8"))}
tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=100))
tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=True)
tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()

texts = open(corpus, encoding="utf8").read().split("\n")[:60000]
seen = np.zeros(len(rows))
for text in tokenizer.encode_batch(texts, add_special_tokens=False):
    seen[list(set(text.ids))] += 1
weight = np.log(1 + len(texts) / (seen + 1))
weight /= weight.max()

rank = np.arange(1, len(rows) + 1)
share = (1 / rank) / (1 / rank).sum()
rows *= ((1e-3 + share) / 1e-3 * weight**0.75)[:, None].astype(np.float32)
rows[[at for word, at in vocab.items() if len(word) > 1 and word[0] == "["]] = 0
step = rows.std(axis=1) * 2.3 / 7
codes = np.clip(np.round(rows / np.where(step == 0, 1, step)[:, None]), -7, 7).astype(np.int8)
nibbles = (codes[:, :128] & 15) | ((codes[:, 128:] & 15) << 4)
scale = np.round(step / step.max() * 255).astype(np.uint8)
with open(out, "wb") as file:
    file.write(scale.tobytes())
    file.write(np.round(weight * 255).astype(np.uint8).tobytes())
    file.write(nibbles.astype(np.uint8).tobytes())
