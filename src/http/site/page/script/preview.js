// A preview: says in the banner what the server says of the candidate, and loads the page again when that has changed.

import { get, KeyNeeded, Problem } from './api.js';
import { base } from './dom.js';
import * as key from './key.js';
import { notice } from './part/notice.js';

/** Milliseconds from an answer to the next question: while the server answers, and while it doesn't. */
const EVERY = 1000;
const AWAY = 5000;

const banner = document.querySelector('.preview-banner');
const line = document.getElementById('preview-line');
const report = document.getElementById('preview-report');

/** The version that is shown; null before the first answer, empty where it was in the making. */
let version = null;
/** The key that the report was refused with. */
let refused;

async function poll() {
  let wait = EVERY;
  try {
    const status = await get('/preview/status');
    banner.toggleAttribute('data-problem', status.has_problem);
    say(status.message);
    if (version === null) {
      version = status.is_busy ? '' : status.version;
      if (report && !status.is_busy) await showReport();
    } else if (!status.is_busy && status.version !== version) {
      return reload();
    }
  } catch (error) {
    const isKey = error instanceof KeyNeeded || error.status === 401;
    say(isKey ? 'Open the link that the command printed: it has the key.' : 'The preview has ended, or its server is away.');
    if (isKey && report && refused !== key.current()) {
      refused = key.current();
      report.replaceChildren(notice(error, () => { refused = undefined; poll(); }, new AbortController().signal));
    }
    if (!isKey) wait = AWAY;
  }
  setTimeout(next, wait);
}

/** A page in the background asks nothing. */
function next() {
  if (document.hidden) document.addEventListener('visibilitychange', next, { once: true });
  else poll();
}

/** Says a text once: the line is a live region. */
function say(text) {
  if (line.textContent !== text) line.textContent = text;
}

function reload() {
  history.replaceState({ ...history.state, scroll: scrollY }, '');
  location.reload();
}

/** Shows the report, whose markup the server has escaped. The browser parses it as a document of its own, which runs nothing. */
async function showReport() {
  const { body } = await load('/preview/report');
  report.replaceChildren(...[...body.childNodes].map((node) => document.importNode(node, true)));
  history.scrollRestoration = 'manual';
  scrollTo(0, history.state?.scroll ?? 0);
}

function load(path) {
  return new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    request.open('GET', base + path);
    request.setRequestHeader('Authorization', `Bearer ${key.current()}`);
    request.responseType = 'document';
    request.onload = () => (request.status === 200 ? done(request.response) : fail(new Problem(request.status)));
    request.onerror = () => fail(new TypeError('The server can’t be reached.'));
    request.send();
  });
}

key.takeFromAddress();
poll();
