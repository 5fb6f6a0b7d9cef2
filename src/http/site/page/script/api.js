// The public API, called like any other caller does.

import { base } from './dom.js';
import * as key from './key.js';

/** What the API answered instead: a problem document (RFC 9457). */
export class Problem extends Error {
  constructor(status, body, retryAfterSeconds) {
    super(body?.detail ?? `The server answered ${status}.`);
    this.status = status;
    this.code = body?.code ?? 'unknown';
    this.title = body?.title ?? `Status ${status}`;
    this.requestId = body?.request_id ?? null;
    this.retryAfterSeconds = body?.retry_after_seconds ?? retryAfterSeconds;
  }
}

/** No answer came: the server is away, or the network. */
export class Unreachable extends Error {}

/** There is no key to call with. */
export class KeyNeeded extends Error {}

/** `path?name=value…`; lists repeat their name, and what is empty or null is left out. */
export function address(path, params = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const one of [value].flat()) {
      if (one !== null && one !== undefined && one !== '') query.append(name, one);
    }
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

/** Calls the API and answers the response, which is a good one. */
export async function send(path, params, signal) {
  const bearer = key.current();
  if (!bearer && key.required) throw new KeyNeeded();
  let response;
  try {
    response = await fetch(base + address(path, params), { ...(bearer ? withKey(bearer) : ANONYMOUS), signal });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Unreachable('The server can’t be reached.', { cause: error });
  }
  if (response.ok) return response;
  const body = await response.json().catch(() => null);
  throw new Problem(response.status, body, Number(response.headers.get('Retry-After')) || undefined);
}

/** Without a key the server goes by where the request comes from, which over plain HTTP only `Referer` says. */
const ANONYMOUS = { referrerPolicy: 'origin' };

function withKey(bearer) {
  // A header value can't carry just any character; a key that has one is wrong, and the server says so.
  return { headers: { Authorization: `Bearer ${bearer.replace(/[^\x21-\x7e]/g, '?')}` } };
}

/** Calls the API and answers its JSON. */
export async function get(path, params, signal) {
  return JSON.parse(await text(path, params, signal));
}

/** Calls the API and answers its JSON, numbers that JavaScript can't hold as `ExactNumber`. */
export async function getExact(path, params, signal) {
  return JSON.parse(await text(path, params, signal), (_, value, context) =>
    typeof value === 'number' && context?.source && !holds(value, context.source) ? new ExactNumber(context.source) : value);
}

async function text(path, params, signal) {
  const response = await send(path, params, signal);
  try {
    return await response.text();
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Unreachable('The server went away while it answered.', { cause: error });
  }
}

/** A number as it is written. */
export class ExactNumber {
  constructor(source) {
    this.source = source;
  }

  toString() {
    return this.source;
  }
}

function holds(value, source) {
  return String(value) === source;
}

/** All items of a list, page after page, but at most `most`. */
export async function all(path, most, signal) {
  const items = [];
  for (;;) {
    const { data, pagination } = await get(path, { limit: 100, offset: items.length || null }, signal);
    items.push(...data);
    if (data.length === 0 || items.length >= Math.min(pagination.total, most)) return { items, total: pagination.total };
  }
}
