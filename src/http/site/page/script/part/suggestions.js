// Suggestions below the search box: products, categories and glossary terms, as an ARIA combobox with a grouped listbox.

import { get } from '../api.js';
import { h, say } from '../dom.js';
import { ofGlossary, ofSoftware } from '../route.js';
import { countFormat, counted } from './rating.js';

/** The most suggestions of each kind, so that the results below stay in sight. */
const LIMIT = 4;

/** The suggestions of a field. `ofCategory` gives the address of a category's products, `open` goes to an address. */
export function suggestions(input, { ofCategory, open }) {
  const list = document.getElementById('suggestions');
  const status = document.getElementById('suggested');
  /** All options in order, each `{ address, element }`. */
  let options = [];
  let active = -1;
  let loading = new AbortController();

  /** Shows the suggestions for a text, and nothing if there are none or no answer comes. */
  async function update(q) {
    loading.abort();
    if (!q || document.activeElement !== input) return close();
    loading = new AbortController();
    const { signal } = loading;
    const data = await get('/v1/suggest', { q, limit: LIMIT }, signal).then((answer) => answer.data, () => null);
    if (!signal.aborted) show(data ?? { software: [], categories: [], glossary: [] });
  }

  function show({ software, categories, glossary }) {
    const before = options[active]?.address;
    options = [];
    const groups = [
      group('Products', software, ({ id, name }) => option(ofSoftware(id), say(name))),
      group('Categories', categories, ({ id, name, software_count: count }) => option(ofCategory(id), say(name),
        h('span', { class: 'count' }, countFormat.format(count), h('span', { class: 'hidden' }, count === 1 ? ' product' : ' products')))),
      group('Terms', glossary, ({ term }) => option(ofGlossary({ q: term }), say(term))),
    ];
    if (options.length === 0) return close();
    list.replaceChildren(...groups.filter(Boolean));
    list.hidden = false;
    input.setAttribute('aria-expanded', 'true');
    status.textContent = `${counted(options.length, 'suggestion', 'suggestions')}, reached with the arrow keys.`;
    // An option that is still there stays the active one.
    activate(options.findIndex(({ address }) => address === before));
  }

  function group(label, items, toOption) {
    if (items.length === 0) return null;
    const id = `suggested-${label.toLowerCase()}`;
    return h('div', { role: 'group', 'aria-labelledby': id }, h('div', { role: 'presentation', class: 'group-label', id }, label), items.map(toOption));
  }

  function option(address, ...content) {
    const element = h('div', { role: 'option', id: `suggestion-${options.length}`, click: () => choose(address) }, content);
    options.push({ address, element });
    return element;
  }

  function activate(index) {
    active = index;
    options.forEach(({ element }, at) => element.setAttribute('aria-selected', String(at === active)));
    if (active < 0) input.removeAttribute('aria-activedescendant');
    else {
      input.setAttribute('aria-activedescendant', options[active].element.id);
      options[active].element.scrollIntoView({ block: 'nearest' });
    }
  }

  function choose(address) {
    close();
    input.blur();
    open(address);
  }

  function close() {
    loading.abort();
    list.hidden = true;
    list.replaceChildren();
    input.setAttribute('aria-expanded', 'false');
    status.textContent = '';
    options = [];
    activate(-1);
  }

  /** From the field through all options and back to it. */
  const step = (by) => activate((active + 1 + by + options.length + 1) % (options.length + 1) - 1);

  input.addEventListener('keydown', (event) => {
    if (event.isComposing || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (list.hidden) {
      if (event.key !== 'Escape' || !input.value) return;
      input.value = '';
      input.dispatchEvent(new Event('input'));
    } else if (event.key === 'ArrowDown') step(1);
    else if (event.key === 'ArrowUp') step(-1);
    else if (event.key === 'Escape') close();
    else if (event.key === 'Enter' && active >= 0) choose(options[active].address);
    else return;
    event.preventDefault();
  });
  input.addEventListener('blur', close);
  // A press on the list leaves the focus in the field; it may also be the start of scrolling.
  list.addEventListener('mousedown', (event) => event.preventDefault());

  return { update, close };
}
