// A product's reviews: the distribution drawn, then what people wrote, newest first.

import { get } from '../api.js';
import { h, say } from '../dom.js';
import { time } from './evidence.js';
import { countFormat, distribution, reviewsOf } from './rating.js';
import { tell } from './status.js';

export function reviewSection(path, { data, pagination, summary }, software, link, fail) {
  if (pagination.total === 0) {
    const stated = software.review_count ? ` The record states ${reviewsOf(software.review_count)}; their texts aren’t part of it.` : '';
    return h('section', { 'aria-labelledby': 'reviews' }, h('h2', { id: 'reviews' }, 'Reviews'), h('p', { class: 'quiet' }, `None in this directory.${stated}`));
  }
  const list = h('ul', { class: 'reviews' }, data.map((review) => entry(review, link)));
  let shown = data.length;
  const more = h('button', { type: 'button', class: 'button', click: load }, 'More reviews');
  more.hidden = shown >= pagination.total;

  async function load() {
    more.disabled = true;
    try {
      const next = await get(path, { offset: shown });
      shown += next.data.length;
      const entries = next.data.map((review) => entry(review, link));
      list.append(...entries);
      more.hidden = shown >= next.pagination.total || next.data.length === 0;
      if (more.hidden) entries[0]?.focus();
      tell(`${shown} of ${next.pagination.total} reviews.`);
    } catch (error) {
      fail(error);
    } finally {
      more.disabled = false;
    }
  }

  return h('section', { 'aria-labelledby': 'reviews' },
    h('h2', { id: 'reviews' }, 'Reviews', ' ', h('span', { class: 'total' }, countFormat.format(pagination.total))),
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
