// The return type of the operations: a promise of the result that can also give the raw response.

import type { Read } from "./answer.js";
import type { Answer } from "./request.js";

/** A result with the response that it came in. */
export interface WithResponse<Result> {
  data: Result;
  /** The response, its body read already. */
  response: Response;
  /** The id under which the server knows the request. */
  request_id: string;
}

/** Sends the request and reads its answer. */
export type Start = <Result>(read: Read<Result>) => Promise<Answer<Result>>;

/** The promise of a result. The request is sent at once, whether it is awaited or not. */
export class ApiPromise<Result> implements Promise<Result> {
  readonly [Symbol.toStringTag] = "ApiPromise";
  readonly #start: Start;
  readonly #read: Read<Result>;
  #answer: Promise<Answer<Result>> | undefined;
  #raw = false;

  constructor(start: Start, read: Read<Result>) {
    this.#start = start;
    this.#read = read;
    // After the current statement, so that `.asResponse()` behind the call comes first.
    queueMicrotask(() => {
      if (!this.#raw) void this.#settle();
    });
  }

  /** The result together with the response: status, headers, request id. */
  async withResponse(): Promise<WithResponse<Result>> {
    const { result, response, request_id } = await this.#settle();
    return { data: result, response, request_id };
  }

  /** The response as it comes, its body not yet read: for streaming. Errors are thrown and retried as ever; the timeout
   * covers the headers only. To be called directly on the operation, else the request is sent a second time. */
  async asResponse(): Promise<Response> {
    this.#raw = true;
    return (await this.#start(async (response) => response)).result;
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
    this.#answer ??= this.#start(this.#read);
    return this.#answer;
  }
}
