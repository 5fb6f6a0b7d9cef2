// The filters next to a search, with how many products each would leave.

import { h, icon, say } from '../dom.js';
import { countFilters, LISTS, NO_FILTERS } from '../route.js';
import { countFormat } from './rating.js';

/** The values of a list that are shown before someone asks for more. */
const SHOWN = { category: 10 };
const SHOWN_OTHERS = 6;

/** Choices that are always there, so that nothing moves as their counts come and go. */
const FIXED = {
  rating: [['4', '4 stars or more'], ['3', '3 stars or more'], ['2', '2 stars or more']],
  evidence: [['vendor-sources-reviewed', 'Vendor sources reviewed'], ['pending-review', 'Pending review']],
  type: [['software', 'Software'], ['document-templates', 'Document templates']],
};
const NAMES = { rating: 'rating', evidence: 'evidence_status', type: 'offering_type' };
const LEGENDS = {
  category: 'Category', rating: 'Rating', evidence: 'Evidence', type: 'Type',
  deployment: 'Deployment', standards: 'Standards', languages: 'Languages', vendor: 'Vendor', tags: 'Tags',
};
const [CATEGORY, ...ATTRIBUTES] = LISTS;

/** The filters; `change` gets what the search becomes. */
export function facetPanel(change) {
  const groups = h('div', { class: 'facet-groups', id: 'filters' });
  const badge = h('span', { class: 'count-badge', hidden: true });
  const toggle = h('button', { type: 'button', class: 'button filter-toggle', 'aria-expanded': 'false', 'aria-controls': 'filters', click: open }, icon('filter'), 'Filters', badge);
  const element = h('section', { class: 'facets', 'aria-label': 'Filters' }, toggle, groups);
  /** The lists that are shown whole. */
  const whole = new Set();
  /** What was counted last; null as long as nothing was. */
  let shown = null;
  let counted = null;

  function open() {
    const opened = element.toggleAttribute('data-open');
    toggle.setAttribute('aria-expanded', String(opened));
  }

  function update(search, facets, total) {
    const focused = groups.contains(document.activeElement) ? document.activeElement.id : null;
    const active = countFilters(search);
    badge.hidden = active === 0;
    // There is nothing to filter.
    element.toggleAttribute('data-useless', total === 0 && active === 0);
    badge.textContent = active;
    groups.replaceChildren(
      h('div', { class: 'facet-head' }, h('h2', null, 'Filters'),
        h('button', { type: 'button', class: 'plain', id: 'clear-filters', disabled: active === 0, click: () => change(NO_FILTERS) }, 'Clear')),
      list(CATEGORY, search, facets?.[CATEGORY] ?? []),
      ...Object.keys(FIXED).map((name) => choices(name, search, facets?.[NAMES[name]])),
      // Below those that are always there, so that they move nothing as they come and go.
      ...ATTRIBUTES.filter((name) => search[name].length || facets?.[name]?.length).map((name) => list(name, search, facets?.[name] ?? [])));
    if (focused) document.getElementById(focused)?.focus();
  }

  /** A filter of which several values can be chosen: those that are, then the others by falling count. */
  function list(name, search, values) {
    const folded = FOLDS[name] ?? fold;
    const known = new Map(values.map((value) => [folded(value.value), value]));
    const chosen = new Map(search[name].map((value) => [folded(value), known.get(folded(value)) ?? { value, label: value, count: 0 }]));
    const others = values.filter(({ value }) => !chosen.has(folded(value)));
    const room = whole.has(name) ? others.length : Math.max(0, (SHOWN[name] ?? SHOWN_OTHERS) - chosen.size);
    const boxes = [...chosen.values(), ...others.slice(0, room)].map((value) => {
      const checked = chosen.has(folded(value.value));
      const toggleOne = () => change({
        [name]: checked ? search[name].filter((one) => folded(one) !== folded(value.value)) : [...search[name], value.value],
      });
      return choice('checkbox', name, value, checked, toggleOne);
    });
    const more = others.length - room;
    const showAll = () => {
      whole.add(name);
      update(search, shown, counted);
      document.getElementById(idOf(name, others[room].value))?.focus();
    };
    return h('fieldset', { class: `facet facet-${name}`, 'data-useless': shown && boxes.length === 0 }, h('legend', null, LEGENDS[name]), boxes,
      more > 0 ? h('button', { type: 'button', class: 'plain', 'aria-label': `${more} more: ${LEGENDS[name]}`, click: showAll }, `${more} more`) : null);
  }

  function choices(name, search, values) {
    const count = new Map((values ?? []).map((value) => [value.value, value.count]));
    const countOf = (value) => (values ? count.get(value) ?? 0 : undefined);
    const listed = FIXED[name].map(([value, label]) => ({ value, label, count: countOf(value) }));
    if (search[name] && !listed.some(({ value }) => value === search[name])) {
      listed.push({ value: search[name], label: values?.find(({ value }) => value === search[name])?.label ?? search[name], count: countOf(search[name]) });
    }
    return h('fieldset', { class: 'facet' }, h('legend', null, LEGENDS[name]),
      choice('radio', name, { value: '', label: 'Any' }, !search[name], () => change({ [name]: null })),
      listed.map((value) => choice('radio', name, value, search[name] === value.value, () => change({ [name]: value.value }))));
  }

  return {
    element,
    update(search, facets, total) {
      [shown, counted] = [facets, total];
      update(search, facets, total);
    },
  };
}

/** A category is named by its id, the other values by themselves, however they are written. */
const FOLDS = { category: (id) => id.toLowerCase() };
const fold = (text) => text.normalize('NFD').replace(/[\p{M}\s\u2010-]+/gu, '').toLowerCase();

const idOf = (name, value) => `facet-${name}-${value}`;

function choice(type, name, { value, label, count }, checked, act) {
  const input = h('input', { type, name: `facet-${name}`, id: idOf(name, value), checked, change: act });
  return h('label', { class: count === 0 && !checked ? 'choice empty' : 'choice' }, input, h('span', { class: 'label' }, say(label)),
    count === undefined ? null : h('span', { class: 'count' }, countFormat.format(count)));
}
