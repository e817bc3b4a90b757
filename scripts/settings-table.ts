import { readFileSync, writeFileSync } from 'node:fs'
import { NAMED_SETTINGS, type Setting } from '../src/config/settings.ts'

/*
 * Writes the table of settings in README.md, which `src/config/settings.ts` describes.
 */

const HEAD = '| variable | meaning | default | used by |\n|---|---|---|---|\n'
const TABLE = /^\| variable \|.*\n(?:\|.*\n)+/m

if (import.meta.main) {
  const path = new URL('../README.md', import.meta.url)
  writeFileSync(path, withSettings(readFileSync(path, 'utf8')))
}

/** The document with the present table. */
export function withSettings(document: string): string {
  const rows = NAMED_SETTINGS.map(
    ([name, setting]) =>
      `| \`${name}\` | ${meaningOf(setting)} | ${defaultOf(setting)} | ${usersOf(setting)} |\n`,
  )
  return document.replace(TABLE, () => HEAD + rows.join(''))
}

function meaningOf({ meaning, page }: Setting): string {
  if (page === undefined) return meaning
  return `${meaning} ([docs/${page.replace(/#.*/, '')}](docs/${page}))`
}

function defaultOf({ default: value, unset }: Setting): string {
  return unset ?? (value === undefined ? 'none' : `\`${value}\``)
}

function usersOf({ usedBy = [] }: Setting): string {
  return usedBy.length === 0 ? 'all commands' : usedBy.map((name) => `\`${name}\``).join(', ')
}
