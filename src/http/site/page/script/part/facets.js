// The filters beside a search, with how many products each would leave.

import { h, icon, say } from '../dom.js';
import { countFormat } from './rating.js';

const SHOWN_CATEGORIES = 10;

/** Choices that are always there, so that nothing moves as their counts come and go. */
const FIXED = {
  rating: [['4', '4 stars or more'], ['3', '3 stars or more'], ['2', '2 stars or more']],
  evidence: [['vendor-sources-reviewed', 'Vendor sources reviewed'], ['pending-review', 'Pending review']],
  type: [['software', 'Software'], ['document-templates', 'Document templates']],
};
const NAMES = { rating: 'rating', evidence: 'evidence_status', type: 'offering_type' };
const LEGENDS = { rating: 'Rating', evidence: 'Evidence', type: 'Type' };

/** The filters; `change` gets what the search becomes. */
export function facetPanel(change) {
  const groups = h('div', { class: 'facet-groups', id: 'filters' });
  const badge = h('span', { class: 'count-badge', hidden: true });
  const toggle = h('button', { type: 'button', class: 'button filter-toggle', 'aria-expanded': 'false', 'aria-controls': 'filters', click: open }, icon('filter'), 'Filters', badge);
  const element = h('section', { class: 'facets', 'aria-label': 'Filters' }, toggle, groups);
  let everyCategory = false;
  /** What was counted last; null as long as nothing was. */
  let shown = null;
  let counted = null;

  function open() {
    const opened = element.toggleAttribute('data-open');
    toggle.setAttribute('aria-expanded', String(opened));
  }

  function update(search, facets, total) {
    const focused = groups.contains(document.activeElement) ? document.activeElement.id : null;
    const active = search.category.length + [search.rating, search.evidence, search.type].filter(Boolean).length;
    badge.hidden = active === 0;
    // There is nothing to filter.
    element.toggleAttribute('data-useless', total === 0 && active === 0);
    badge.textContent = active;
    groups.replaceChildren(
      h('div', { class: 'facet-head' }, h('h2', null, 'Filters'),
        h('button', { type: 'button', class: 'plain', id: 'clear-filters', disabled: active === 0, click: () => change({ category: [], rating: null, evidence: null, type: null }) }, 'Clear')),
      categories(search, facets?.category ?? []),
      ...Object.keys(FIXED).map((name) => choices(name, search, facets?.[NAMES[name]])));
    if (focused) document.getElementById(focused)?.focus();
  }

  function categories(search, values) {
    const known = new Map(values.map((value) => [value.value, value]));
    const chosen = search.category.map((id) => known.get(id.toLowerCase()) ?? { value: id, label: id, count: 0 });
    const ids = new Set(chosen.map(({ value }) => value));
    const others = values.filter(({ value }) => !ids.has(value));
    const room = everyCategory ? others.length : Math.max(0, SHOWN_CATEGORIES - chosen.length);
    const boxes = [...chosen, ...others.slice(0, room)].map((value) => {
      const checked = ids.has(value.value);
      const toggleOne = () => change({
        category: checked ? search.category.filter((id) => id.toLowerCase() !== value.value && id !== value.value) : [...search.category, value.value],
      });
      return choice('checkbox', 'category', value, checked, toggleOne);
    });
    const more = others.length - room;
    return h('fieldset', { class: 'facet facet-category', 'data-useless': shown && boxes.length === 0 }, h('legend', null, 'Category'), boxes,
      more > 0 ? h('button', { type: 'button', class: 'plain', id: 'all-categories', click: () => { everyCategory = true; update(search, shown, counted); } }, `${more} more`) : null);
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

function choice(type, name, { value, label, count }, checked, act) {
  const input = h('input', { type, name: `facet-${name}`, id: `facet-${name}-${value}`, checked, change: act });
  return h('label', { class: count === 0 && !checked ? 'choice empty' : 'choice' }, input, h('span', { class: 'label' }, say(label)),
    count === undefined ? null : h('span', { class: 'count' }, countFormat.format(count)));
}
