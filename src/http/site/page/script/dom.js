// Elements, built without markup: a string only ever becomes a text node or the value of an attribute.

/** Where the service lives on its host; empty unless it is published under a path. */
export const base = document.querySelector('meta[name="directory-base"]').content;

/** Builds an element. Attributes that are null, undefined or false are left out; functions are listeners. */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (name === 'href') setAddress(element, value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An address of this page, or one that is http or https; anything else is no link at all. */
function setAddress(element, address) {
  const own = address.startsWith('#') || (address.startsWith(`${base}/`) && !address.startsWith('//'));
  if (own) element.setAttribute('href', address);
  else if (webAddress(address)) {
    element.setAttribute('href', webAddress(address).href);
    element.setAttribute('rel', 'external noopener noreferrer nofollow');
  }
}

/** The address as a URL if it is http or https, else null. */
export function webAddress(text) {
  if (typeof text !== 'string' || !/^https?:\/\//i.test(text)) return null;
  try {
    const url = new URL(text);
    return url.protocol === 'http:' || url.protocol === 'https:' ? url : null;
  } catch {
    return null;
  }
}

/** A record's text: isolated, so that its writing direction changes nothing around it. */
export function say(value) {
  return h('bdi', null, String(value));
}

/** A link to where a record points; its plain text where that is not the web. */
export function outside(address, label = address) {
  const shown = say(label);
  if (!webAddress(address)) {
    return h('span', { class: 'no-link' }, shown, label === address ? null : [' ', h('code', null, say(address))]);
  }
  return h('a', { href: address, class: 'outside' }, shown);
}

/** Text for places without isolation, such as the window's title: without controls of the writing direction. */
export function plain(value) {
  return String(value).replace(/[\u0000-\u001f\u007f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '');
}

/** A drawing from the page's small set. */
export function icon(name) {
  const drawing = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  for (const [key, value] of Object.entries({ viewBox: '0 0 16 16', width: 16, height: 16, class: `icon icon-${name}`, 'aria-hidden': 'true' })) {
    drawing.setAttribute(key, value);
  }
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', DRAWINGS[name]);
  drawing.append(path);
  return drawing;
}

const DRAWINGS = {
  star: 'M8 1.6l1.9 4 4.4.6-3.2 3 .8 4.3L8 11.4l-3.9 2.1.8-4.3-3.2-3 4.4-.6z',
  checked: 'M8 1.5a6.5 6.5 0 1 1 0 13a6.5 6.5 0 0 1 0-13zM5 8.2l2.1 2.1L11.2 6',
  pending: 'M8 1.5a6.5 6.5 0 1 1 0 13a6.5 6.5 0 0 1 0-13zM8 4.5V8l2.3 1.6',
  code: 'M5.5 4L1.8 8l3.7 4M10.5 4l3.7 4l-3.7 4',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  filter: 'M2 4h12M4.5 8h7M7 12h2',
};
