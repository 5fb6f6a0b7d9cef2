// Shows the reviews of the product with the most reviews, page by page.

import { SoftwareDirectory } from "software-directory";

const directory = new SoftwareDirectory({
  apiKey: process.env["SOFTWARE_DIRECTORY_API_KEY"]!,
  baseUrl: process.env["SOFTWARE_DIRECTORY_URL"]!,
});

const [product] = (await directory.software.list({ sort: "-review_count", limit: 1 })).data;
for await (const page of directory.reviews.list(product!.id, { limit: 2 }).pages()) {
  console.log(`from ${page.pagination.offset} of ${page.summary.count}, on average ${page.summary.average}`);
  for (const review of page.data) console.log(`  ${"*".repeat(review.rating)} ${review.title ?? ""}`);
}
