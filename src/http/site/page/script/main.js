// The page: takes an address, shows its view, and carries errors to where they are read.

import { base } from './dom.js';
import * as key from './key.js';
import { notice } from './part/notice.js';
import { tell } from './part/status.js';
import { suggestions } from './part/suggestions.js';
import { forgetTerms } from './part/terms.js';
import * as route from './route.js';
import { typing } from './typing.js';
import { categoriesView } from './view/categories.js';
import { exportsView } from './view/exports.js';
import { glossaryView } from './view/glossary.js';
import { searchView } from './view/search.js';
import { softwareView } from './view/software.js';

const VIEWS = { search: searchView, software: softwareView, categories: categoriesView, glossary: glossaryView, exports: exportsView };

const content = document.getElementById('content');
const progress = document.getElementById('progress');
const searchBox = document.getElementById('q');
const forget = document.getElementById('forget');
const site = document.title;

let shown = { kind: null, view: null };
let loading = new AbortController();
/** Whether the last step came from typing: the next letter then replaces its place in the history. */
let lastTyped = false;
/** Whether the last word of the search is still being typed. */
let isOpen = false;

const app = { navigate, searchBox, typing, fail: (error) => failed(error, loading.signal) };
const box = typing(searchBox, (sent) => {
  const current = route.read(new URL(location.href));
  const kept = current.view === 'search' ? { ...current, typo: null } : {};
  navigate(route.ofSearch({ ...kept, q: searchBox.value.trim(), page: 1 }), { typed: true, open: !sent });
  if (sent) suggested.close();
  else suggested.update(searchBox.value.trim());
});
const suggested = suggestions(searchBox, {
  ofCategory: (id) => route.ofSearch({ ...route.read(new URL(location.href)), q: '', typo: null, category: [id], page: 1 }),
  open(address) {
    box.stop();
    navigate(address);
  },
});

/** Goes to an address of the page. */
function navigate(address, { typed = false, open = false } = {}) {
  history.replaceState({ scroll: scrollY }, '');
  const inPlace = typed && lastTyped && shown.kind === route.read(new URL(address, location.href)).view;
  history[inPlace ? 'replaceState' : 'pushState']({ scroll: 0 }, '', address);
  lastTyped = typed;
  isOpen = open;
  show({ scroll: typed ? null : 0 });
}

/** Shows what the address says. */
async function show({ scroll = null, start = false } = {}) {
  loading.abort();
  loading = new AbortController();
  const { signal } = loading;
  const now = route.read(new URL(location.href));
  const changed = now.view !== shown.kind || now.id !== shown.id;
  if (changed) {
    shown = { kind: now.view, id: now.id, view: VIEWS[now.view](app) };
    content.replaceChildren(shown.view.element);
    mark(now.view);
  }
  if (now.view === 'search') box.show(now.q);
  else box.show('');
  const { view } = shown;
  const slow = setTimeout(() => { progress.hidden = false; }, 250);
  view.body.setAttribute('aria-busy', 'true');
  try {
    await view.update({ ...now, prefix: isOpen ? 'always' : null }, signal);
    signal.throwIfAborted();
    view.element.removeAttribute('data-failed');
    document.title = `${view.title()} · ${site}`;
  } catch (error) {
    if (signal.aborted) return;
    failed(error, signal);
  } finally {
    clearTimeout(slow);
    if (!signal.aborted) {
      progress.hidden = true;
      view.body.removeAttribute('aria-busy');
      forget.hidden = key.current() === null;
    }
  }
  if (signal.aborted) return;
  if (scroll !== null) scrollTo(0, scroll);
  // A link that was followed is gone with its list; keyboard focus goes on from the top of the new one.
  const lost = document.activeElement === document.body;
  if ((changed || lost) && !start && document.activeElement !== searchBox) {
    content.querySelector('h1')?.focus({ preventScroll: true });
  }
}

function failed(error, signal) {
  const retry = () => {
    forgetTerms();
    // A failure may have left a view half built.
    shown = { kind: null, view: null };
    show();
  };
  if (!('status' in error) && error.constructor === TypeError) console.error(error);
  shown.view.element.toggleAttribute('data-failed', true);
  shown.view.body.replaceChildren(notice(error, retry, signal));
  document.title = site;
  if (document.activeElement === document.body) content.querySelector('#key')?.focus({ preventScroll: true });
}

function mark(view) {
  for (const link of document.querySelectorAll('[data-view]')) {
    const here = link.dataset.view === view || (view === 'software' && link.dataset.view === 'search');
    if (here) link.setAttribute('aria-current', view === 'software' ? 'true' : 'page');
    else link.removeAttribute('aria-current');
  }
}

/** Links to views are followed here; those to documents and other hosts by the browser. */
document.addEventListener('click', (event) => {
  const link = event.target.closest?.('a[href]');
  if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const address = link.getAttribute('href');
  if (!address.startsWith(`${base}/`) || address.startsWith('//') || 'plain' in link.dataset || link.pathname.startsWith(`${base}/docs`)) return;
  event.preventDefault();
  navigate(address);
});

document.addEventListener('keydown', (event) => {
  const { target, key: pressed } = event;
  if (event.defaultPrevented) return;
  const writing = target.matches?.('input:not([type=checkbox], [type=radio]), textarea, select');
  if (pressed === '/' && !writing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    searchBox.focus();
    searchBox.select();
  } else if (pressed === 'ArrowDown' && target === searchBox && shown.view.focusFirst()) {
    event.preventDefault();
  } else if (pressed === 'ArrowDown' && (target === document.body || target === content || target.matches?.('h1')) && shown.view.focusFirst()) {
    event.preventDefault();
  }
});

document.getElementById('find').addEventListener('submit', (event) => {
  event.preventDefault();
  box.now();
});

forget.addEventListener('click', () => {
  key.forget();
  forgetTerms();
  shown = { kind: null, view: null };
  show().then(() => tell('The key is forgotten.'));
});

addEventListener('popstate', (event) => {
  lastTyped = false;
  isOpen = false;
  suggested.close();
  show({ scroll: event.state?.scroll ?? null });
});

// A link with a key, followed while the page is open.
addEventListener('hashchange', () => {
  if (!location.hash.startsWith('#key=')) return;
  key.takeFromAddress();
  forgetTerms();
  shown = { kind: null, view: null };
  show();
});

history.scrollRestoration = 'manual';
key.takeFromAddress();
show({ scroll: history.state?.scroll ?? null, start: true });
