// The pages of a list.

import { h } from '../dom.js';
import { countFormat } from './rating.js';

/** Beyond this offset a query is refused. */
const DEEPEST = 10_000;

/** Links to the other pages; nothing where there is only one. `to` gives the address of a page. */
export function pager({ limit, offset, total }, queried, to) {
  const page = Math.floor(offset / limit) + 1;
  const reachable = queried ? Math.min(total, DEEPEST + limit) : total;
  const pages = Math.max(1, Math.ceil(reachable / limit));
  if (pages === 1 && page === 1) return null;
  const last = Math.min(page, pages);
  const shown = [...new Set([1, last - 1, last, last + 1, pages])].filter((number) => number >= 1 && number <= pages);
  const items = [];
  let before = 0;
  for (const number of shown.sort((a, b) => a - b)) {
    if (number - before > 1) items.push(h('li', { 'aria-hidden': 'true', class: 'gap' }, '…'));
    items.push(h('li', null, h('a', {
      href: to(number), 'aria-label': `Page ${number}`, 'aria-current': number === page ? 'page' : null,
    }, countFormat.format(number))));
    before = number;
  }
  return h('nav', { class: 'pager', 'aria-label': 'Pages' },
    page > 1 ? h('a', { class: 'step', href: to(Math.min(page - 1, pages)), rel: 'prev' }, 'Previous') : null,
    h('ol', null, items),
    page < pages ? h('a', { class: 'step', href: to(page + 1), rel: 'next' }, 'Next') : null);
}
