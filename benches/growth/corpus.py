#!/usr/bin/env python3
"""A corpus of any size, generated from an export, for `make bench-growth`.

    benches/growth/corpus.py --export FILE --records N --out FOLDER

Up to the size of the export, the corpus is a sample of its records; beyond that, it has all of them, plus new ones. A
new record is a copy of one from the export. It gets a new name, built from the words in two names, and sentences from
other records in the same category, with their names replaced by the new one. So words are as frequent, and occur together
as often, as in the export. Names get new words at just the rate that makes the vocabulary grow as it does in the export,
with the square root of the number of records (Heaps' law). All randomness is seeded, and a smaller corpus is the
beginning of a larger one.
"""

import argparse
import collections
import json
import math
import pathlib
import random
import re

SEED = 1_000_000
# A file may be slightly larger; the product's limit is 256 MiB.
FILE_BYTES = 64_000_000
WORD = re.compile(r"[^\W_]+")
SENTENCE_END = re.compile(r"(?<=[.!?:;])\s+")
# How many existing records each new record borrows its sentences from.
DONORS = 3


class Corpus:
    def __init__(self, export):
        document = json.loads(pathlib.Path(export).read_text())
        self.random = random.Random(SEED)
        self.envelope = {key: value for key, value in document.items() if not isinstance(value, list)}
        self.records = document["software"]
        self.random.shuffle(self.records)

    def take(self, count):
        """Yields this many records, as JSON."""
        for record in self.records[:count]:
            yield json.dumps(record, ensure_ascii=False)
        if count > len(self.records):
            yield from self.made(count)

    def made(self, count):
        by_category = collections.defaultdict(list)
        self.words = set()
        self.sentences = {}
        for record in self.records:
            by_category[record.get("category")].append(record)
            self.sentences[record["id"]] = SENTENCE_END.split(record.get("description") or "")
            for text in [record["name"], record.get("tagline"), record.get("description")]:
                self.words.update(WORD.findall((text or "").lower()))
        self.uses = collections.Counter(record["id"] for record in self.records)
        there = len(self.records)
        words_per_record = len(self.words) / there
        for number in range(there, count):
            pattern = self.random.choice(self.records)
            donors = self.random.choices(by_category[pattern.get("category")], k=DONORS)
            # The derivative of words(there) * sqrt(number / there).
            is_new = self.random.random() < words_per_record / 2 * math.sqrt(there / number)
            yield json.dumps(self.record(pattern, donors, is_new), ensure_ascii=False)

    def record(self, pattern, donors, is_new):
        name = self.name(pattern, donors[0], is_new)
        made = {**pattern, "id": name, "name": name}
        if "url" in pattern:
            made["url"] = f"{pattern['url'].rstrip('/')}/{name}"
        if donor := donors[0].get("tagline"):
            made["tagline"] = donor.replace(donors[0]["name"], name)
        if "description" in pattern:
            sentences = [(sentence, donor["name"]) for donor in donors for sentence in self.sentences[donor["id"]]]
            wanted = min(len(self.sentences[pattern["id"]]), len(sentences))
            taken = self.random.sample(sentences, wanted)
            made["description"] = " ".join(sentence.replace(of, name) for sentence, of in taken)
        return made

    def name(self, one, other, is_new):
        """A name that no record has: the beginning of one name and the end of another."""
        ones, others = one["name"].split("-"), other["name"].split("-")
        words = ones[:(len(ones) + 1) // 2] + others[len(others) // 2:]
        if is_new:
            words[self.random.randrange(len(words))] = self.new_word()
        name = "-".join(words)
        self.uses[name] += 1
        while self.uses[name] > 1:
            name = f"{name}-{self.uses[name]}"
            self.uses[name] += 1
        return name

    def new_word(self):
        """A word that isn't in the corpus: the beginning of a word in one name, and the end of a word in another."""
        word = ""
        while not word or word in self.words:
            names = [WORD.findall(record["name"].lower()) for record in self.random.choices(self.records, k=2)]
            one, other = (self.random.choice(words or ["new"]) for words in names)
            word = one[:(len(one) + 1) // 2] + other[len(other) // 2:]
            # Now and then, append a number, in case all combinations are taken.
            word += f"{len(self.words)}" if word in self.words and self.random.random() < 0.1 else ""
        self.words.add(word)
        return word


def write(export, count, folder):
    """Writes a corpus with this many records. Returns its size in bytes."""
    corpus = Corpus(export)
    folder.mkdir(parents=True, exist_ok=True)
    head = json.dumps(corpus.envelope, ensure_ascii=False)[:-1] + (", " if corpus.envelope else "") + '"software": [\n'
    file, room, files = None, 0, 0
    for record in corpus.take(count):
        if room <= 0:
            if file:
                file.write("\n]}\n")
                file.close()
            files += 1
            file, room = open(folder / f"corpus-{files:03}.json", "w", encoding="utf-8"), FILE_BYTES
            file.write(head + record)
        else:
            file.write(",\n" + record)
        room -= len(record.encode())
    if not file:
        file = open(folder / "corpus-001.json", "w", encoding="utf-8")
        file.write(head)
    file.write("\n]}\n")
    file.close()
    return sum(path.stat().st_size for path in folder.glob("*.json"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--export", required=True)
    parser.add_argument("--records", type=int, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    size = write(arguments.export, arguments.records, arguments.out)
    words, seen = 0, set()
    for path in arguments.out.glob("*.json"):
        for record in json.loads(path.read_text())["software"]:
            found = WORD.findall(" ".join(record.get(field) or "" for field in ["name", "tagline", "description"]).lower())
            words += len(found)
            seen.update(found)
    print(f"{arguments.records:,} records, {size / 1e6:,.1f} MB, {words:,} words, {len(seen):,} of them distinct")


if __name__ == "__main__":
    main()
