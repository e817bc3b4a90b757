import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

/** The version in package.json. */
export function versionOfTree(): string {
  return JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version
}

/** The versions of the headings that have a date, such as `## 0.1.0 - 2026-12-01`, oldest first. */
export function releasedVersions(changelog = readChangelog()): string[] {
  const headings = changelog.matchAll(/^## (\S+) - \d{4}-\d\d-\d\d$/gm)
  return [...headings].map(([, version]) => version!).toReversed()
}

/** From its date on, nothing changes the migrations and the kept files of a version. */
export function isReleased(version: string, changelog = readChangelog()): boolean {
  return releasedVersions(changelog).includes(version)
}

/** What the changelog lacks before this version can be released, in sentences. */
export function findUnwritten(changelog: string, version: string): string[] {
  if (!isReleased(version, changelog))
    return [
      `CHANGELOG.md has no heading "## ${version} - YYYY-MM-DD". Rename "## Unreleased", with the ` +
        'date of the release',
    ]
  const sections = changelog.split(/^## /m).map((section) => section.trim().split('\n'))
  const textOf = (name: string) =>
    sections
      .find(([heading]) => heading!.split(' ', 1)[0] === name)
      ?.slice(1)
      .join('')
  if (textOf('Unreleased'))
    return [
      `CHANGELOG.md has changes under "## Unreleased". Move them into the section of ${version}`,
    ]
  return textOf(version) ? [] : [`CHANGELOG.md says nothing about ${version}`]
}

export function readChangelog(): string {
  return readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')
}
