// Errors and their properties.

import { ApiError, InvalidRequestError, NotFoundError } from "software-directory";
import { SoftwareDirectory } from "software-directory";

const directory = new SoftwareDirectory({
  apiKey: process.env["SOFTWARE_DIRECTORY_API_KEY"]!,
  baseUrl: process.env["SOFTWARE_DIRECTORY_URL"]!,
});

try {
  await directory.software.get("no-such-product");
} catch (error) {
  if (!(error instanceof NotFoundError)) throw error;
  console.log(error.status, error.code, error.request_id);
}

try {
  await directory.software.list({ limit: 1000 });
} catch (error) {
  if (!(error instanceof InvalidRequestError)) throw error;
  for (const { param, message } of error.errors) console.log(`${param}: ${message}`);
}

try {
  await directory.categories.list(null, { signal: AbortSignal.abort("changed my mind") });
} catch (error) {
  console.log(error instanceof ApiError, error);
}
