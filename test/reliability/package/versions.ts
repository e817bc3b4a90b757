import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from '../../fixtures/tree.ts'
import type { InstalledPackage } from './installed-package.ts'

interface LockedPackage {
  version: string
  dev?: boolean
  link?: boolean
}

/** Which libraries an operator gets, and how a release lists them. */
export function testVersions(installedPackage: () => InstalledPackage): void {
  test('the installation has the tested version of each library, and no other package', () => {
    const { folder, files } = installedPackage()
    const tested = testedVersions()
    const shrinkwrap = packagesOf(join(files, 'npm-shrinkwrap.json'))
    assert.deepEqual(versionsOf(shrinkwrap.filter(([path]) => path !== '')), tested)
    assert.deepEqual(installedVersions(folder), tested)
    for (const [name, version] of tested) {
      const manifest = readFileSync(join(files, 'node_modules', name, 'package.json'), 'utf8')
      assert.equal(JSON.parse(manifest).version, version, name)
    }
  })

  test('the bill of materials lists what is installed and what is in the bundle', () => {
    const { folder, files, release } = installedPackage()
    const bill = JSON.parse(readFileSync(release.sbom, 'utf8'))
    assert.deepEqual(
      [bill.bomFormat, bill.metadata.component.name],
      ['CycloneDX', 'server-listing'],
    )
    const expected = installedVersions(folder)
    for (const name of bundledLibraries(files)) expected.set(name, lockedVersion(name))
    assert.ok(expected.has('hono'))
    const listed: { name: string; version: string; hashes: unknown[] }[] = bill.components
    assert.deepEqual(new Map(listed.map(({ name, version }) => [name, version])), expected)
    for (const { name, hashes } of listed) assert.equal(hashes.length, 1, name)
  })

  test('SHA256SUMS has the sum of each other file of a release', () => {
    const { release } = installedPackage()
    const cwd = dirname(release.sums)
    const options = { cwd, encoding: 'utf8' } as const
    const checked = execFileSync('sha256sum', ['--check', '--strict', release.sums], options)
    const others = readdirSync(cwd).filter((name) => name !== basename(release.sums))
    assert.deepEqual(
      checked.trim().split('\n').toSorted(),
      others.map((name) => `${name}: OK`).toSorted(),
    )
  })
}

/** The names of the libraries whose code is in dist/, from its source maps. */
export function bundledLibraries(files: string): Set<string> {
  const bundled = new Set<string>()
  for (const name of readdirSync(join(files, 'dist')).filter((each) => each.endsWith('.map'))) {
    const { sources } = JSON.parse(readFileSync(join(files, 'dist', name), 'utf8'))
    for (const source of sources) {
      const library = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1]
      if (library !== undefined) bundled.add(library)
    }
  }
  return bundled
}

/** The version that the lock file has for a package of the checkout. */
export function lockedVersion(name: string): string {
  const path = `node_modules/${name}`
  return packagesOf(join(ROOT, 'package-lock.json')).find(([each]) => each === path)![1].version
}

/** The versions that the tests run, but for packages of development. */
function testedVersions(): Map<string, string> {
  const lock = packagesOf(join(ROOT, 'package-lock.json'))
  const needed = lock.filter(([path, { dev, link }]) => path !== '' && !dev && !link)
  const tested = versionsOf(needed)
  assert.ok(tested.has('pg'))
  return tested
}

/** What npm has installed beside the package itself. */
function installedVersions(folder: string): Map<string, string> {
  const installed = versionsOf(packagesOf(join(folder, 'node_modules/.package-lock.json')))
  // The two packages of the release. The client has no dependency.
  installed.delete('server-listing')
  installed.delete('server-listing-client')
  return installed
}

function packagesOf(lockFile: string): [path: string, LockedPackage][] {
  const { packages } = JSON.parse(readFileSync(lockFile, 'utf8'))
  return Object.entries(packages)
}

/** By the name of the package. */
function versionsOf(packages: readonly [path: string, LockedPackage][]): Map<string, string> {
  const folders = /^(.*\/)?node_modules\//
  return new Map(packages.map(([path, { version }]) => [path.replace(folders, ''), version]))
}
