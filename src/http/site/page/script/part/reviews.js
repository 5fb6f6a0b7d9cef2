// A product's reviews: the distribution drawn, then what people wrote, in an order that can be chosen.

import { get } from '../api.js';
import { h, say } from '../dom.js';
import { time } from './evidence.js';
import { countFormat, distribution, reviewsOf } from './rating.js';
import { tell } from './status.js';

/** With fewer there is nothing to put in order. */
const FEWEST_ORDERED = 4;
const ORDERS = [['', 'Newest first'], ['created_at', 'Oldest first'], ['-rating', 'Best first'], ['rating', 'Worst first']];

/** The section. `called` gets the parameters of the call behind it whenever they change. */
export function reviewSection(path, { data, pagination, summary }, software, link, { called, fail }) {
  if (pagination.total === 0) {
    const stated = software.review_count ? ` The record states ${reviewsOf(software.review_count)}; their texts aren’t part of it.` : '';
    return h('section', { 'aria-labelledby': 'reviews' }, h('h2', { id: 'reviews' }, 'Reviews'), h('p', { class: 'quiet' }, `None in this directory.${stated}`));
  }
  const list = h('ul', { class: 'reviews' });
  let shown = 0;
  let loading = new AbortController();
  const more = h('button', { type: 'button', class: 'button', click: () => load({ sort: order.value, offset: shown }) }, 'More reviews');
  const order = h('select', { change: () => load({ sort: order.value }) }, ORDERS.map(([value, label]) => h('option', { value }, label)));
  show(data, pagination);

  function show(reviews, { total }) {
    const entries = reviews.map((review) => entry(review, link));
    list.append(...entries);
    shown += reviews.length;
    more.hidden = shown >= total || reviews.length === 0;
    return entries;
  }

  /** Loads the first reviews of an order, or more of them. */
  async function load(params) {
    loading.abort();
    loading = new AbortController();
    const { signal } = loading;
    more.disabled = true;
    try {
      const next = await get(path, params, signal);
      if (!params.offset) {
        list.replaceChildren();
        shown = 0;
        called({ sort: params.sort });
      }
      const entries = show(next.data, next.pagination);
      if (params.offset && more.hidden) entries[0]?.focus();
      tell(params.offset ? `${shown} of ${reviewsOf(next.pagination.total)}.` : `${order.selectedOptions[0].textContent}.`);
    } catch (error) {
      if (!signal.aborted) fail(error);
    } finally {
      if (!signal.aborted) more.disabled = false;
    }
  }

  return h('section', { 'aria-labelledby': 'reviews' },
    h('div', { class: 'section-head' },
      h('h2', { id: 'reviews' }, 'Reviews', ' ', h('span', { class: 'total' }, countFormat.format(pagination.total))),
      pagination.total < FEWEST_ORDERED ? null : h('label', { class: 'sort' }, h('span', null, 'Sort ', h('span', { class: 'hidden' }, 'reviews')), order)),
    h('div', { class: 'summary' },
      h('p', { class: 'average' }, h('b', null, summary.average ?? '–'), h('span', { class: 'quiet small' }, `of 5, ${reviewsOf(summary.count)}`)),
      distribution(summary)),
    list, more);
}

function entry({ rating, title, body, author, created_at: date, verified }, link) {
  return h('li', { class: 'review', tabindex: '-1' },
    h('p', { class: 'review-head' }, h('span', { class: 'stars', role: 'img', 'aria-label': `${rating} of 5 stars` }, '★'.repeat(rating), h('span', null, '★'.repeat(5 - rating))),
      title ? h('b', null, say(title)) : null),
    body ? h('p', { class: 'prose' }, link(body)) : null,
    h('p', { class: 'small quiet' }, author ? say(author) : 'Unnamed', date ? [' · ', time(date)] : null, verified ? ' · verified user' : null));
}
