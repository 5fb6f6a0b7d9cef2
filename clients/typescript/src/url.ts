// The URL of a request.

/** The URL with query: repeated where a value is an array, without what is null or undefined. `path` is either segments
 * below `/v1`, not yet encoded, or a path below the base URL as it stands. */
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
  // An empty segment would be the list instead of the record, and URLs resolve dots, encoded or not, before they are sent.
  if (typeof text !== "string" || /^\.{0,2}$/.test(text))
    throw new TypeError('an id must be a string other than "", "." or ".."');
  return encodeURIComponent(text);
}

/** Refuses what would send the key elsewhere: an absolute URL, or dots that lead out of the base URL's path. */
function below(baseUrl: string, path: string): string {
  const url = baseUrl + path;
  if (!/^\/[^?#]*$/.test(path) || !new URL(url).href.startsWith(`${baseUrl}/`))
    throw new TypeError('path must be a path below baseUrl, such as "/v1/software", without a query');
  return url;
}
