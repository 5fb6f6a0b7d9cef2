// Downloads an export: whole, and as a stream of lines that never is in memory as a whole.

import { SoftwareDirectory } from "software-directory";

const directory = new SoftwareDirectory({
  apiKey: process.env["SOFTWARE_DIRECTORY_API_KEY"]!,
  baseUrl: process.env["SOFTWARE_DIRECTORY_URL"]!,
});

const [one] = (await directory.exports.list({ limit: 1 })).data;
const bytes = await directory.exports.download(one!.id);
const document = JSON.parse(new TextDecoder().decode(bytes));
console.log(`${document.name}: ${document.software.length} records in ${bytes.length} bytes`);

const response = await directory.exports.download(one!.id, { format: "ndjson" }).asResponse();
let rest = "";
let count = 0;
for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split("\n");
  rest = lines.pop()!;
  for (const line of lines) if (JSON.parse(line).id) count += 1;
}
console.log(`${count} records, line by line`);
