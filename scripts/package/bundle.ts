import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build, type Plugin } from 'rolldown'
import { builtinModules } from './builtin-modules.ts'
import { clientTarball } from './client.ts'
import { licensesOf } from './licenses.ts'
import { sourceUrls } from './source-urls.ts'

const ROOT = join(import.meta.dirname, '../..')
/** The program of a thread, which loads nothing else. */
const CHECKPOINT_THREAD = 'sqlite/file/checkpoint-thread-main.js'
/** The package of the client in a built folder. The dashboard serves it. */
export const BUILT_CLIENT = 'dashboard/docs/server-listing-client.tgz'

/**
 * Bundles `src/` into a folder, which it replaces. Node.js strips no types below node_modules, and
 * loads a few chunks in less time than hundreds of modules. See docs/decisions/0031-a-bundle.md.
 *
 * `plugins` may replace modules.
 */
export async function bundle(folder: string, plugins: readonly Plugin[] = []): Promise<void> {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const destination = resolve(folder)
  rmSync(destination, { recursive: true, force: true })
  const { output } = await build({
    cwd: ROOT,
    input: 'src/main.ts',
    platform: 'node',
    external: Object.keys(manifest.dependencies),
    plugins: [...plugins, builtinModules(), sourceUrls(join(ROOT, 'src'))],
    output: {
      dir: destination,
      chunkFileNames: '[name].js',
      sourcemap: true,
      sourcemapExcludeSources: true,
      codeSplitting: {
        groups: [
          // What every command loads.
          { name: 'commands', tags: ['$initial'] },
          // Only a command that makes or recognizes a key needs Node's cryptography.
          { name: 'records', test: /src\/(database\/|\w+\/records\/(?!issued|leaked))/ },
          { name: 'sqlite', test: /src\/sqlite\/store\.ts$/ },
        ],
      },
    },
  })
  const copy = (from: string, to: string) =>
    cpSync(join(ROOT, 'src', from), join(destination, to), { recursive: true })
  for (const engine of ['sqlite', 'postgres']) copy(`${engine}/migrations`, `${engine}/migrations`)
  copy(CHECKPOINT_THREAD, CHECKPOINT_THREAD)
  copy('web/html/assets', 'web/html/assets')
  copy('accounts/common-passwords.txt', 'accounts/common-passwords.txt')
  mkdirSync(join(destination, 'dashboard/docs'), { recursive: true })
  writeFileSync(join(destination, BUILT_CLIENT), await clientTarball())
  const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
  writeFileSync(join(destination, 'LICENSES.txt'), licensesOf(modules))
}

if (import.meta.main) await bundle('dist')
