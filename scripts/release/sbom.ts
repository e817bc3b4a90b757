import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { librariesIn } from '../package/licenses.ts'
import { lockOfOperators } from '../package/lock.ts'

/**
 * The bill of materials of the built package, in the JSON of CycloneDX. It has the libraries that
 * an installation has, and those that are part of the bundle in dist/.
 */
export function sbom(): string {
  const bundled = librariesIn(readFileSync(join(ROOT, 'dist/LICENSES.txt'), 'utf8'))
  const lock = lockOfOperators(bundled)
  const above = mkdtempSync(join(tmpdir(), 'server-listing-sbom-'))
  // npm names the project after its folder.
  const folder = join(above, lock.name)
  try {
    mkdirSync(folder)
    // npm describes the project of a lock file. The checkout's own has development packages, and
    // npm leaves out every package that they need too.
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock))
    writeFileSync(join(folder, 'package.json'), JSON.stringify(lock.packages['']))
    const form = ['--sbom-format=cyclonedx', '--sbom-type=application']
    const args = ['sbom', '--package-lock-only', ...form, '--loglevel=error']
    return reproducible(execFileSync('npm', args, { cwd: folder, encoding: 'utf8' }))
  } finally {
    rmSync(above, { recursive: true, force: true })
  }
}

/** Without the time and the random serial number, both of which CycloneDX leaves open. */
function reproducible(output: string): string {
  const { serialNumber: _, ...bill } = JSON.parse(output)
  delete bill.metadata.timestamp
  return `${JSON.stringify(bill, null, 2)}\n`
}

const ROOT = join(import.meta.dirname, '../..')
