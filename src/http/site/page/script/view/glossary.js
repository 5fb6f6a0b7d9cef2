// The terms of the field, searchable.

import { get } from '../api.js';
import { h, outside, plain, say } from '../dom.js';
import { callPanel } from '../part/call.js';
import { pager } from '../part/pager.js';
import { countFormat } from '../part/rating.js';
import { first, placeholders, walk } from '../part/rows.js';
import { tell } from '../part/status.js';
import { ofGlossary, PAGE_SIZE } from '../route.js';

export function glossaryView({ navigate, typing }) {
  let q = '';
  const total = h('span', { class: 'total' });
  const list = h('div', { class: 'terms' });
  const skeleton = h('div', { class: 'terms' });
  placeholders(skeleton, 8);
  const pages = h('div', { class: 'pages' });
  const input = h('input', { id: 'term', type: 'search', placeholder: 'Search the glossary', autocomplete: 'off', maxlength: 256, spellcheck: 'false' });
  const typed = typing(input, () => navigate(ofGlossary({ q: input.value.trim(), page: 1 }), { typed: true }));
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' && first(list)) event.preventDefault();
  });
  const submit = (event) => { event.preventDefault(); typed.now(); };
  const body = h('div', { class: 'body', keydown: (event) => walk(event, list, input) }, skeleton, pages);
  const call = callPanel();
  const element = h('div', { class: 'view reading' },
    h('div', { class: 'toolbar' }, h('div', { class: 'toolbar-title' }, h('h1', { tabindex: '-1' }, 'Glossary'), total),
      h('form', { class: 'narrow', role: 'search', 'aria-label': 'Glossary', submit }, h('label', { class: 'hidden', for: 'term' }, 'Search the glossary'), input)),
    call.element, body);

  return {
    element,
    body,
    title: () => (q ? `${plain(q)} · Glossary` : 'Glossary'),
    focusFirst: () => first(list),
    async update(route, signal) {
      q = route.q;
      typed.show(q);
      const params = { q, limit: PAGE_SIZE, offset: (route.page - 1) * PAGE_SIZE || null };
      call.update([{ path: '/v1/glossary', params, client: 'glossary.list' }]);
      const { data, pagination } = await get('/v1/glossary', params, signal);
      total.textContent = pagination.total ? countFormat.format(pagination.total) : '';
      list.replaceChildren(...data.map(entry));
      body.replaceChildren(data.length ? list : h('section', { class: 'notice' },
        h('h2', null, q ? ['No term matches “', say(q), '”'] : 'This directory has no glossary'),
        q ? h('p', { class: 'ways' }, h('a', { class: 'button', href: ofGlossary({ q: '' }) }, 'All terms')) : null), pages);
      pages.replaceChildren(pager(pagination, Boolean(q), (page) => ofGlossary({ q, page })) ?? '');
      tell(`${countFormat.format(pagination.total)} ${pagination.total === 1 ? 'term' : 'terms'}.`);
    },
  };
}

function entry({ id, term, definition, abbreviations, synonyms, related, source }) {
  const words = (label, items, show) => (items.length ? h('p', { class: 'small' }, h('span', { class: 'quiet' }, `${label} `), items.flatMap((item, at) => [at ? ', ' : '', show(item)])) : null);
  return h('article', { class: 'term-entry', id: `term-${id}` },
    h('h2', null, h('a', { href: ofGlossary({ q: term }), 'data-row': true }, say(term)),
      abbreviations.length ? h('span', { class: 'abbreviations' }, abbreviations.map((short) => h('span', null, say(short)))) : null),
    h('p', null, say(definition)),
    words('Also', synonyms, say),
    words('See', related, (name) => h('a', { href: ofGlossary({ q: name }) }, say(name))),
    source?.url ? h('p', { class: 'small source' }, h('span', { class: 'quiet' }, 'Source '), outside(source.url, source.title ?? source.url)) : null);
}
