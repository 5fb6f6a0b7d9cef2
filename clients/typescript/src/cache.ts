// A cache of bodies by URL. An entry isn't served by its age but only after a 304.

import { type Bytes, withBody } from "./body.js";

export interface Entry {
  etag: string;
  body: Bytes;
  headers: Headers;
}

/** A cache of bounded size; the least recently used entries are evicted. */
export class Cache {
  readonly #maxBytes: number;
  /** In the order of use, the least recent first. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  /** Inserts the body of a response that has a tag, as the most recently used entry. */
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

/** The response that a 304 stands for: the cached one, with the headers of the 304 in place of its own. */
export function revalidated({ body, headers }: Entry, notModified: Response): Response {
  const merged = new Headers(headers);
  notModified.headers.forEach((value, name) => merged.set(name, value));
  return withBody(notModified, body, { status: 200, headers: merged });
}

function sizeOf(key: string, body: Bytes): number {
  // Texts take two bytes a character, and an entry's headers about 500 bytes.
  return body.length + 2 * key.length + 500;
}
