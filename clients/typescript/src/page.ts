// Lists: a page is what the server answers, and knows how to get the next one.

import { type ListBody, readList } from "./answer.js";
import { ApiPromise } from "./promise.js";
import type { Request, Transport } from "./request.js";
import type { RequestOptions } from "./settings.js";

/** What a page can do beside what it holds. */
export interface Paging<Body extends ListBody> extends AsyncIterable<Body["data"][number]> {
  /** Is there anything after this page? */
  hasNextPage(): boolean;
  /** The next page, or undefined after the last one. */
  getNextPage(): Promise<Page<Body> | undefined>;
  /** This page and all that follow. */
  pages(): AsyncGenerator<Page<Body>, void, undefined>;
}

/** A page: `data`, `pagination` and what else the server sent. Iterating over it gives its items and those of all pages
 * after it, which are asked for as they are needed. */
export type Page<Body extends ListBody> = Body & Paging<Body>;

/** The promise of a page. `for await` over it, without awaiting it first, gives all items of all pages. */
export class PagePromise<Body extends ListBody>
  extends ApiPromise<Page<Body>>
  implements AsyncIterable<Body["data"][number]>
{
  /** All pages from the one asked for. */
  async *pages(): AsyncGenerator<Page<Body>, void, undefined> {
    yield* (await this).pages();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Body["data"][number], void, undefined> {
    yield* await this;
  }
}

type Next<Body extends ListBody> = (offset: number) => PagePromise<Body>;

class LoadedPage<Body extends ListBody> implements Paging<Body> {
  declare data: Body["data"];
  declare pagination: Body["pagination"];
  readonly #next: Next<Body>;

  constructor(body: Body, next: Next<Body>) {
    Object.assign(this, body);
    this.#next = next;
  }

  hasNextPage(): boolean {
    // An empty page is the end even if the total promises more: else a wrong total would never end.
    return this.data.length > 0 && this.#end() < this.pagination.total;
  }

  async getNextPage(): Promise<Page<Body> | undefined> {
    return this.hasNextPage() ? this.#next(this.#end()) : undefined;
  }

  async *pages(): AsyncGenerator<Page<Body>, void, undefined> {
    for (let page: Page<Body> | undefined = this as unknown as Page<Body>; page; page = await page.getNextPage())
      yield page;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Body["data"][number], void, undefined> {
    for await (const { data } of this.pages()) for (const item of data) yield item as Body["data"][number];
  }

  /** The offset behind the last item, by what came and not by what was asked for. */
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
  const next: Next<Body> = (offset) =>
    pagePromise(transport, { ...request, query: { ...request.query, offset } }, options);
  return new PagePromise<Body>(
    transport,
    request,
    (bytes) => {
      const body = readList<Body>(bytes);
      return body && (new LoadedPage(body, next) as unknown as Page<Body>);
    },
    options,
  );
}
