import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The name, version and license of each package that these modules come from. */
export function licensesOf(modules: readonly string[]): string {
  const folders = new Set(
    modules.flatMap((id) => /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? []),
  )
  return [...folders].toSorted().map(licenseOf).join(`\n${LINE}\n\n`)
}

const LINE = '='.repeat(80)

/** The names of the packages in what `licensesOf` returned. */
export function librariesIn(licenses: string): string[] {
  return licenses.split(LINE).map((part) => part.trim().split(' ', 1)[0]!)
}

function licenseOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find((each) => /^licen[sc]e/i.test(each))
  if (file === undefined) throw new Error(`${name} has no file with its license`)
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
}
