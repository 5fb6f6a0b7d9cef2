// The glossary's terms in other texts, each a link to what it means.

import { all, Problem, Unreachable } from '../api.js';
import { h } from '../dom.js';
import { ofGlossary } from '../route.js';

/** Terms beyond this many are not looked for. */
const MOST_TERMS = 2000;

let loaded = null;

/** A function that turns a text into nodes, the glossary's terms in it as links. Loaded once a session. */
export async function termLinker(signal) {
  loaded ??= await all('/v1/glossary', MOST_TERMS, signal).then(({ items }) => compile(items), (error) => {
    // Without the glossary a product is still worth showing; its own call reports a failure that lasts.
    if (error instanceof Problem || error instanceof Unreachable) return null;
    throw error;
  });
  return loaded ?? ((text) => h('bdi', null, text));
}

/** Forgets the terms, as another key may see others. */
export function forgetTerms() {
  loaded = null;
}

export function compile(terms) {
  const meanings = new Map();
  for (const term of terms) {
    const add = (name, exact) => {
      const known = folded(name);
      if (known && !meanings.has(known)) meanings.set(known, { term, exact: exact ? name : null });
    };
    add(term.term, isShort(term.term));
    term.synonyms.forEach((name) => add(name, isShort(name)));
    term.abbreviations.forEach((name) => add(name, true));
  }
  if (meanings.size === 0) return (text) => h('bdi', null, text);
  const names = [...meanings.keys()].sort((a, b) => b.length - a.length);
  const any = names.map((name) => escaped(name).replaceAll(' ', '[\\s\\u2010-]+')).join('|');
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(${any})(e?s)?(?![\\p{L}\\p{N}])`, 'giu');
  return (text) => link(text, pattern, meanings);
}

function link(text, pattern, meanings) {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    const meaning = meanings.get(folded(match[1]));
    if (!meaning || (meaning.exact && meaning.exact !== match[1])) continue;
    if (match.index > end) nodes.push(text.slice(end, match.index));
    const { term } = meaning;
    nodes.push(h('a', { class: 'term', href: ofGlossary({ q: term.term }), title: `${term.term}: ${term.definition}` }, match[0]));
    end = match.index + match[0].length;
  }
  nodes.push(text.slice(end));
  return h('bdi', null, nodes);
}

/** Short forms such as CAPA stand for themselves only as they are written: "capa" is another word. */
const isShort = (name) => name.length <= 5 && name === name.toUpperCase();

const folded = (name) => name.trim().toLowerCase().replace(/[\s\u2010-]+/gu, ' ');

const escaped = (name) => name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
