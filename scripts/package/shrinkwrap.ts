import { readFileSync, writeFileSync } from 'node:fs'

/*
 * Writes npm-shrinkwrap.json: the part of package-lock.json that operators install. `npm pack` runs
 * this first and deletes the file afterwards, because npm prefers it to package-lock.json. See
 * docs/decisions/0041-the-package-has-its-libraries.md.
 */

interface LockedPackage {
  /** True for a package that only development needs. */
  dev?: boolean
}

const { name, version, lockfileVersion, packages } = JSON.parse(
  readFileSync('package-lock.json', 'utf8'),
)
const { '': root, ...locked } = packages as Record<string, LockedPackage>
const { devDependencies: _, ...ofOperators } = root as Record<string, unknown>
const shrinkwrap = {
  name,
  version,
  lockfileVersion,
  requires: true,
  packages: {
    '': ofOperators,
    ...Object.fromEntries(Object.entries(locked).filter(([, { dev }]) => dev !== true)),
  },
}
writeFileSync('npm-shrinkwrap.json', `${JSON.stringify(shrinkwrap, null, 2)}\n`)
