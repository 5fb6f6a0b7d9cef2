// Lists: a page is the server's response, with a way to get the next one.

import { heardOf, type ListBody, readList } from "./answer.js";
import type { Bytes } from "./body.js";
import { GenerationChangedError } from "./errors.js";
import { ApiPromise } from "./promise.js";
import type { Request, Transport } from "./request.js";
import type { GenerationChange, RequestOptions } from "./settings.js";

/** A page's methods, in addition to its data. */
export interface Paging<Body extends ListBody> extends AsyncIterable<Body["data"][number]> {
  /** Whether there are items after this page. */
  hasNextPage(): boolean;
  /** The next page, or undefined after the last one. */
  getNextPage(): Promise<Page<Body> | undefined>;
  /** This page and all pages after it. */
  pages(): AsyncGenerator<Page<Body>, void, undefined>;
}

/** A page: `data`, `pagination` and whatever else the server sent. Iterating over it yields its items and those of all
 * pages after it, which are requested as needed. */
export type Page<Body extends ListBody> = Body & Paging<Body>;

/** A promise of a page. `for await` over it, without awaiting it first, yields the items of all pages. */
export class PagePromise<Body extends ListBody>
  extends ApiPromise<Page<Body>>
  implements AsyncIterable<Body["data"][number]>
{
  /** All pages, starting with the requested one. */
  async *pages(): AsyncGenerator<Page<Body>, void, undefined> {
    yield* (await this).pages();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Body["data"][number], void, undefined> {
    yield* await this;
  }
}

/** How many times an iteration over items starts again before it gives up. */
const MAX_RESTARTS = 3;

/** Where a page came from. */
interface Origin<Body extends ListBody> {
  /** The page's generation; null if a proxy dropped the header. */
  generation: string | null;
  onChange: GenerationChange;
  /** Requests the list again, from an offset or else from the start of this page. */
  again(offset?: number): PagePromise<Body>;
  warn(message: string): void;
  /** The error for a page that is from a different generation than the pages before it. */
  changed(): GenerationChangedError;
}

class LoadedPage<Body extends ListBody> implements Paging<Body> {
  declare data: Body["data"];
  declare pagination: Body["pagination"];
  readonly #origin: Origin<Body>;

  constructor(body: Body, origin: Origin<Body>) {
    Object.assign(this, body);
    this.#origin = origin;
  }

  hasNextPage(): boolean {
    // An empty page is the end even if the total promises more; otherwise a wrong total would cause an endless loop.
    return this.data.length > 0 && this.#end() < this.pagination.total;
  }

  async getNextPage(): Promise<Page<Body> | undefined> {
    return this.hasNextPage() ? this.#origin.again(this.#end()) : undefined;
  }

  async *pages(): AsyncGenerator<Page<Body>, void, undefined> {
    let { generation } = this.#origin;
    let page: Page<Body> | undefined = this as unknown as Page<Body>;
    for (; page; page = await page.getNextPage()) {
      const { generation: its, onChange, changed } = (page as unknown as LoadedPage<Body>).#origin;
      if (generation && its && its !== generation && onChange !== "ignore") throw changed();
      generation ??= its;
      yield page;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Body["data"][number], void, undefined> {
    const given = new Set<unknown>();
    let first = this as unknown as Page<Body>;
    for (let restarts = 0; ; restarts += 1) {
      try {
        for await (const { data } of first.pages()) {
          for (const item of data) {
            const id = (item as { id?: unknown } | null)?.id;
            if (restarts > 0 && given.has(id)) continue;
            if (id !== undefined) given.add(id);
            yield item as Body["data"][number];
          }
        }
        return;
      } catch (error) {
        const again = error instanceof GenerationChangedError && this.#origin.onChange === "restart";
        if (!again || restarts === MAX_RESTARTS) throw error;
      }
      this.#origin.warn("The directory changed while a list was being read; starting it again");
      first = await this.#origin.again();
    }
  }

  /** The offset after the last item, counting the items received rather than the limit requested. */
  #end(): number {
    return this.pagination.offset + this.data.length;
  }
}

/** Requests a page of a list. */
export function pagePromise<Body extends ListBody>(
  transport: Transport,
  request: Request,
  options?: RequestOptions,
): PagePromise<Body> {
  const again = (offset?: number): PagePromise<Body> =>
    pagePromise(
      transport,
      request,
      offset === undefined ? options : { ...options, query: { ...options?.query, offset } },
    );
  const read = (bytes: Bytes, response: Response, request_id: string): Page<Body> | undefined => {
    const body = readList<Body>(bytes);
    const changed = () =>
      new GenerationChangedError("The directory changed between two pages", {
        ...heardOf(response, transport.redact),
        status: response.status,
        code: "generation_changed",
        request_id,
      });
    const origin = {
      generation: response.headers.get("x-generation"),
      onChange: transport.generationChange,
      warn: (message: string) => transport.logger?.warn?.(message),
      again,
      changed,
    };
    return body && (new LoadedPage(body, origin) as unknown as Page<Body>);
  };
  return new PagePromise<Body>(transport, request, read, options);
}
