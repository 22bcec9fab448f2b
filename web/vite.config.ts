/** Builds one file, src/proton/render/assets/page.html, with script and style inside it. */
import { createHash } from "node:crypto"
import { type Plugin, defineConfig } from "vite"

const PAGE = "page.html"

export default defineConfig({
  base: "./",
  build: {
    outDir: "../src/proton/render/assets",
    emptyOutDir: false, // it has a file of git's
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 1_000_000,
    target: "es2022",
    reportCompressedSize: false,
    rollupOptions: { input: PAGE },
  },
  plugins: [oneFile()],
})

/** Moves every script and style into the page, and lets the page run nothing but that script. */
function oneFile(): Plugin {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      let script = ""
      let style = ""
      for (const [name, file] of Object.entries(bundle)) {
        if (file.type === "chunk") script += file.code
        else if (name.endsWith(".css")) style += file.source
        else continue
        delete bundle[name]
      }
      const page = bundle[PAGE]
      if (page?.type !== "asset") throw new Error(`${PAGE} was not built`)
      page.source = assemble(String(page.source), script, style)
    },
  }
}

function assemble(page: string, script: string, style: string): string {
  // "</script" inside a string of ours would end the element.
  const safe = `\n${script.trim().replaceAll("</script", "<\\/script")}\n`
  const hash = createHash("sha256").update(safe).digest("base64")
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${hash}'`,
    "style-src 'unsafe-inline'",
    "img-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ")
  return page
    .replace(/\s*<script type="module"[^>]*><\/script>/g, "")
    .replace(/\s*<link rel="stylesheet"[^>]*>/g, "")
    .replace("<!--proton-policy-->", () => `<meta http-equiv="Content-Security-Policy" content="${policy}">`)
    .replace("</head>", () => `<style>${style}</style>\n</head>`)
    .replace("</body>", () => `<script type="module">${safe}</script>\n</body>`)
}
