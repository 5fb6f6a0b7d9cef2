// Ratings: a star and numbers in lists, the distribution drawn where reviews are shown.

import { h, icon } from '../dom.js';

const number = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 2 });
const count = new Intl.NumberFormat('en-GB');

export { count as countFormat };

/** A number with its noun. */
export function counted(number, one, several) {
  return `${count.format(number)} ${number === 1 ? one : several}`;
}

export function reviewsOf(total) {
  return counted(total, 'review', 'reviews');
}

/** Rating and number of reviews; says so where there is none. */
export function rating(item) {
  if (item.rating === null) return h('span', { class: 'rating none' }, 'Not rated');
  const value = number.format(item.rating);
  return h('span', { class: 'rating' },
    icon('star'), h('span', { class: 'hidden' }, 'Rated '), h('b', null, value), h('span', { class: 'hidden' }, ' of 5'),
    item.review_count === null ? null : [' ', h('span', { class: 'quiet' }, `(${count.format(item.review_count)})`),
      h('span', { class: 'hidden' }, ` from ${reviewsOf(item.review_count)}`)]);
}

/** How many reviews gave how many stars, as bars; a table underneath, so that it can be read out. */
export function distribution({ count: total, distribution: stars }) {
  const rows = [5, 4, 3, 2, 1].map((star) => {
    const share = total ? stars[star] / total : 0;
    const bar = h('span', { class: 'bar' }, h('span', { class: 'bar-part' }));
    bar.firstChild.style.width = `${share * 100}%`;
    return h('tr', null,
      h('th', { scope: 'row' }, `${star} ${star === 1 ? 'star' : 'stars'}`), h('td', { class: 'bar-cell', 'aria-hidden': 'true' }, bar),
      h('td', { class: 'bar-count' }, count.format(stars[star])));
  });
  return h('table', { class: 'distribution' },
    h('caption', { class: 'hidden' }, 'Number of reviews by stars'),
    h('thead', { class: 'hidden' }, h('tr', null, h('th', { scope: 'col' }, 'Stars'), h('td'), h('th', { scope: 'col' }, 'Reviews'))),
    h('tbody', null, rows));
}
