// Lists the attributes that products can be filtered by.

import { SoftwareDirectory } from "software-directory";

const directory = new SoftwareDirectory({
  apiKey: process.env["SOFTWARE_DIRECTORY_API_KEY"]!,
  baseUrl: process.env["SOFTWARE_DIRECTORY_URL"]!,
});

for await (const attribute of directory.attributes.list()) {
  console.log(
    `${String(attribute.software_count).padStart(4)}  ${attribute.label} (${attribute.property}, ${attribute.type})`,
  );
}
