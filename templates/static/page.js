// What HTML can't do: suggestions while typing, results that change in place, copying, and the theme. Every page also works without scripts.

const { base, root: apiBase, copy, copied, pressCopy } = document.body.dataset;
const input = document.getElementById('q');
const status = document.getElementById('status');

/** Debounce delay: long enough to type two letters, short enough to feel instant. */
const PAUSE_MS = 120;

/** Fetches part of a page. The browser parses it as a separate document, which runs no scripts. */
function part(address, signal) {
  return new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    request.open('GET', address);
    request.responseType = 'document';
    request.onload = () => (request.status === 200 && request.response ? done(request.response.body) : fail(new Error(`status ${request.status}`)));
    request.onerror = () => fail(new Error('no answer'));
    signal.addEventListener('abort', () => request.abort());
    request.send();
  });
}

/** A part's nodes, imported into this document. */
const nodes = (body) => [...body.childNodes].map((node) => document.importNode(node, true));

// Results in place

let loading = new AbortController();
/** Whether the last step came from typing; the next letter then replaces its history entry. */
let typed = false;
/** The address being shown. */
let shown = location.pathname + location.search;

/** A published page has no server that could answer: lists aren't replaced, and its form searches with Pagefind. */
const pagefind = document.getElementById('find')?.dataset.pagefind;
const explore = () => (pagefind ? null : document.getElementById('explore'));

/** A form's own id: its fields named `id` hide the property. */
const idOf = (form) => form.getAttribute('id');

/** The address that a form leads to, without its empty fields. */
function target(form) {
  const query = new URLSearchParams();
  // What's chosen for comparison is remembered without the address.
  for (const [name, value] of new FormData(form)) if (name !== 'id' && value.trim() !== '') query.append(name, value.trim());
  const path = form.getAttribute('action');
  if (query.size === 0 && path === `${base}/`) query.set('q', '');
  return query.size ? `${path}?${query}` : path;
}

/** Where to fetch the part of a list page that changes: the path and query under `/results`. */
function partOf(address, open) {
  const url = new URL(address, location.href);
  const category = url.pathname.slice(`${base}/categories/`.length);
  const path = url.pathname.startsWith(`${base}/categories/`) ? `${base}/results/${category}` : `${base}/results`;
  if (open) url.searchParams.set('prefix', 'always');
  return path + url.search;
}

/** Each filter's additional values. */
const unfolded = () => [...document.querySelectorAll('.facet details')].map((details) => ({ details, name: details.closest('fieldset').querySelector('legend').textContent }));

/** Shows the list at an address. */
async function show(address, { push = true, typing = false, scroll = false } = {}) {
  loading.abort();
  loading = new AbortController();
  const { signal } = loading;
  const focused = document.activeElement?.id;
  const isInside = explore().contains(document.activeElement);
  const opened = unfolded().filter(({ details }) => details.open).map(({ name }) => name);
  const isSheetOpen = document.getElementById('filters')?.matches(':popover-open');
  explore().setAttribute('aria-busy', 'true');
  let body;
  try {
    body = await part(partOf(address, typing), signal);
  } catch {
    // The full page says what's wrong, or asks the reader to sign in.
    if (!signal.aborted) location.assign(address);
    return;
  }
  if (signal.aborted) return;
  // Searching for what was typed shows the same list, so Back needs one step.
  if (push && address !== shown) history[typing && typed ? 'replaceState' : 'pushState'](null, '', address);
  typed = typing;
  shown = address;
  explore().replaceWith(...nodes(body));
  document.title = explore().dataset.title;
  for (const { name, details } of unfolded()) details.open = opened.includes(name);
  if (isSheetOpen) document.getElementById('filters').showPopover();
  // The focused element was replaced or removed. If it's gone, the results heading gets the focus instead.
  const heading = explore().querySelector('h1');
  heading.tabIndex = -1;
  if (isInside) (document.getElementById(focused) ?? heading).focus({ preventScroll: true });
  if (scroll) scrollTo(0, 0);
  status.textContent = explore().dataset.status;
  copyButtons(explore());
  rememberCall();
  showChosen();
}

/** Whether an address is a list of the same kind, which this page can show in place. */
function isList(url) {
  if (!explore() || url.origin !== location.origin) return false;
  return url.pathname === location.pathname && (url.pathname !== `${base}/` || url.search !== '');
}

document.addEventListener('change', (event) => {
  const { form, name } = event.target;
  if (!explore() || !form || !['find', 'narrow'].includes(idOf(form)) || ['q', 'id'].includes(name)) return;
  show(target(form));
});

document.addEventListener('submit', (event) => {
  const form = event.target;
  if (event.submitter?.closest('#compare')) {
    event.preventDefault();
    location.assign(`${base}/compare?${new URLSearchParams(chosen().map(([id]) => ['id', id]))}`);
    return;
  }
  if (!['find', 'narrow'].includes(idOf(form)) || !explore()) return;
  if (idOf(form) === 'find' && document.getElementById('narrow')) return;
  event.preventDefault();
  suggestions?.close();
  document.getElementById('filters')?.hidePopover();
  show(target(form), { scroll: true });
});

