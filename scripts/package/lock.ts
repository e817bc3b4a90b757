import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface LockedPackage {
  /** True for a package that only development needs. */
  dev?: boolean
  /** True for a folder of the repository. Only development needs one. */
  link?: boolean
}

/** As in package-lock.json. */
export interface Lock {
  name: string
  version: string
  lockfileVersion: number
  requires: true
  /** By path. The package itself has the path ''. */
  packages: Record<string, object>
}

const ROOT = join(import.meta.dirname, '../..')

/**
 * The part of package-lock.json that an operator needs: the dependencies and theirs. `added` are
 * names of packages that are needed too.
 */
export function lockOfOperators(added: readonly string[] = []): Lock {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  const { '': root, ...locked } = lock.packages as Record<string, LockedPackage>
  const { devDependencies, dependencies, ...manifest } = root as Record<string, object>
  const versions = devDependencies as Record<string, string>
  const needed = Object.entries(locked).flatMap(([path, { dev, link, ...entry }]) =>
    (dev || link) && !added.includes(path.replace('node_modules/', '')) ? [] : [[path, entry]],
  )
  const also = Object.fromEntries(added.map((name) => [name, versions[name]]))
  return {
    name: lock.name,
    version: lock.version,
    lockfileVersion: lock.lockfileVersion,
    requires: true,
    packages: {
      '': { ...manifest, dependencies: { ...dependencies, ...also } },
      ...Object.fromEntries(needed),
    },
  }
}

// `npm pack` first writes npm-shrinkwrap.json, and deletes it afterwards, because npm prefers it to
// package-lock.json. See docs/decisions/0031-a-bundle.md.
if (import.meta.main)
  writeFileSync('npm-shrinkwrap.json', `${JSON.stringify(lockOfOperators(), null, 2)}\n`)
