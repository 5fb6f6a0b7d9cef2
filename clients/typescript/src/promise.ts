// The operations' return type: a promise of the result that can also return the raw response.

import { invalidResponse, type Read } from "./answer.js";
import { withBody } from "./body.js";
import type { Answer, Opened, Request, Transport } from "./request.js";
import type { RequestOptions } from "./settings.js";

/** A result and the response that it came in. */
export interface WithResponse<Result> {
  data: Result;
  /** The response. Its body has already been read. */
  response: Response;
  /** The request's id on the server. */
  request_id: string;
}

/** A promise of a result. The request is sent once, at the end of the current turn, whether it's awaited or not. */
export class ApiPromise<Result> implements Promise<Result> {
  readonly [Symbol.toStringTag] = "ApiPromise";
  readonly #transport: Transport;
  readonly #request: Request;
  readonly #read: Read<Result>;
  readonly #options: RequestOptions | undefined;
  #answer: Promise<Answer<Result>> | undefined;
  #opened: Promise<Opened> | undefined;

  constructor(transport: Transport, request: Request, read: Read<Result>, options?: RequestOptions) {
    this.#transport = transport;
    this.#request = request;
    this.#read = read;
    this.#options = options;
    // Runs after the current statement, so that `.asResponse()` can be called first.
    queueMicrotask(() => {
      if (!this.#opened) void this.#settle();
    });
  }

  /** The result together with the response: status, headers, request id. */
  async withResponse(): Promise<WithResponse<Result>> {
    const { result, response, request_id } = await this.#settle();
    return { data: result, response, request_id };
  }

  /** The raw response with its body unread, for streaming. Errors are thrown and retried as usual; the timeout bounds the
   * wait for the headers and then for each chunk of the body. Call it directly on the operation. Later, or after `await`, the
   * body has already been read, and the response is a copy with its body in memory. */
  async asResponse(): Promise<Response> {
    if (this.#answer && !this.#opened) {
      const { response, body } = await this.#answer;
      return withBody(response, body);
    }
    this.#opened ??= this.#transport.open(this.#request, this.#options);
    return (await this.#opened).response;
  }

  then<A = Result, B = never>(
    fulfilled?: ((result: Result) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#settle()
      .then(({ result }) => result)
      .then(fulfilled, rejected);
  }

  catch<B = never>(rejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<Result | B> {
    return this.then(undefined, rejected);
  }

  finally(always?: (() => void) | null): Promise<Result> {
    return this.then().finally(always);
  }

  #settle(): Promise<Answer<Result>> {
    this.#answer ??= this.#opened
      ? this.#readOpened(this.#opened)
      : this.#transport.send(this.#request, this.#read, this.#options);
    return this.#answer;
  }

  /** Reads a raw response through a clone, so its own body stays unread. Fails if that body has already been read. */
  async #readOpened(opened: Promise<Opened>): Promise<Answer<Result>> {
    const { response, request_id } = await opened;
    const body = new Uint8Array(await response.clone().arrayBuffer());
    const result = this.#read(body, response, request_id);
    if (result === undefined) throw invalidResponse(response, request_id, this.#transport.redact, body);
    return { result, response, body, request_id };
  }
}
