// Explains a term.

import { SoftwareDirectory } from "software-directory";

const directory = new SoftwareDirectory({
  apiKey: process.env["SOFTWARE_DIRECTORY_API_KEY"]!,
  baseUrl: process.env["SOFTWARE_DIRECTORY_URL"]!,
});

const { data } = await directory.glossary.list({ q: "CAPA", limit: 3 });
for (const { term, definition } of data) console.log(`${term}: ${definition}`);
