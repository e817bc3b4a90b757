import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'rolldown'
import { isolatedDeclarationSync } from 'rolldown/experimental'
import { type ArchivedFile, tar } from './tar.ts'

const CLIENT = join(import.meta.dirname, '../../client')

/**
 * The npm package of the client, as a compressed tarball. The same sources give the same bytes, so
 * the lock files of its users stay valid.
 *
 * It has one file of JavaScript, in CommonJS: both `import` and `require` load that file, so a
 * program has one queue per key. See docs/decisions/0047-the-client-paces-itself.md.
 */
export async function clientTarball(): Promise<Buffer> {
  const { type: _, ...manifest } = JSON.parse(read('package.json'))
  const files = [
    file('package.json', `${JSON.stringify({ ...manifest, type: 'commonjs' }, null, 2)}\n`),
    file('LICENSE', read('LICENSE')),
    file('README.md', read('README.md')),
    file('dist/index.js', await javaScript()),
    ...declarations(),
  ]
  // The best compression. Node.js writes neither a time nor a name into the header.
  return gzipSync(tar(files), { level: 9 })
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

function declarations(): ArchivedFile[] {
  return readdirSync(join(CLIENT, 'src'))
    .toSorted()
    .map((name) => {
      const { code, errors } = isolatedDeclarationSync(name, read(`src/${name}`))
      if (errors[0] !== undefined) throw new Error(`client/src/${name}: ${errors[0].message}`)
      const importable = code.replace(/(from "\.\/[\w-]+)\.ts"/g, '$1.js"')
      return file(`dist/${name.replace(/\.ts$/, '.d.ts')}`, importable)
    })
}

function read(path: string): string {
  return readFileSync(join(CLIENT, path), 'utf8')
}

function file(path: string, text: string): ArchivedFile {
  return { path: `package/${path}`, content: Buffer.from(text) }
}
