// Tailwind's own compiler, run once: {css, candidates} as JSON on stdin, the style sheet on stdout.
// argv: the folder of the tailwindcss package. Only its own style sheets can be imported, and no plugin is loaded.
const { readFileSync } = require("node:fs");
const path = require("node:path");
const { pathToFileURL } = require("node:url");

const folder = path.resolve(process.argv[2]);
const sheets = {
  tailwindcss: "index.css",
  "tailwindcss/theme": "theme.css", "tailwindcss/theme.css": "theme.css", "./theme.css": "theme.css",
  "tailwindcss/preflight": "preflight.css", "tailwindcss/preflight.css": "preflight.css", "./preflight.css": "preflight.css",
  "tailwindcss/utilities": "utilities.css", "tailwindcss/utilities.css": "utilities.css", "./utilities.css": "utilities.css",
};

async function main() {
  const { compile } = await import(pathToFileURL(path.join(folder, "dist/lib.mjs")).href);
  const { css, candidates } = JSON.parse(readFileSync(0, "utf8"));
  const compiler = await compile(css, {
    base: folder,
    loadStylesheet: async (id) => {
      if (!Object.hasOwn(sheets, id)) throw new Error(`style sheet ${id} is not part of Tailwind`);
      const file = path.join(folder, sheets[id]);
      return { path: file, base: folder, content: readFileSync(file, "utf8") };
    },
    loadModule: async (id) => { throw new Error(`plugin or config ${id} is not loaded`); },
  });
  process.stdout.write(compiler.build(candidates));
}

main().catch((error) => { console.error(String(error)); process.exitCode = 1; });
