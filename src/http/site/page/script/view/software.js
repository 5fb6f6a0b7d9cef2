// One product, with everything its record says.

import { get, getExact } from '../api.js';
import { h, icon, outside, plain, say, webAddress } from '../dom.js';
import { callPanel } from '../part/call.js';
import { evidenceStatement, time } from '../part/evidence.js';
import { licence } from '../part/licence.js';
import { properties } from '../part/properties.js';
import { rating } from '../part/rating.js';
import { reviewSection } from '../part/reviews.js';
import { placeholders } from '../part/rows.js';
import { SIMILAR, similarSection } from '../part/similar.js';
import { tell } from '../part/status.js';
import { termLinker } from '../part/terms.js';
import { ofSearch, ofSoftware } from '../route.js';

export function softwareView(app) {
  let name = 'Product';
  const skeleton = h('div', { class: 'product-skeleton' });
  placeholders(skeleton, 5);
  const body = h('div', { class: 'body' }, skeleton);
  const call = callPanel();
  const element = h('div', { class: 'view product' }, body);

  return {
    element,
    body,
    title: () => plain(name),
    focusFirst: () => false,
    async update({ id }, signal) {
      const path = `/v1/software/${encodeURIComponent(id)}`;
      const reviewsPath = `/v1/reviews/${encodeURIComponent(id)}`;
      const similarPath = `${path}/similar`;
      const called = (reviewParams) => call.update([
        { path, params: {}, client: 'software.get', argument: id },
        { path: reviewsPath, params: reviewParams, client: 'reviews.list', argument: id },
        { path: similarPath, params: SIMILAR, client: 'software.similar', argument: id },
      ]);
      called({});
      const [{ data }, reviews, link] = await Promise.all([getExact(path, {}, signal), get(reviewsPath, {}, signal), termLinker(signal)]);
      name = data.name;
      body.replaceChildren(head(data, link), call.element, h('div', { class: 'product-columns' },
        h('div', { class: 'product-main' }, evidence(data), about(data, link), reviewSection(reviewsPath, reviews, data, link, { called, fail: app.fail }), additional(data)),
        facts(data)), similarSection(similarPath, signal));
      tell(plain(name));
    },
  };
}

function head(data, link) {
  return h('header', { class: 'product-head' },
    h('p', { class: 'crumbs' }, data.categories.flatMap(({ id, name }, at) => [at ? h('span', { class: 'quiet' }, ' · ') : null, h('a', { href: ofSearch({ category: [id] }) }, say(name))])),
    h('h1', { tabindex: '-1' }, say(data.name)),
    data.tagline ? h('p', { class: 'lead' }, link(data.tagline)) : null,
    h('p', { class: 'product-line' }, rating(data), data.rating === null ? null : h('span', { class: 'quiet small' }, ratingSource(data)),
      webAddress(data.website) ? h('a', { class: 'button', href: data.website }, 'Website ', h('span', { class: 'quiet' }, say(webAddress(data.website).host))) : outside(data.website, 'Website')));
}

function ratingSource({ rating_source: source }) {
  if (source === 'reviews') return 'computed from the reviews below';
  return source === 'stated' ? 'as the record states it' : '';
}

function evidence(data) {
  const reviewed = data.evidence_status === 'vendor-sources-reviewed';
  return h('section', { class: 'evidence-box', 'aria-labelledby': 'evidence' },
    h('h2', { id: 'evidence' }, icon(reviewed ? 'checked' : 'pending'), reviewed ? 'Vendor sources reviewed' : data.evidence_status === 'pending-review' ? 'Evidence pending review' : 'Evidence'),
    h('p', null, evidenceStatement(data)),
    data.sources.length ? h('ul', { class: 'sources' }, data.sources.map(({ label, url }) => h('li', null, outside(url, label), ' ',
      webAddress(url) ? h('span', { class: 'quiet small' }, say(webAddress(url).host)) : null))) : h('p', { class: 'quiet' }, 'The record names no sources.'),
    h('p', { class: 'small quiet' }, 'The directory asserts neither the truth nor the freshness of these claims.'));
}

function about(data, link) {
  const list = (title, items) => (items.length ? [h('h3', null, title), h('ul', { class: 'plain-list' }, items.map((item) => h('li', null, link(item))))] : null);
  const chips = (title, items, to) => (items.length ? [h('h3', null, title), h('ul', { class: 'chips' }, items.map((item) => h('li', null, to ? h('a', { href: to(item) }, say(item)) : say(item))))] : null);
  const parts = [
    data.description ? data.description.split(/\n{2,}/).map((paragraph) => h('p', { class: 'prose' }, link(paragraph))) : null,
    list('Features', data.features),
    chips('Standards', data.standards, (standard) => ofSearch({ standards: [standard] })),
    chips('Alternative to', data.alternative_to, (name) => ofSearch({ q: `alternative to ${name}` })),
    chips('Tags', data.tags, (tag) => ofSearch({ tags: [tag] })),
  ].filter(Boolean);
  return h('section', { 'aria-labelledby': 'about' }, h('h2', { id: 'about' }, 'About'),
    parts.length ? parts : h('p', { class: 'quiet' }, 'The record says no more than the above.'));
}

function facts(data) {
  const row = (label, value) => (value === null || (Array.isArray(value) && value.length === 0) ? null : h('div', null, h('dt', null, label), h('dd', null, value)));
  const list = (items) => (items.length ? say(items.join(', ')) : null);
  return h('aside', { class: 'product-facts', 'aria-label': 'Facts' },
    h('dl', { class: 'facts' },
      row('Vendor', data.vendor && h('a', { href: ofSearch({ vendor: [data.vendor] }) }, say(data.vendor))),
      row('Type', data.offering_type === 'software' ? 'Software' : data.offering_type === 'document-templates' ? 'Document templates' : say(data.offering_type)),
      row('Website', outside(data.website, webAddress(data.website)?.href ?? data.website)),
      row('Also called', list(data.aliases)),
      row('Deployment', list(data.deployment)),
      row('Pricing', data.pricing && say(data.pricing)),
      row('Languages', list(data.languages)),
      row('Id', h('code', null, say(data.id)))),
    h('h2', null, 'Where this record is from'),
    h('dl', { class: 'facts' },
      row('Export', say(data.export.name)),
      row('Licence', licence(data.export.license)),
      row('As of', data.export.as_of && time(data.export.as_of)),
      row('Also listed as', sameAs(data.same_as))));
}

/** Products of other exports with the same website, each with its export's id. */
function sameAs(products) {
  return products.map(({ id, name, export: source }, at) => [at ? ', ' : null, h('a', { href: ofSoftware(id) }, say(name)), ' ', h('span', { class: 'quiet small' }, say(source))]);
}

function additional(data) {
  if (Object.keys(data.additional_properties).length === 0) return null;
  return h('section', { 'aria-labelledby': 'additional' }, h('h2', { id: 'additional' }, 'Additional properties'),
    h('p', { class: 'small quiet' }, 'What else the export says, as it says it.'), properties(data.additional_properties));
}
