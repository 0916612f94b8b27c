// Copies the browser libraries from node_modules into static/vendor, where they are committed so that `go build`
// needs no npm. With --check it changes nothing and fails if a committed file differs from npm's.
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const files = {
  "htmx.min.js": "node_modules/htmx.org/dist/htmx.min.js",
  "hx-sse.min.js": "node_modules/htmx.org/dist/ext/hx-sse.min.js",
  "LICENSE.htmx.txt": "node_modules/htmx.org/LICENSE",
};
const check = process.argv.includes("--check");
let different = 0;

mkdirSync(join(here, "static/vendor"), { recursive: true });
for (const [name, source] of Object.entries(files)) {
  const from = join(here, source);
  const to = join(here, "static/vendor", name);
  if (!check) {
    copyFileSync(from, to);
    continue;
  }
  if (!readFileSync(from).equals(readFileSync(to))) {
    console.error(`web/static/vendor/${name} differs from ${source}: run "npm run vendor --prefix web"`);
    different++;
  }
}
process.exit(different ? 1 : 0);
