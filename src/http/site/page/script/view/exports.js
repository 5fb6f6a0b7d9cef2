// The files that the directory is made of, each under its own licence.

import { all, send } from '../api.js';
import { h, say } from '../dom.js';
import { callPanel } from '../part/call.js';
import { time } from '../part/evidence.js';
import { licence } from '../part/licence.js';
import { countFormat, counted } from '../part/rating.js';
import { first, placeholders, walk } from '../part/rows.js';
import { tell } from '../part/status.js';

const MOST = 500;

export function exportsView({ fail }) {
  const total = h('span', { class: 'total' });
  const list = h('ul', { class: 'exports' });
  const skeleton = h('div');
  placeholders(skeleton, 3);
  const body = h('div', { class: 'body', keydown: (event) => walk(event, list) }, skeleton);
  const call = callPanel();
  const element = h('div', { class: 'view reading' },
    h('div', { class: 'toolbar' }, h('div', { class: 'toolbar-title' }, h('h1', { tabindex: '-1' }, 'Exports'), total)),
    h('p', { class: 'lead' }, 'The directory is published from these files. Each has its own licence, and products of different licences are never blended into one document.'),
    call.element, body);

  return {
    element,
    body,
    title: () => 'Exports',
    focusFirst: () => first(list),
    async update(_, signal) {
      call.update([{ path: '/v1/exports', params: {}, client: 'exports.list' }]);
      const { items } = await all('/v1/exports', MOST, signal);
      total.textContent = countFormat.format(items.length);
      list.replaceChildren(...items.map((item) => entry(item, fail)));
      body.replaceChildren(list);
      tell(`${counted(items.length, 'export', 'exports')}.`);
    },
  };
}

function entry(item, fail) {
  const counts = [[item.software_count, 'product', 'products'], [item.category_count, 'category', 'categories'], [item.review_count, 'review', 'reviews'], [item.glossary_count, 'term', 'terms']];
  const download = (format) => h('button', { type: 'button', class: 'button small', 'data-row': true, click: () => save(item.id, format).catch(fail) }, format === 'json' ? 'JSON' : 'NDJSON');
  return h('li', { class: 'export' },
    h('h2', null, say(item.name)),
    h('dl', { class: 'facts' },
      h('div', null, h('dt', null, 'Licence'), h('dd', null, licence(item.license))),
      item.as_of ? h('div', null, h('dt', null, 'As of'), h('dd', null, time(item.as_of))) : null,
      item.id_prefix ? h('div', null, h('dt', null, 'Prefix of ids'), h('dd', null, h('code', null, say(item.id_prefix)))) : null,
      h('div', null, h('dt', null, 'Holds'), h('dd', null, counts.filter(([count]) => count).map((of) => counted(...of)).join(', ') || 'nothing')),
      h('div', null, h('dt', null, 'Size'), h('dd', null, `${countFormat.format(Math.ceil(item.size_bytes / 1000))} kB`))),
    h('p', { class: 'ways' }, h('span', { class: 'quiet small' }, 'Download'), download('json'), download('ndjson')));
}

/** A download needs the key in a header, which a link can't send. */
async function save(id, format) {
  const response = await send(`/v1/exports/${encodeURIComponent(id)}`, { format });
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = address;
  link.download = `${id}.${format}`;
  link.click();
  URL.revokeObjectURL(address);
}
