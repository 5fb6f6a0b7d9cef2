// The notice in place of a response: the failure in plain words, and the remedy.

import { KeyNeeded, Problem, Unreachable } from '../api.js';
import { base, h, say } from '../dom.js';
import * as key from '../key.js';
import { tell } from './status.js';

/** Seconds between attempts while the server is away. */
const AWAY_SECONDS = 5;

/** The notice for an error. `retry` tries again; what the notice waits for ends with `signal`. */
export function notice(error, retry, signal) {
  const element = made(error, retry, signal);
  // A view that shows nothing but this has no other title.
  if (!document.querySelector('main .toolbar h1')) {
    const title = element.querySelector('h2');
    title.replaceWith(h('h1', { tabindex: '-1' }, ...title.childNodes));
  }
  return element;
}

function made(error, retry, signal) {
  if (error instanceof KeyNeeded) return askForKey(null, retry);
  if (error instanceof Unreachable) {
    return waiting('The server is away', 'No answer came from the directory. It may be restarting, or the network is down.', AWAY_SECONDS, retry, signal);
  }
  if (!(error instanceof Problem)) {
    return panel('This page has a fault', ['It could not show what the server answered: ', h('code', null, say(error.message))], [button('Try again', retry)]);
  }
  if (error.status === 401) return askForKey(error, retry);
  if (error.retryAfterSeconds) return waiting(error.title, error.message, error.retryAfterSeconds, retry, signal, error);
  const ways = error.status === 404
    ? [h('a', { class: 'button', href: `${base}/` }, 'All products')]
    : [button('Try again', retry), h('a', { class: 'button quiet-button', href: `${base}/` }, 'Start again')];
  return panel(error.title, [say(error.message)], ways, error);
}

function panel(title, text, ways, error) {
  tell(title);
  return h('section', { class: 'notice' },
    h('h2', null, title), h('p', null, text), ways.length ? h('p', { class: 'ways' }, ways) : null,
    error ? h('p', { class: 'small quiet' }, 'Code ',
      h('a', { href: `${base}/docs/errors#${encodeURIComponent(error.code)}` , 'data-plain': true }, h('code', null, error.code)),
      error.requestId ? [' · request ', h('code', null, error.requestId)] : null) : null);
}

/** Counts the seconds down, then tries again by itself. */
function waiting(title, text, seconds, retry, signal, error) {
  const left = h('b', { class: 'countdown' });
  const ends = performance.now() + seconds * 1000;
  const show = () => {
    const rest = Math.max(0, Math.ceil((ends - performance.now()) / 1000));
    left.textContent = `${rest} s`;
    if (rest === 0) again();
  };
  const timer = setInterval(show, 250);
  const again = () => {
    clearInterval(timer);
    retry();
  };
  signal.addEventListener('abort', () => clearInterval(timer));
  show();
  const element = panel(title, [say(text)], [button('Try now', again)], error);
  element.querySelector('.ways').before(h('p', { 'aria-hidden': 'true' }, 'Trying again in ', left, '.'));
  tell(`${title}. Trying again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`);
  return element;
}

function button(label, action) {
  return h('button', { type: 'button', class: 'button', click: action }, label);
}

/** Asks for a key, and says what is wrong with the one there was. */
function askForKey(error, retry) {
  const input = h('input', {
    id: 'key', type: 'password', autocomplete: 'off', spellcheck: 'false', required: true, placeholder: 'sd_live_…',
    'aria-describedby': error ? 'key-error key-hint' : 'key-hint', 'aria-invalid': error ? 'true' : null,
  });
  const submit = (event) => {
    event.preventDefault();
    if (!input.value.trim()) return;
    key.keep(input.value);
    retry();
  };
  const without = () => {
    key.forget();
    retry();
  };
  tell(error ? error.title : 'An API key is needed.');
  return h('section', { class: 'notice key' },
    h('h2', null, error ? error.title : 'An API key, please'),
    error ? h('p', { class: 'wrong', id: 'key-error' }, say(error.message)) : h('p', null, 'This page calls the public API, as any caller does, with a key.'),
    h('form', { submit }, h('label', { for: 'key' }, 'API key'), h('div', { class: 'key-line' }, input, h('button', { class: 'button', type: 'submit' }, 'Explore'))),
    key.required || key.current() === null ? null : h('p', { class: 'ways' }, button('Go on without a key', without)),
    h('p', { class: 'small quiet', id: 'key-hint' }, 'It is kept for this tab only, until you close it. The operator makes keys with ',
      h('code', null, 'software-directory keys create'), '; a server on your own machine prints a link with a key as it starts.'));
}
