// A preview: says in the banner what the server says of the candidate, and loads the page again when that has changed.

/** Milliseconds from an answer to the next question: while the server answers, and while it doesn't. */
const EVERY = 1000;
const AWAY = 5000;

const base = document.body.dataset.base;
const banner = document.querySelector('.preview-banner');
const line = document.getElementById('preview-line');

/** The version that is shown; empty if the next one was in the making. */
let version = null;

async function poll() {
  let wait = EVERY;
  try {
    const response = await fetch(`${base}/preview/status`);
    if (response.status === 401) say(banner.dataset.signedOut);
    else {
      const status = await response.json();
      banner.toggleAttribute('data-problem', status.has_problem);
      say(status.message, 'en');
      if (version === null) version = status.is_busy ? '' : status.version;
      else if (!status.is_busy && status.version !== version) return location.reload();
    }
  } catch {
    say(banner.dataset.away);
    wait = AWAY;
  }
  setTimeout(next, wait);
}

/** A page in the background asks nothing. */
function next() {
  if (document.hidden) document.addEventListener('visibilitychange', next, { once: true });
  else poll();
}

/** Says a text once: the line is a live region. The server writes messages in English. */
function say(text, lang = document.documentElement.lang) {
  line.lang = lang;
  if (line.textContent !== text) line.textContent = text;
}

poll();
