// Looks up one glossary term.

import { SoftwareDirectory } from "software-directory";

const directory = new SoftwareDirectory({
  apiKey: process.env["SOFTWARE_DIRECTORY_API_KEY"]!,
  baseUrl: process.env["SOFTWARE_DIRECTORY_URL"]!,
});

const [first] = (await directory.glossary.list({ q: "capa", limit: 1 })).data;
const { term, definition } = await directory.glossary.get(first!.id);
console.log(`${term}: ${definition}`);
