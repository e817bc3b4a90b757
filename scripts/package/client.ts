import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'rolldown'
import { isolatedDeclarationSync } from 'rolldown/experimental'
import { withPlainModes } from './modes.ts'

const CLIENT = join(import.meta.dirname, '../../client')
/** The build may run in an `npm pack` of the service, whose options come in the environment. */
const PACK_OPTIONS = '--silent --json --ignore-scripts --no-dry-run --pack-destination=.'.split(' ')

/**
 * The npm package of the client, as a compressed tarball. The same sources give the same bytes, so
 * the lock files of its users stay valid.
 *
 * It has one file of JavaScript, in CommonJS: both `import` and `require` load that file, so a
 * program has one queue per key. See docs/decisions/0047-the-client-paces-itself.md.
 */
export async function clientTarball(): Promise<Buffer> {
  const { type: _, ...manifest } = JSON.parse(read('package.json'))
  const folder = mkdtempSync(join(tmpdir(), 'server-listing-client-'))
  const write = (path: string, text: string) => writeFileSync(join(folder, path), text)
  try {
    for (const name of ['LICENSE', 'README.md']) write(name, read(name))
    write('package.json', `${JSON.stringify({ ...manifest, type: 'commonjs' }, null, 2)}\n`)
    mkdirSync(join(folder, 'dist'))
    write('dist/index.js', await javaScript())
    for (const name of readdirSync(join(CLIENT, 'src')))
      write(`dist/${name.replace(/\.ts$/, '.d.ts')}`, declarationsOf(name))
    const [packed] = JSON.parse(
      execFileSync('npm', ['pack', ...PACK_OPTIONS], { cwd: folder, encoding: 'utf8' }),
    )
    return withPlainModes(readFileSync(join(folder, packed.filename)))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function javaScript(): Promise<string> {
  const { output } = await build({
    // The names of the sources in comments are relative to it.
    cwd: CLIENT,
    input: 'src/index.ts',
    platform: 'neutral',
    transform: { target: 'es2022' },
    output: { format: 'cjs', strict: true },
    write: false,
  })
  return output[0].code
}

function declarationsOf(name: string): string {
  const { code, errors } = isolatedDeclarationSync(name, read(`src/${name}`))
  if (errors[0] !== undefined) throw new Error(`client/src/${name}: ${errors[0].message}`)
  return code.replace(/(from "\.\/[\w-]+)\.ts"/g, '$1.js"')
}

function read(path: string): string {
  return readFileSync(join(CLIENT, path), 'utf8')
}
