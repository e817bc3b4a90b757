import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { isReleased } from '../../../scripts/release/changelog.ts'
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

const FOLDER = import.meta.dirname

export function folderOf(version: string): string {
  return join(FOLDER, version)
}

export function readKept(folder: string): KeptRelease {
  return { folder, ...JSON.parse(readFileSync(join(folder, 'release.json'), 'utf8')) }
}

/** The files of released versions. A version without a date in the changelog is not released. */
export function keptReleases(): KeptRelease[] {
  const versions = readdirSync(FOLDER).filter((name) =>
    existsSync(join(FOLDER, name, 'release.json')),
  )
  return versions
    .filter((version) => isReleased(version))
    .map((version) => readKept(folderOf(version)))
}

/** Those whose package is kept, too. It can be kept only once it is released. */
export function keptPackages(): KeptRelease[] {
  return keptReleases().filter((release) => release.package !== undefined)
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
