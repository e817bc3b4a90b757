import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { BUILT_CLIENT } from './bundle.ts'
import { pack } from './installed.ts'
import { sbom } from './sbom.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The files of a release, by their paths. */
export interface Release {
  tarball: string
  /** The package of the client for TypeScript and JavaScript. */
  client: string
  /** The bill of materials, in the JSON of CycloneDX. */
  sbom: string
  /** SHA-256 sums of the others, for `sha256sum --check`. */
  sums: string
}

/** Builds the package, with the client's in it, and writes the files of a release into a folder. */
export function release(folder: string): Release {
  mkdirSync(folder, { recursive: true })
  const tarball = pack(folder)
  const { name, version } = JSON.parse(readFileSync(join(ROOT, 'client/package.json'), 'utf8'))
  const client = join(folder, `${name}-${version}.tgz`)
  copyFileSync(join(ROOT, 'dist', BUILT_CLIENT), client)
  const bill = tarball.replace(/\.tgz$/, '.cdx.json')
  writeFileSync(bill, sbom())
  const sums = join(folder, 'SHA256SUMS')
  writeFileSync(sums, [tarball, client, bill].map(sumOf).join(''))
  return { tarball, client, sbom: bill, sums }
}

function sumOf(path: string): string {
  const sum = createHash('sha256').update(readFileSync(path)).digest('hex')
  return `${sum}  ${basename(path)}\n`
}

if (import.meta.main) {
  const [folder = 'release'] = process.argv.slice(2)
  for (const path of Object.values(release(folder))) console.log(path)
}
