// Builds a request's URL.

/** The URL with its query. Arrays repeat a parameter; null and undefined leave it out. `path` is either unencoded segments
 * below `/v1`, or a path below the base URL that is used as is. */
export function urlOf(baseUrl: string, path: readonly string[] | string, query: object): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) {
      if (one !== null && one !== undefined) search.append(name, String(one));
    }
  }
  const tail = search.toString();
  const url = typeof path === "string" ? below(baseUrl, path) : `${baseUrl}/v1/${path.map(segment).join("/")}`;
  return `${url}${tail && "?"}${tail}`;
}

function segment(text: string): string {
  // An empty segment would request the list, and dots are resolved before a URL is sent, even if they're encoded.
  if (typeof text !== "string" || /^\.{0,2}$/.test(text))
    throw new TypeError('an id must be a string other than "", "." or ".."');
  return encodeURIComponent(text);
}

/** Rejects anything that would send the key elsewhere: an absolute URL, or dots that lead out of the base URL's path. */
function below(baseUrl: string, path: string): string {
  const url = baseUrl + path;
  if (!/^\/[^?#]*$/.test(path) || !new URL(url).href.startsWith(`${baseUrl}/`))
    throw new TypeError('path must be a path below baseUrl, such as "/v1/software", without a query');
  return url;
}
