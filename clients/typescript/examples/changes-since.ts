// Lists what changed since a generation, and prints the generation to continue from.

import { GoneError, SoftwareDirectory } from "software-directory";

const directory = new SoftwareDirectory({
  apiKey: process.env["SOFTWARE_DIRECTORY_API_KEY"]!,
  baseUrl: process.env["SOFTWARE_DIRECTORY_URL"]!,
});

// Without a generation there are no changes; `to` is the generation to start from.
const { to } = await directory.changes.since();
for await (const change of directory.changes.since(to)) console.log(change.change, change.id);
console.log(`up to date with ${to}`);

try {
  await directory.changes.since("a generation from last year");
} catch (error) {
  if (!(error instanceof GoneError)) throw error;
  console.log("too old: download the exports");
}
