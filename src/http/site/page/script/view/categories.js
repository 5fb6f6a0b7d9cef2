// All categories at a glance, with how many products each has.

import { all } from '../api.js';
import { h, say } from '../dom.js';
import { callPanel } from '../part/call.js';
import { countFormat, counted } from '../part/rating.js';
import { first, placeholders, walk } from '../part/rows.js';
import { tell } from '../part/status.js';
import { ofSearch } from '../route.js';

/** More are not shown; a directory with so many is better searched. */
const MOST = 2000;

export function categoriesView() {
  const total = h('span', { class: 'total' });
  const list = h('ul', { class: 'cards' });
  const skeleton = h('div', { class: 'cards' });
  placeholders(skeleton, 12);
  const narrow = h('input', { id: 'narrow', type: 'search', placeholder: 'Narrow down', autocomplete: 'off', input: show, keydown: (event) => {
    if (event.key === 'ArrowDown' && first(list)) event.preventDefault();
  } });
  const body = h('div', { class: 'body', keydown: (event) => walk(event, list, narrow) }, skeleton);
  const call = callPanel();
  const element = h('div', { class: 'view' },
    h('div', { class: 'toolbar' }, h('div', { class: 'toolbar-title' }, h('h1', { tabindex: '-1' }, 'Categories'), total),
      h('div', { class: 'narrow' }, h('label', { class: 'hidden', for: 'narrow' }, 'Narrow down the categories'), narrow)),
    call.element, body);
  let categories = [];

  function show() {
    const words = narrow.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = categories.filter(({ name, description }) => {
      const text = `${name} ${description ?? ''}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    total.textContent = shown.length ? countFormat.format(shown.length) : '';
    list.replaceChildren(...shown.map(card));
    if (words.length) tell(`${counted(shown.length, 'category', 'categories')}.`);
    body.replaceChildren(shown.length ? list : h('section', { class: 'notice' },
      h('h2', null, categories.length ? 'No category has these words in its name or description' : 'This directory has no categories')));
  }

  return {
    element,
    body,
    title: () => 'Categories',
    focusFirst: () => first(list),
    async update(_, signal) {
      call.update([{ path: '/v1/categories', params: { limit: 100 }, client: 'categories.list' }]);
      const { items } = await all('/v1/categories', MOST, signal);
      categories = items;
      show();
      tell(`${counted(items.length, 'category', 'categories')}.`);
    },
  };
}

function card({ id, name, description, software_count: count }) {
  return h('li', { class: count ? 'card' : 'card empty' },
    h('div', { class: 'card-head' }, h('h2', null, h('a', { href: ofSearch({ category: [id] }), 'data-row': true }, say(name))),
      h('span', { class: 'count' }, countFormat.format(count), h('span', { class: 'hidden' }, count === 1 ? ' product' : ' products'))),
    description ? h('p', null, say(description)) : null);
}
