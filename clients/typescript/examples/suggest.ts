// Suggests products, categories and terms while a query is being typed.

import { SoftwareDirectory } from "software-directory";

const directory = new SoftwareDirectory({
  apiKey: process.env["SOFTWARE_DIRECTORY_API_KEY"]!,
  baseUrl: process.env["SOFTWARE_DIRECTORY_URL"]!,
});

const { software, categories, glossary } = await directory.suggest({ q: "au", limit: 3 });
for (const { name } of software) console.log("product ", name);
for (const { name, software_count: count } of categories) console.log("category", name, `(${count})`);
for (const { term } of glossary) console.log("term    ", term);
