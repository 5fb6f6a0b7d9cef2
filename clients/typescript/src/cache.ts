// A cache of bodies by URL. An entry is served only after a 304, however fresh it is.

import { type Bytes, withBody } from "./body.js";

export interface Entry {
  etag: string;
  body: Bytes;
  headers: Headers;
}

/** An LRU cache of bounded size. */
export class Cache {
  readonly #maxBytes: number;
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  /** Inserts the body of a response that has an ETag, as the most recently used entry. */
  put(key: string, body: Bytes, { headers }: Response): void {
    this.#evict(key);
    const etag = headers.get("etag");
    if (!etag || sizeOf(key, body) > this.#maxBytes) return;
    this.#entries.set(key, { etag, body, headers });
    this.#bytes += sizeOf(key, body);
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#evict(oldest);
    }
  }

  #evict(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#bytes -= sizeOf(key, entry.body);
  }
}

/** The response that a 304 confirms: the cached body, with its headers updated from the 304. */
export function revalidated({ body, headers }: Entry, notModified: Response): Response {
  const merged = new Headers(headers);
  notModified.headers.forEach((value, name) => merged.set(name, value));
  return withBody(notModified, body, { status: 200, headers: merged });
}

function sizeOf(key: string, body: Bytes): number {
  // Strings take two bytes per character, and an entry's headers about 500 bytes.
  return body.length + 2 * key.length + 500;
}
