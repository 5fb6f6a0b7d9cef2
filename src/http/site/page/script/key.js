// The API key: from the address's fragment or typed in, kept for this tab's session and nowhere else.

const STORED = 'software-directory.key';

/** Whether the API needs a key from this page too; a public page goes without. */
export const required = document.querySelector('meta[name="directory-key"]')?.content !== 'optional';

/** Takes `#key=…` out of the address, so that it is in no bookmark, history entry or screenshot. */
export function takeFromAddress() {
  const match = /^#key=([^&]+)/.exec(location.hash);
  if (!match) return;
  history.replaceState(history.state, '', location.pathname + location.search);
  try {
    keep(decodeURIComponent(match[1]));
  } catch {
    keep(match[1]);
  }
}

/** The key, or null. */
export function current() {
  return sessionStorage.getItem(STORED);
}

export function keep(key) {
  sessionStorage.setItem(STORED, key.trim());
}

export function forget() {
  sessionStorage.removeItem(STORED);
}
