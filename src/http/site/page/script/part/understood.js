// How a query was understood: what was corrected, left out and searched as well, and which product is to be replaced.

import { h, say } from '../dom.js';
import { ofSearch } from '../route.js';

export function understood(search, { corrected, dropped, excluded, synonyms, alternatives_to: replaced, incomplete }) {
  const words = (items) => items.flatMap((item, at) => [at ? ', ' : '', h('b', null, say(item))]);
  return [
    corrected.length === 0 ? null : h('p', { class: 'corrected' }, 'Searched for ', words(corrected.map(({ to }) => to)), ' instead of ',
      words(corrected.map(({ from }) => from)), '. ', h('a', { href: ofSearch({ ...search, typo: 'false', page: 1 }) }, 'Search as typed')),
    replaced ? h('p', null, 'Alternatives to ', words([replaced]), ', then other products of the same categories.') : null,
    excluded.length === 0 ? null : h('p', null, 'Without: ', words(excluded), '.'),
    search.typo === 'false' ? h('p', null, 'Searched as typed. ', h('a', { href: ofSearch({ ...search, typo: null, page: 1 }) }, 'Correct typing errors')) : null,
    dropped.length === 0 ? null : h('p', null, 'Left out: ', words(dropped), '.'),
    incomplete ? h('p', null, 'Not all products were searched: the query takes too much work. Fewer or rarer words give a complete result.') : null,
    synonyms.length === 0 ? null : h('p', null, 'Searched as well: ', words([...new Set(synonyms.map(({ to }) => to))].slice(0, 6)), '.'),
  ].filter(Boolean);
}
