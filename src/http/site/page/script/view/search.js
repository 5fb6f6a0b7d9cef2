// Search and browse: results, filters, order and pages.

import { get } from '../api.js';
import { base, h, plain, say } from '../dom.js';
import { callPanel } from '../part/call.js';
import { facetPanel } from '../part/facets.js';
import { pager } from '../part/pager.js';
import { countFormat, counted } from '../part/rating.js';
import { result } from '../part/result.js';
import { first, placeholders, walk } from '../part/rows.js';
import { tell } from '../part/status.js';
import { understood } from '../part/understood.js';
import { countFilters, filters, LISTS, NO_FILTERS, ofSearch, PAGE_SIZE } from '../route.js';

const FACETS = [...LISTS, 'rating', 'evidence_status', 'offering_type'];
const SORTS = [['', 'Best match'], ['-rating', 'Rating'], ['-review_count', 'Reviews'], ['-evidence_checked_on', 'Newest evidence'], ['name', 'Name']];

export function searchView({ navigate, searchBox }) {
  let search = null;
  const introduction = h('p', { class: 'introduction', hidden: true }, say(document.querySelector('meta[name="directory-introduction"]').content));
  const title = h('h1', { tabindex: '-1' }, 'Products');
  const total = h('span', { class: 'total' });
  const explained = h('div', { class: 'understood' });
  const results = h('ol', { class: 'results' });
  const pages = h('div', { class: 'pages' });
  const body = h('div', { class: 'body', keydown: (event) => walk(event, results, searchBox) }, results, pages);
  const sort = h('select', { id: 'sort', change: () => navigate(ofSearch({ ...search, sort: sort.value || null, page: 1 })) },
    SORTS.map(([value, label]) => h('option', { value }, label)));
  const facets = facetPanel((change) => navigate(ofSearch({ ...search, ...change, page: 1 })));
  const call = callPanel();
  const skeleton = h('div', { class: 'skeleton' });
  placeholders(skeleton, 8);
  results.replaceWith(skeleton);

  const element = h('div', { class: 'view explore' }, introduction, facets.element,
    h('section', { class: 'found', 'aria-label': 'Results' },
      h('div', { class: 'toolbar' }, h('div', { class: 'toolbar-title' }, title, total),
        h('label', { class: 'sort' }, h('span', null, 'Sort'), sort)),
      call.element, explained, body));
  facets.update(NO_FILTERS, null);

  return {
    element,
    body,
    title: () => (search?.q ? `${plain(search.q)} · Products` : 'Products'),
    focusFirst: () => first(results),
    async update(route, signal) {
      search = route;
      introduction.hidden = !introduction.textContent || ofSearch(route) !== `${base}/`;
      sort.options[0].textContent = route.q ? 'Best match' : 'Best first';
      sort.value = route.sort ?? '';
      const params = { ...filters(route), prefix: route.prefix, facets: FACETS, highlight: route.q ? 'true' : null, limit: PAGE_SIZE, offset: (route.page - 1) * PAGE_SIZE || null };
      call.update([{ path: '/v1/search', params, client: 'search.products' }]);
      const answer = await get('/v1/search', params, signal);
      const number = answer.pagination.total;
      title.textContent = route.q ? 'Results' : 'Products';
      // Without hits the notice says so, and nothing else.
      total.textContent = number ? countFormat.format(number) : '';
      facets.update(route, answer.facets ?? {}, number);
      explained.replaceChildren(...understood(route, number ? answer.query : { ...answer.query, dropped: [] }));
      if (answer.data.length) results.replaceChildren(...rows(route, answer));
      body.replaceChildren(answer.data.length ? results : nothing(route, number), pages);
      pages.replaceChildren(pager(answer.pagination, Boolean(route.q), (page) => ofSearch({ ...route, page })) ?? '');
      const corrected = answer.query.corrected.map(({ from, to }) => `${to} instead of ${from}`).join(', ');
      tell(`${counted(number, 'product', 'products')}${corrected ? `, searched for ${corrected}` : ''}.`);
    },
  };
}

/** The rows, with a line where products begin that have only some of the words. */
function rows(search, { data, pagination, query }) {
  const items = data.map(result);
  const at = query.with_all_words - pagination.offset;
  if (search.q && !search.sort && at >= 0 && at < items.length) {
    items.splice(at, 0, h('li', { class: 'some-words' }, query.with_all_words ? 'With some of the words' : 'No product has all of the words. With some of them:'));
  }
  return items;
}

function nothing(search, total) {
  if (total > 0) {
    return h('section', { class: 'notice' }, h('h2', null, 'Past the last page'), h('p', null, `There ${total === 1 ? 'is' : 'are'} ${counted(total, 'product', 'products')} in this result.`),
      h('p', { class: 'ways' }, h('a', { class: 'button', href: ofSearch({ ...search, page: 1 }) }, 'First page')));
  }
  const filtered = countFilters(search) > 0;
  const without = filtered ? 'No product has all of these filters' : 'There are no products yet';
  return h('section', { class: 'notice' },
    h('h2', null, search.q ? ['No product matches “', say(search.q), filtered ? '” with these filters' : '”'] : without),
    h('p', { class: 'ways' },
      filtered ? h('a', { class: 'button', href: ofSearch({ q: search.q }) }, 'Without filters') : null,
      h('a', { class: 'button quiet-button', href: `${base}/categories` }, 'Browse categories')));
}
