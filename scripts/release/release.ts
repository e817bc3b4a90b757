import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { BUILT_CLIENT } from '../package/bundle.ts'
import { pack } from '../package/installed.ts'
import { findObstacles } from './obstacles.ts'
import { sbom } from './sbom.ts'

const ROOT = join(import.meta.dirname, '../..')

/**
 * Builds the package, with the client's in it, and writes the files of a release into a folder. The
 * same tree gives the same bytes.
 */
export function release(folder: string) {
  mkdirSync(folder, { recursive: true })
  const tarball = pack(folder)
  const { name, version } = JSON.parse(readFileSync(join(ROOT, 'client/package.json'), 'utf8'))
  const client = join(folder, `${name}-${version}.tgz`)
  copyFileSync(join(ROOT, 'dist', BUILT_CLIENT), client)
  // The bill of materials, in the JSON of CycloneDX.
  const bill = tarball.replace(/\.tgz$/, '.cdx.json')
  writeFileSync(bill, sbom())
  const dockerfile = join(folder, 'Dockerfile')
  copyFileSync(join(ROOT, 'deploy/Dockerfile'), dockerfile)
  const sums = join(folder, 'SHA256SUMS')
  writeFileSync(sums, [tarball, client, bill, dockerfile].map(sumOf).join(''))
  return { tarball, client, sbom: bill, dockerfile, sums }
}

/** The paths of the files. */
export type Release = ReturnType<typeof release>

function sumOf(path: string): string {
  const sum = createHash('sha256').update(readFileSync(path)).digest('hex')
  return `${sum}  ${basename(path)}\n`
}

if (import.meta.main) {
  const [folder = 'release'] = process.argv.slice(2)
  const obstacles = findObstacles(ROOT)
  for (const obstacle of obstacles) console.error(`error: ${obstacle}`)
  if (obstacles.length > 0) process.exitCode = 1
  else for (const path of Object.values(release(folder))) console.log(path)
}