document.addEventListener('click', (event) => {
  const link = event.target.closest?.('a[href]');
  if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  if (!link.closest('#explore') || link.hash || !isList(new URL(link.href))) return;
  event.preventDefault();
  show(link.getAttribute('href'), { scroll: Boolean(link.closest('.pager')) });
});

addEventListener('popstate', () => {
  const address = location.pathname + location.search;
  // A link within the page adds a history entry, but shows the same list.
  if (!explore() || address === shown) return;
  typed = false;
  if (input && !document.getElementById('narrow')) input.value = new URLSearchParams(location.search).get('q') ?? '';
  show(address, { push: false });
});

// Products chosen for comparison, remembered while the tab is open

const chosen = () => JSON.parse(sessionStorage.getItem('compare') ?? '[]');

function choose(products) {
  sessionStorage.setItem('compare', JSON.stringify(products));
  showChosen();
}

/** Ticks the chosen products and names them in the bar. */
function showChosen() {
  const bar = document.getElementById('compare');
  if (!bar) return;
  const products = chosen();
  for (const box of document.querySelectorAll('.select input')) {
    box.checked = products.some(([id]) => id === box.value);
    box.disabled = !box.checked && products.length >= Number(bar.dataset.most);
  }
  bar.classList.toggle('has-chosen', products.length > 0);
  bar.querySelector('ul').replaceChildren(...products.map(([id, name]) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'plain';
    button.setAttribute('aria-label', `${bar.dataset.remove}: ${name}`);
    button.textContent = `${name} ×`;
    button.addEventListener('click', () => choose(chosen().filter(([other]) => other !== id)));
    const item = document.createElement('li');
    item.append(button);
    return item;
  }));
}

document.addEventListener('change', ({ target: box }) => {
  if (!box.closest('.select')) return;
  const others = chosen().filter(([id]) => id !== box.value);
  choose(box.checked ? [...others, [box.value, box.dataset.name]] : others);
});

const compared = [...document.querySelectorAll('.comparison th[data-id]')];
if (compared.length > 0) choose(compared.map(({ dataset }) => [dataset.id, dataset.name]));
showChosen();

// Suggestions

/** Suggestions below the search box, as an ARIA combobox with a grouped listbox. */
function combobox(list) {
  let options = [];
  let active = -1;
  let waiting = new AbortController();
  for (const [name, value] of Object.entries({ role: 'combobox', 'aria-autocomplete': 'list', 'aria-expanded': 'false', 'aria-controls': list.id })) {
    input.setAttribute(name, value);
  }

  async function update(q) {
    waiting.abort();
    if (!q || document.activeElement !== input) return close();
    waiting = new AbortController();
    const { signal } = waiting;
    const found = await (engine ? search(q) : part(`${base}/suggest?${new URLSearchParams({ q })}`, signal).then(nodes)).catch(() => []);
    if (signal.aborted) return;
    const before = options[active]?.dataset.href;
    list.replaceChildren(...found);
    options = [...list.querySelectorAll('[data-href]')];
    if (found.length === 0) return close();
    options.forEach((option, at) => { option.id = `suggestion-${at}`; });
    list.hidden = false;
    input.setAttribute('aria-expanded', 'true');
    // If the active option is still there, it stays active.
    activate(options.findIndex(({ dataset }) => dataset.href === before));
  }

  function activate(index) {
    active = index;
    options.forEach((option, at) => option.setAttribute('aria-selected', String(at === active)));
    if (active < 0) input.removeAttribute('aria-activedescendant');
    else {
      input.setAttribute('aria-activedescendant', options[active].id);
      options[active].scrollIntoView({ block: 'nearest' });
    }
  }

  function close() {
    waiting.abort();
    list.hidden = true;
    list.replaceChildren();
    input.setAttribute('aria-expanded', 'false');
    options = [];
    activate(-1);
  }

  /** Moves from the field through all options and back to the field. */
  const step = (by) => activate((active + 1 + by + options.length + 1) % (options.length + 1) - 1);

  input.addEventListener('keydown', (event) => {
    if (event.isComposing || list.hidden || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.key === 'ArrowDown') step(1);
    else if (event.key === 'ArrowUp') step(-1);
    else if (event.key === 'Escape') close();
    else if (event.key === 'Enter' && active >= 0) location.assign(options[active].dataset.href);
    else return;
    event.preventDefault();
  });
  input.addEventListener('blur', close);
  // Keeps the focus in the field when the list is pressed, as the press may be the start of a scroll.
  list.addEventListener('mousedown', (event) => event.preventDefault());
  list.addEventListener('click', (event) => {
    const option = event.target.closest('[role="option"]');
    if (option) location.assign(option.dataset.href);
  });
  return { update, close };
}

const suggestions = input ? combobox(document.getElementById('suggestions')) : null;

