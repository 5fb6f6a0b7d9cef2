// "This call": what the view asked of the API, for the command line and for both clients, ready to copy.

import { address } from '../api.js';
import { base, h, icon } from '../dom.js';
import * as key from '../key.js';
import { tell } from './status.js';

const LANGUAGES = [
  ['curl', 'curl', curl],
  ['typescript', 'TypeScript', typescript],
  ['python', 'Python', python],
];
const CHOSEN = 'software-directory.language';
const OPEN = 'software-directory.call';
const NAME_OF_KEY = 'SOFTWARE_DIRECTORY_API_KEY';

/**
 * The panel. A call is `{ path, params, client, argument }`: what it asks of the API, and the client's method for it
 * with the argument that comes before the parameters, if any.
 */
export function callPanel() {
  let calls = [];
  let chosen = sessionStorage.getItem(CHOSEN) ?? 'curl';
  const code = h('code');
  const tabs = LANGUAGES.map(([name, label]) =>
    h('button', { type: 'button', role: 'tab', id: `call-${name}`, 'aria-controls': 'call-code', click: () => choose(name) }, label));
  const withKey = h('input', { type: 'checkbox', change: show });
  const choice = h('label', { class: 'with-key' }, withKey, 'with my key');
  const copy = h('button', { type: 'button', class: 'button small', click: copyIt }, icon('copy'), h('span', null, 'Copy'));
  const list = h('div', { role: 'tablist', 'aria-label': 'Language', class: 'tabs', keydown: move }, tabs);
  const panel = h('div', { role: 'tabpanel', id: 'call-code', tabindex: '0' }, h('pre', null, code));
  const element = h('details', { class: 'call', toggle: () => sessionStorage.setItem(OPEN, element.open ? 'yes' : '') },
    h('summary', null, icon('code'), 'This call'),
    h('div', { class: 'call-body' },
      h('div', { class: 'call-bar' }, list, choice, copy), panel));
  element.open = sessionStorage.getItem(OPEN) === 'yes';

  function choose(name) {
    chosen = name;
    sessionStorage.setItem(CHOSEN, name);
    show();
  }

  function move(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = (tabs.findIndex((tab) => tab.id === `call-${chosen}`) + step + tabs.length) % tabs.length;
    choose(LANGUAGES[next][0]);
    tabs[next].focus();
  }

  function show() {
    for (const tab of tabs) {
      const selected = tab.id === `call-${chosen}`;
      tab.setAttribute('aria-selected', String(selected));
      tab.tabIndex = selected ? 0 : -1;
    }
    panel.setAttribute('aria-labelledby', `call-${chosen}`);
    choice.hidden = key.current() === null;
    const write = LANGUAGES.find(([name]) => name === chosen)?.[2] ?? curl;
    code.textContent = write(calls, withKey.checked ? key.current() : null);
  }

  async function copyIt() {
    try {
      await navigator.clipboard.writeText(code.textContent);
      tell('Copied.');
      copy.lastChild.textContent = 'Copied';
    } catch {
      // Without permission, or over plain HTTP on another machine: select it, one key stroke is left.
      getSelection().selectAllChildren(code);
      copy.lastChild.textContent = 'Press Ctrl+C';
    }
    setTimeout(() => { copy.lastChild.textContent = 'Copy'; }, 2000);
  }

  return {
    element,
    update(next) {
      calls = next;
      show();
    },
  };
}

const here = () => location.origin + base;

function curl(calls, secret) {
  const bearer = secret ? `'Authorization: Bearer ${quoted(secret)}'` : `"Authorization: Bearer $${NAME_OF_KEY}"`;
  return calls.map(({ path, params }) => `curl -H ${bearer} \\\n  '${quoted(here() + address(path, params))}'`).join('\n\n');
}

/** For single quotes of a shell. */
const quoted = (text) => text.replaceAll("'", "'\\''");

function typescript(calls, secret) {
  const apiKey = secret ? JSON.stringify(secret) : `process.env.${NAME_OF_KEY}!`;
  return [
    'import { SoftwareDirectory } from "software-directory";',
    '',
    `const client = new SoftwareDirectory({ apiKey: ${apiKey}, baseUrl: ${JSON.stringify(here())} });`,
    ...calls.map(({ client, argument, params }, at) => {
      const fields = given(params).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
      const inside = [argument === undefined ? null : JSON.stringify(argument), fields.length ? `{ ${fields.join(', ')} }` : null];
      return `const ${nameOf(client, at)} = await client.${client}(${inside.filter(Boolean).join(', ')});`;
    }),
  ].join('\n');
}

function python(calls, secret) {
  const apiKey = secret ? JSON.stringify(secret) : `os.environ["${NAME_OF_KEY}"]`;
  return [
    ...(secret ? [] : ['import os', '']),
    'from software_directory import SoftwareDirectory',
    '',
    `client = SoftwareDirectory(api_key=${apiKey}, base_url=${JSON.stringify(here())})`,
    ...calls.map(({ client, argument, params }, at) => {
      const fields = given(params).map(([name, value]) => `${name}=${literal(value)}`);
      const inside = [argument === undefined ? null : literal(argument), ...fields];
      return `${nameOf(client, at)} = client.${client}(${inside.filter(Boolean).join(', ')})`;
    }),
  ].join('\n');
}

function given(params = {}) {
  const kept = Object.entries(params).filter(([, value]) => value !== null && value !== undefined && value !== '');
  return kept.filter(([, value]) => !Array.isArray(value) || value.length > 0).map(([name, value]) => [name, typed(name, value)]);
}

/** Parameters of the address are text; in a program they have types. */
function typed(name, value) {
  if (['limit', 'offset', 'min_rating'].includes(name)) return Number(value);
  if (['highlight', 'typo'].includes(name)) return String(value) === 'true';
  return Array.isArray(value) && value.length === 1 ? value[0] : value;
}

function literal(value) {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  // Python reads numbers and strings as JSON writes them.
  return JSON.stringify(value);
}

function nameOf(client, at) {
  const [resource, method] = client.split('.');
  if (at === 0) return 'answer';
  return method === 'list' ? resource : method;
}
