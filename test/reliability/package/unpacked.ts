import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { ROOT } from '../../fixtures/tree.ts'

/**
 * Packs the package and unpacks it below a `node_modules`, beside its dependencies and no other
 * package. Returns its folder.
 */
export function unpackedPackage(t: Pick<TestContext, 'after'>): string {
  const folder = temporaryFolder(t)
  const packed: { filename: string }[] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--silent', '--pack-destination', folder], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  )
  execFileSync('tar', ['-xzf', join(folder, packed[0]?.filename ?? ''), '-C', folder])
  const unpacked = join(folder, 'node_modules/server-listing')
  cpSync(join(folder, 'package'), unpacked, { recursive: true })
  const { dependencies } = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8'))
  for (const name of Object.keys(dependencies)) {
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), link)
  }
  return unpacked
}
