// Response bodies: streams that are watched to their end, and responses whose body is in memory.

/** Bytes with their own memory: `Uint8Array<ArrayBuffer>`, or `Uint8Array` before TypeScript 5.7, which lacks that type. */
export type Bytes = ReturnType<typeof Uint8Array.of>;

/** A copy of the response with a different body (bytes or a stream) and, if given, a different status and headers. */
export function withBody(
  response: Response,
  body: Bytes | ReadableStream<Bytes>,
  init: ResponseInit = response,
): Response {
  // Statuses such as 304 don't permit a body, not even an empty one.
  const copy = new Response(body instanceof Uint8Array && body.length === 0 ? null : body, init);
  const { url, type, redirected } = response;
  // `Response`'s constructor has no options for these properties.
  return Object.defineProperties(copy, {
    url: { value: url },
    type: { value: type },
    redirected: { value: redirected },
  });
}

/** A copy of the response whose body is read through `wait`, chunk by chunk as the reader pulls, so at most one chunk is in
 * memory. Calls `end` after the last chunk or when the reader cancels; `wait` handles errors. */
export function watched(
  response: Response,
  wait: <T>(chunk: () => Promise<T>) => Promise<T>,
  end: () => void,
): Response {
  const reader = response.body?.getReader();
  if (!reader) {
    end();
    return response;
  }
  const body = new ReadableStream<Bytes>(
    {
      async pull(controller) {
        const { done, value } = await wait(() => reader.read());
        if (!done) return controller.enqueue(value);
        end();
        controller.close();
      },
      cancel(reason) {
        end();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return withBody(response, body);
}

/** How many characters of a body an error keeps. */
export const ERROR_BODY_LENGTH = 2 ** 16;

/** The beginning of a body as text. It's longer than what an error keeps, so the key isn't cut in two before it's redacted. */
export async function beginningOf(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (reader && text.length < ERROR_BODY_LENGTH + 1024) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  return text;
}