// Searching a published copy, if whoever published it has run Pagefind

let engine = null;

/** How many results are shown. */
const SHOWN = 10;

/** The pages that a query finds, as options, or one that says there are none. */
async function search(q) {
  const { results } = await engine.search(q);
  const pages = await Promise.all(results.slice(0, SHOWN).map((result) => result.data()));
  const option = (...texts) => {
    const row = document.createElement('div');
    row.setAttribute('role', 'option');
    row.append(...texts.map((text) => Object.assign(document.createElement('bdi'), { textContent: text })));
    return row;
  };
  if (pages.length === 0) {
    const none = option(`${input.form.dataset.nothing} ${q}`);
    none.setAttribute('aria-disabled', 'true');
    return [none];
  }
  return pages.map(({ url, meta }) => {
    const row = option(meta.title);
    row.dataset.href = url;
    return row;
  });
}

async function startSearch() {
  engine = await import(pagefind);
  // The content security policy allows no worker.
  await engine.options({ baseUrl: `${apiBase}/`, noWorker: true });
  await engine.init();
  input.form.querySelector('p').hidden = true;
  for (const part of input.form.querySelectorAll('input, button')) part.hidden = false;
}

if (pagefind) {
  input.form.addEventListener('submit', (event) => {
    event.preventDefault();
    suggestions.update(input.value.trim());
  });
  startSearch().catch(() => { engine = null; });
}

if (input) {
  let timer = 0;
  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      suggestions.update(input.value.trim());
      if (explore() && !document.getElementById('narrow')) show(target(input.form), { typing: true });
    }, PAUSE_MS);
  });
  input.form.addEventListener('submit', () => clearTimeout(timer));
}

// Keyboard: `/` focuses the search box, arrow keys move through the rows.

document.addEventListener('keydown', (event) => {
  const isWriting = event.target.matches?.('input:not([type=checkbox], [type=radio]), textarea, select');
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const rows = [...document.querySelectorAll('[data-row]')];
  const at = rows.indexOf(document.activeElement);
  if (event.key === '/' && input && !isWriting) {
    input.focus();
    input.select();
  } else if (event.key === 'ArrowDown' && (event.target === input || at >= 0) && rows[at + 1]) {
    rows[at + 1].focus();
  } else if (event.key === 'ArrowUp' && at >= 0) {
    (rows[at - 1] ?? input)?.focus();
  } else return;
  event.preventDefault();
});

// A definition that covers the text can be dismissed while the pointer or the focus is on its term.

document.addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape') return;
  for (const term of document.querySelectorAll('.term:is(:hover, :focus-within)')) {
    const definition = term.querySelector('.about-term');
    definition.hidden = true;
    for (const away of ['pointerleave', 'focusout']) term.addEventListener(away, () => { definition.hidden = false; }, { once: true });
  }
});

// Copying

function copyButtons(root) {
  for (const host of root.querySelectorAll('[data-host]')) host.textContent = location.origin + apiBase;
  for (const code of root.querySelectorAll('pre > code')) {
    if (code.closest('.code')) continue;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    // The surrounding text may be in another language.
    button.lang = document.documentElement.lang;
    button.textContent = copy;
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(code.textContent.trimEnd());
        button.textContent = copied;
      } catch {
        // Copying fails without permission, or over plain HTTP from another machine. Select the text, so Ctrl+C is enough.
        getSelection().selectAllChildren(code);
        button.textContent = pressCopy;
      }
      setTimeout(() => { button.textContent = copy; }, 2000);
    });
    const frame = document.createElement('div');
    frame.className = 'code';
    code.parentElement.before(frame);
    frame.append(code.parentElement, button);
    if (code.parentElement.scrollWidth > code.parentElement.clientWidth) code.parentElement.tabIndex = 0;
  }
}

/** Remembers whether a developer wants to see API requests. */
function rememberCall() {
  const call = document.getElementById('api-request');
  if (!call) return;
  call.open = localStorage.getItem('api-request') === 'open';
  call.addEventListener('toggle', () => localStorage.setItem('api-request', call.open ? 'open' : ''));
}

copyButtons(document);
rememberCall();

// Theme: cycles through system, light and dark.

const theme = document.getElementById('theme');
const showTheme = () => {
  const { label, ...names } = theme.dataset;
  theme.textContent = `${label} ${names[document.documentElement.dataset.theme ?? 'system']}`;
};
showTheme();
theme.addEventListener('click', () => {
  const next = { undefined: 'light', light: 'dark', dark: undefined }[document.documentElement.dataset.theme];
  if (next) {
    document.documentElement.dataset.theme = next;
    localStorage.setItem('theme', next);
  } else {
    delete document.documentElement.dataset.theme;
    localStorage.removeItem('theme');
  }
  showTheme();
});

// Printouts say where they come from.
addEventListener('beforeprint', () => {
  document.getElementById('printed').textContent = `${location.href} · ${new Date().toLocaleDateString(document.documentElement.lang)}`;
});
