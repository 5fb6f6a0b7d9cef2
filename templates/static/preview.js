// A preview: shows the candidate's status in the banner, and reloads the page when the candidate has changed.

/** Milliseconds between polls: while the server responds, and while it doesn't. */
const EVERY = 1000;
const AWAY = 5000;

const base = document.body.dataset.base;
const banner = document.querySelector('.preview-banner');
const line = document.getElementById('preview-line');

/** The version being shown; empty if the next one was already being prepared. */
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

/** A page in the background doesn't poll. */
function next() {
  if (document.hidden) document.addEventListener('visibilitychange', next, { once: true });
  else poll();
}

/** Announces text once, since the line is a live region. The server's messages are in English. */
function say(text, lang = document.documentElement.lang) {
  line.lang = lang;
  if (line.textContent !== text) line.textContent = text;
}

poll();
