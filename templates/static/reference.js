// The API reference's forms: they call the service with the key that was entered, which isn't stored anywhere.

const { root } = document.body.dataset;
const { sending, unreachable } = document.getElementById('content').dataset;
const ask = document.getElementById('key');
const input = document.getElementById('key-input');
ask.addEventListener('submit', (event) => event.preventDefault());
ask.hidden = false;

/** The address that a form requests. */
function target(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  for (const field of form.querySelectorAll('input')) {
    const value = field.value.trim();
    if (field.dataset.in === 'path') path = path.replace(`{${field.name}}`, encodeURIComponent(value));
    else if ('array' in field.dataset) for (const one of value.split(',').filter(Boolean)) query.append(field.name, one.trim());
    else if (value) query.append(field.name, value);
  }
  return `${root}${path}${query.size ? `?${query}` : ''}`;
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

async function send(form) {
  const [status, frame, output] = ['[role=status]', 'pre', 'output'].map((place) => form.querySelector(place));
  // On a public page, requests don't need a key, but they do need the `Referer` header.
  const key = input.value.trim();
  const options = key ? { headers: { authorization: `Bearer ${key.replace(/[^\x21-\x7e]/g, '?')}` } } : { referrerPolicy: 'origin' };
  const address = target(form);
  status.lang = document.documentElement.lang;
  status.textContent = sending;
  try {
    const response = await fetch(address, options);
    const text = await response.text();
    status.textContent = `${response.status} · ${address}`;
    output.textContent = pretty(text);
  } catch {
    status.textContent = unreachable;
    output.textContent = '';
  }
  frame.hidden = output.textContent === '';
}

for (const form of document.querySelectorAll('form.try')) {
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send(form);
  });
}

/** Opens the operation named in the address; not all browsers do that themselves. */
function reveal() {
  const place = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!place) return;
  for (let details = place.closest('details'); details; details = details.parentElement.closest('details')) details.open = true;
  place.scrollIntoView();
}
addEventListener('hashchange', reveal);
reveal();
