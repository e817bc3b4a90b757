import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { build } from 'rolldown'
import { builtinModules } from './builtin-modules.ts'
import { licensesOf } from './licenses.ts'
import { sourceUrls } from './source-urls.ts'

/*
 * Builds dist/, which replaces src/ in the published package: Node.js strips no types below
 * node_modules, and loads a few chunks in less time than hundreds of modules. See
 * docs/decisions/0031-a-bundle.md.
 */

const manifest = JSON.parse(readFileSync('package.json', 'utf8'))
rmSync('dist', { recursive: true, force: true })
const { output } = await build({
  input: 'src/main.ts',
  platform: 'node',
  external: Object.keys(manifest.dependencies),
  plugins: [builtinModules(), sourceUrls('src')],
  output: {
    dir: 'dist',
    chunkFileNames: '[name].js',
    sourcemap: true,
    sourcemapExcludeSources: true,
    codeSplitting: {
      groups: [
        // What every command loads.
        { name: 'commands', tags: ['$initial'] },
        { name: 'management', test: /src\/(management\/|migrations\.ts)/ },
        { name: 'sqlite', test: /src\/sqlite\/store\.ts$/ },
      ],
    },
  },
})
for (const engine of ['sqlite', 'postgres'])
  cpSync(`src/${engine}/migrations`, `dist/${engine}/migrations`, { recursive: true })
cpSync('src/dashboard/html/assets', 'dist/dashboard/html/assets', { recursive: true })
const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
writeFileSync('dist/LICENSES.txt', licensesOf(modules))
