import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { releasedVersions } from '../../../scripts/release/changelog.ts'
import { ROOT } from '../../fixtures/tree.ts'

/** The files that a release leaves behind for the tests of later versions. */
export interface KeptRelease extends ReleaseFacts {
  folder: string
}

/** The content of `release.json`. */
export interface ReleaseFacts {
  version: string
  /** The SHA-256 of the package, for the tests of going back and of both side by side. */
  package?: string
  /** The SHA-256 of each migration, by its path below `src/`. */
  migrations: Record<string, string>
  /** What the API of the version answered to each active key, by engine and name of the key. */
  answers: Record<'sqlite' | 'postgres', Record<string, string>>
}

/** The files of a release beside `release.json`. Git ignores names that end in `.db`. */
export const FILES = {
  /** The file of a stopped service on SQLite, and its journal of revocations. */
  sqlite: 'sqlite.gz',
  journal: 'journal.gz',
  /** The rows of each table of PostgreSQL, in JSON. */
  postgres: 'postgres.json.gz',
  /** An archive of the database on PostgreSQL. */
  archive: 'archive.gz',
  /**
   * The package as it was released: that of 0.1.0 is of commit 673f2a7, which has no tag. Git
   * ignores names that end in `.tgz`.
   */
  package: 'package.tar.gz',
}

export function folderOf(version: string): string {
  return join(import.meta.dirname, version)
}

export function readKept(folder: string): KeptRelease {
  return { folder, ...JSON.parse(readFileSync(join(folder, 'release.json'), 'utf8')) }
}

/** The files of released versions, oldest first. */
export function keptReleases(): KeptRelease[] {
  return releasedVersions()
    .filter((version) => existsSync(join(folderOf(version), 'release.json')))
    .map((version) => readKept(folderOf(version)))
}

/** Those whose package is kept, too. */
export function keptPackages(): KeptRelease[] {
  return keptReleases().filter((release) => release.package !== undefined)
}

/**
 * A sentence for each released version whose package is not kept. That of the tree's own version
 * can only be made after the commit with its date, so it is due once the tree has the next version.
 */
export function findUnkept(
  present: string,
  released = releasedVersions(),
  kept = keptPackages().map(({ version }) => version),
): string[] {
  return released
    .filter((version) => version !== present && !kept.includes(version))
    .map(
      (version) =>
        `${version} is released, and its package is not kept, so no test goes back to it. Copy it ` +
        `to test/reliability/releases/${version}/${FILES.package}, and write its sum into ` +
        'release.json there (CONTRIBUTING.md, Release, step 7)',
    )
}

export function unpack({ folder }: KeptRelease, name: string): Buffer {
  return gunzipSync(readFileSync(join(folder, name)))
}

/** The SHA-256 of each migration of the tree, by its path below `src/`. */
export function hashMigrations(sources = join(ROOT, 'src')): Record<string, string> {
  const paths = ['sqlite', 'postgres'].flatMap((engine) =>
    readdirSync(join(sources, engine, 'migrations'))
      .toSorted()
      .map((name) => `${engine}/migrations/${name}`),
  )
  return Object.fromEntries(
    paths.map((path) => [path, hash('sha256', readFileSync(join(sources, path)))]),
  )
}

/** A sentence for each migration of the release that is not what it was. */
export function findChanged(
  { version, migrations }: ReleaseFacts,
  present: Record<string, string>,
): string[] {
  return Object.entries(migrations)
    .filter(([path, sum]) => present[path] !== sum)
    .map(
      ([path]) =>
        `src/${path} is not as ${version} released it. Databases have that version of it already: ` +
        'undo the change, and add a migration with the next number (CONTRIBUTING.md)',
    )
}
