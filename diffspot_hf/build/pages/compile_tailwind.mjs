// Tailwind's own compiler, run once: {css, candidates} as JSON on stdin, the style sheet on stdout.
// argv: the folder of the tailwindcss package. Only its own style sheets can be imported, and no plugin is loaded.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";

const folder = path.resolve(process.argv[2]);
const { compile } = await import(pathToFileURL(path.join(folder, "dist/lib.mjs")).href);
const sheets = { tailwindcss: "index.css", "tailwindcss/theme": "theme.css", "tailwindcss/theme.css": "theme.css",
  "tailwindcss/preflight": "preflight.css", "tailwindcss/preflight.css": "preflight.css",
  "tailwindcss/utilities": "utilities.css", "tailwindcss/utilities.css": "utilities.css" };

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const { css, candidates } = JSON.parse(Buffer.concat(chunks).toString("utf8"));
const compiler = await compile(css, {
  base: folder,
  loadStylesheet: async (id) => {
    const name = sheets[id] ?? (/^\.\/(theme|preflight|utilities)\.css$/.test(id) ? id.slice(2) : null);
    if (!name) throw new Error(`style sheet ${id} is not part of Tailwind`);
    return { path: path.join(folder, name), base: folder, content: await readFile(path.join(folder, name), "utf8") };
  },
  loadModule: async (id) => { throw new Error(`plugin or config ${id} is not loaded`); },
});
process.stdout.write(compiler.build(candidates));
