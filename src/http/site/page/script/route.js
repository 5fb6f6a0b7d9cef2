// The state of the page as an address: everything that a reload or the back button should bring back is in it.

import { address } from './api.js';
import { base } from './dom.js';

export const PAGE_SIZE = 20;

/** The filters of which several values can be chosen. */
export const LISTS = ['category', 'deployment', 'standards', 'languages', 'vendor', 'tags'];

/** What a search has without filters. */
export const NO_FILTERS = { rating: null, evidence: null, type: null, ...Object.fromEntries(LISTS.map((name) => [name, []])) };

/** Reads an address of the page. */
export function read(url) {
  const path = url.pathname.slice(base.length).replace(/(.)\/$/, '$1');
  const params = url.searchParams;
  const page = Math.max(1, Number.parseInt(params.get('page') ?? '1', 10) || 1);
  if (path === '/categories') return { view: 'categories' };
  if (path === '/exports') return { view: 'exports' };
  if (path === '/glossary') return { view: 'glossary', q: params.get('q') ?? '', page };
  if (path.startsWith('/software/')) return { view: 'software', id: decode(path.slice('/software/'.length)) };
  return {
    view: 'search',
    q: params.get('q') ?? '',
    ...Object.fromEntries(LISTS.map((name) => [name, params.getAll(name)])),
    rating: params.get('min_rating'),
    evidence: params.get('evidence_status'),
    type: params.get('offering_type'),
    sort: params.get('sort'),
    typo: params.get('typo'),
    page,
  };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The address of a product. */
export function ofSoftware(id) {
  return `${base}/software/${encodeURIComponent(id)}`;
}

/** The address of a search; parts left out are the usual ones. */
export function ofSearch(search) {
  return address(`${base}/`, { ...filters(search), page: search.page > 1 ? search.page : null });
}

export function ofGlossary({ q, page }) {
  return address(`${base}/glossary`, { q, page: page > 1 ? page : null });
}

/** The parameters of a search, as page and API name them alike. */
export function filters({ q, rating, evidence, type, sort, typo, ...others }) {
  const lists = Object.fromEntries(LISTS.map((name) => [name, others[name]]));
  return { q, ...lists, min_rating: rating, evidence_status: evidence, offering_type: type, sort, typo };
}

/** How many filters a search has. */
export function countFilters(search) {
  return Object.keys(NO_FILTERS).reduce((count, name) => count + [search[name] ?? []].flat().length, 0);
}
