// A JSON value of unknown structure, laid out for reading.

import { ExactNumber } from '../api.js';
import { h, outside, say, webAddress } from '../dom.js';

/** Values nested deeper are shown as JSON. */
const DEEPEST = 6;

export function properties(value, depth = 0) {
  if (value === null) return h('span', { class: 'quiet' }, 'null');
  if (typeof value === 'string') return webAddress(value) ? outside(value) : say(value);
  if (typeof value !== 'object' || value instanceof ExactNumber) return h('code', null, String(value));
  const entries = Object.entries(value);
  if (entries.length === 0) return h('span', { class: 'quiet' }, Array.isArray(value) ? 'none' : 'empty');
  if (depth === DEEPEST) return h('code', null, say(JSON.stringify(value, (_, inner) => (inner instanceof ExactNumber ? inner.source : inner))));
  if (Array.isArray(value)) return h('ul', { class: 'plain-list' }, value.map((item) => h('li', null, properties(item, depth + 1))));
  return h('dl', { class: 'facts properties' }, entries.map(([name, inner]) => h('div', null, h('dt', null, say(name)), h('dd', null, properties(inner, depth + 1)))));
}
