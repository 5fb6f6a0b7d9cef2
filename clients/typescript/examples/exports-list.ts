// Lists the exports that make up the directory, with their licences.

import { SoftwareDirectory } from "software-directory";

const directory = new SoftwareDirectory({
  apiKey: process.env["SOFTWARE_DIRECTORY_API_KEY"]!,
  baseUrl: process.env["SOFTWARE_DIRECTORY_URL"]!,
});

for await (const one of directory.exports.list()) {
  console.log(`${one.id}: ${one.software_count} products, ${one.size_bytes} bytes, ${one.license}`);
}
