"""Writes src/text/english/spellings.txt: British spellings with their American counterparts, from VarCon.

VarCon is the source of spell checkers' British and American word lists, and part of SCOWL, whose licence is in
src/text/english/COPYRIGHT. The crate `varcon` 1.0.5 contains it as Rust code: `cargo add varcon && cargo fetch` in a
scratch project, `pip install snowballstemmer`, and

    python3 tests/tools/spellings.py ~/.cargo/registry/src/*/varcon-1.0.5/src/codegen.rs > src/text/english/spellings.txt

A pair stands for all words with its British stem. If an American word also has that stem, each British word gets its own
pair, marked with `=`. Rare words (above SCOWL's size 70) are left out, as are British spellings that mean something else in
American English (`vice`), and pairs that the rules in stem.rs give the same stem anyway.
"""

import collections
import pathlib
import re
import sys

import snowballstemmer

LARGEST_SIZE = 70

# Both words in a pair are American, but one is also the British spelling of the other, or an
# occasional American variant.
ADDED = {
    "ameba": "amoeba",
    "archeological": "archaeological",
    "archeologist": "archaeologist",
    "donut": "doughnut",
    "esthetic": "aesthetic",
    "analogue": "analog",
    "dialogue": "dialog",
    "disc": "disk",
    "draught": "draft",
    "draughtsman": "draftsman",
    "draughtsmen": "draftsmen",
    "draughtsperson": "draftsperson",
    "draughty": "drafty",
    "enquire": "inquire",
    "enquirer": "inquirer",
    "enquiry": "inquiry",
    "tonne": "ton",
}

# Pairs that are different words, or that are common spellings in both countries.
REMOVED = set(
    "cicatrice diss dyked dyking faggoted faggoting hoorayed hooraying hoorays matts mums okay okayed okaying okays previousness"
    " previousnesses prise prised prises prising resh sake saki sakis storey storeyed storeys wizzes".split()
)

TEXT = pathlib.Path(__file__).parents[2] / "src/text"
ACCEPTED = {"None", "Some(Tag::Eq)", "Some(Tag::Variant)"}


def rule():
    """The function `american_ending` from stem.rs."""
    code = (TEXT / "stem.rs").read_text()
    endings = re.findall(r'\("(\w+)", "(\w+)"\)', code.split("const ENDINGS")[1].split("];")[0])
    spelled_so = set(re.findall(r'"(\w+)"', code.split("const SPELLED_SO")[1].split("];")[0]))

    def american_ending(word):
        for british, american in endings:
            base = word.removesuffix(british)
            if base != word:
                return base + american if len(base) >= 3 and base + "is" not in spelled_so else word
        return word

    return american_ending


def entries(code):
    """Each entry's spellings, with their categories and tags."""
    size = 0
    for part in re.finditer(r"  level: (\d+),|Entry \{\s*variants: &\[(.*?)\n  \],\s*pos: .*? archaic: (\w+)", code, re.S):
        if part[1]:
            size = int(part[1])
        elif size <= LARGEST_SIZE and part[3] == "false":
            variants = re.finditer(r'word: "([^"]*)",\s*types: &\[(.*?)\n        \],', part[2], re.S)
            yield [(v[1], set(re.findall(r"Category::(\w+), tag: (None|Some\(Tag::\w+\))", v[2]))) for v in variants]


def main():
    american_ending = rule()
    snowball = snowballstemmer.stemmer("english").stemWord
    stem = lambda word: snowball(american_ending(word))
    american_words, pairs = collections.Counter(), {}
    for spellings in entries(pathlib.Path(sys.argv[1]).read_text()):
        american = next((word for word, types in spellings if ("American", "None") in types), "")
        american_words[american] += 1
        for word, types in spellings:
            is_british = any(category.startswith("British") and tag in ACCEPTED for category, tag in types)
            if is_british and re.fullmatch("[a-z]{4,}", word) and re.fullmatch("[a-z]+", american) and word != american:
                pairs.setdefault(word, set()).add(american)
    pairs = {word: american for word, [american, *others] in pairs.items() if not others and word not in american_words}
    pairs = {word: american for word, american in pairs.items() if word not in REMOVED} | ADDED
    pairs = {word: american for word, american in pairs.items() if stem(word) != stem(american)}
    others = set(american_words) | set((TEXT / "english/words.txt").read_text().split())
    taken = {stem(word) for word in others - set(pairs) if word.isascii() and word.isalpha()}
    written = {}
    for word in sorted(pairs, key=lambda word: (word not in ADDED, len(word), word)):
        is_taken = word not in ADDED and stem(word) in taken
        written.setdefault(word if is_taken else stem(word), (word, pairs[word] + "=" * is_taken))
    for word, american in sorted(written.values()):
        print(word, american)


if __name__ == "__main__":
    main()
