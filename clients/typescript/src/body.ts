// Bodies of responses: streams that are watched to their end, and responses over bytes in memory.

/** Bytes in memory of their own: `Uint8Array<ArrayBuffer>`, and before TypeScript 5.7, which has no such type, `Uint8Array`. */
export type Bytes = ReturnType<typeof Uint8Array.of>;

/** The response with another body, bytes in memory or a stream, and on request another status and headers. */
export function withBody(
  response: Response,
  body: Bytes | ReadableStream<Bytes>,
  init: ResponseInit = response,
): Response {
  // Statuses such as 304 permit no body at all, not even an empty one.
  const copy = new Response(body instanceof Uint8Array && body.length === 0 ? null : body, init);
  const { url, type, redirected } = response;
  // The constructor has no option for these.
  return Object.defineProperties(copy, {
    url: { value: url },
    type: { value: type },
    redirected: { value: redirected },
  });
}

/** The response with a body that is read through `wait`, chunk by chunk as its reader pulls, so that no more than a chunk
 * is in memory. Calls `end` after the last chunk or when the reader cancels; `wait` sees to errors. */
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

/** The characters of a body that an error has. */
export const ERROR_BODY_LENGTH = 2 ** 16;

/** The beginning of a body as text: somewhat more than an error has, so that no key is cut in two where the error's ends. */
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
