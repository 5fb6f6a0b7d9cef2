// Products like the one that is shown, and what they have in common with it.

import { get } from '../api.js';
import { h, say } from '../dom.js';
import { result } from './result.js';
import { placeholders } from './rows.js';

/** The parameters of the call. */
export const SIMILAR = { limit: 5 };

/** The section, filled once the answer is there. Without products, and without an answer, it is taken away. */
export function similarSection(path, signal) {
  const list = h('div', { class: 'results' });
  placeholders(list, SIMILAR.limit);
  const section = h('section', { class: 'similar', 'aria-labelledby': 'similar' }, h('h2', { id: 'similar' }, 'Similar products'), list);
  fill(section, list, path, signal);
  return section;
}

async function fill(section, list, path, signal) {
  const data = await get(path, SIMILAR, signal).then((answer) => answer.data, () => []);
  if (data.length === 0) section.remove();
  else list.replaceWith(h('ul', { class: 'results' }, data.map((item) => result(item, { heading: 'h3', note: inCommon(item.shared) }))));
}

function inCommon({ categories, words }) {
  const parts = [
    ...categories.map(({ name }) => h('span', null, say(name))),
    words.length ? h('span', null, words.length === 1 ? 'the word ' : 'the words ', words.flatMap((word, at) => [at ? ', ' : '', h('i', null, say(word))])) : null,
  ].filter(Boolean);
  return parts.length ? [h('span', { class: 'quiet' }, 'In common: '), parts.flatMap((part, at) => [at ? ' · ' : '', part])] : null;
}
