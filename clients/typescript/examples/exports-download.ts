// Downloads an export: into memory, to a file, and as a stream of lines that's never entirely in memory.

import { createWriteStream } from "node:fs";
import { rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { SoftwareDirectory } from "software-directory";

const directory = new SoftwareDirectory({
  apiKey: process.env["SOFTWARE_DIRECTORY_API_KEY"]!,
  baseUrl: process.env["SOFTWARE_DIRECTORY_URL"]!,
});

const [one] = (await directory.exports.list({ limit: 1 })).data;
const bytes = await directory.exports.download(one!.id);
const document = JSON.parse(new TextDecoder().decode(bytes));
console.log(`${document.name}: ${document.software.length} records in ${bytes.length} bytes`);

// Writes to a temporary file in the same folder, and renames it once it's complete.
const file = join(tmpdir(), `${encodeURIComponent(one!.id)}.json`);
await directory.exports.downloadTo(one!.id, Writable.toWeb(createWriteStream(`${file}.part`)), null, {
  onProgress: (received, total) => console.log(`${received} of ${total ?? one!.size_bytes} bytes`),
});
await rename(`${file}.part`, file);
console.log(`wrote ${file}`);

const { body } = await directory.exports.stream(one!.id, { format: "ndjson" });
let rest = "";
let count = 0;
for await (const text of body.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split("\n");
  rest = lines.pop()!;
  for (const line of lines) if (JSON.parse(line).id) count += 1;
}
console.log(`${count} records, line by line`);
