// One product in a list of results.

import { h, say } from '../dom.js';
import { ofSearch, ofSoftware } from '../route.js';
import { evidenceBadge } from './evidence.js';
import { marked } from './marked.js';
import { rating } from './rating.js';

/** Matches in these fields aren't visible in a row anyway, so they get a line that says where they are. */
const ELSEWHERE = { aliases: 'Also called', tags: 'Tagged', standards: 'Standards', alternative_to: 'Alternative to', features: 'Features', description: 'Description', category_description: 'Its category' };

/** The row. Its title is a heading of the level below that of its list; `note` is a line below the tagline. */
export function result(item, { heading = 'h2', note = null } = {}) {
  const all = (field) => item.highlights?.filter((highlight) => highlight.field === field) ?? [];
  const found = (field) => all(field).map(({ html }) => html);
  const text = (field, value) => (found(field)[0] ? marked(found(field)[0]) : say(value));
  const elsewhere = Object.keys(ELSEWHERE).find((field) => found(field).length > 0);
  const [main] = item.categories;
  return h('li', { class: 'result' },
    h('div', { class: 'result-head' },
      h(heading, null, h('a', { href: ofSoftware(item.id), 'data-row': true }, text('name', item.name))), item.rating === null ? null : rating(item)),
    item.tagline ? h('p', { class: 'tagline' }, text('tagline', item.tagline)) : null,
    elsewhere ? h('p', { class: 'elsewhere' }, h('span', { class: 'quiet' }, `${ELSEWHERE[elsewhere]}${all(elsewhere)[0].by === 'synonym' ? ', in other words' : ''}: `), joined(found(elsewhere).slice(0, 4))) : null,
    note ? h('p', { class: 'note' }, note) : null,
    h('p', { class: 'meta' },
      main ? h('a', { href: ofSearch({ category: [main.id] }) }, category(main, found('categories'))) : null,
      item.categories.length > 1 ? h('span', { title: item.categories.slice(1).map(({ name }) => name).join(', ') }, `+${item.categories.length - 1}`) : null,
      item.vendor ? h('span', null, text('vendor', item.vendor)) : null,
      item.offering_type === 'software' ? null : h('span', { class: 'type' }, item.offering_type === 'document-templates' ? 'Document templates' : say(item.offering_type)),
      // Most records await their first review: without a date the badge adds nothing to a row.
      item.evidence_status === 'pending-review' && item.evidence_checked_on === null ? null : evidenceBadge(item)));
}

/** The main category, with its match if it is the one that matched. */
function category({ name }, found) {
  const own = found.map(marked).find((node) => node.textContent === name);
  return own ?? say(name);
}

const joined = (htmls) => htmls.flatMap((html, at) => [at ? ', ' : '', marked(html)]);
