import { globSync } from 'node:fs'

/** A folder of `src/` to change, and the tests closest to it. */
export interface Part {
  folder: string
  mutate: string[]
  tests: string[]
  /** Slow tests that notice nothing more than others. */
  skip?: string
  /** Changes this many random lines, because the tests of all lines would take a day. */
  lines?: number
}

const NOUNS = ['accounts', 'acts', 'keys', 'management', 'organizations', 'servers']
const CONTRACT = 'test/contract/sqlite.test.ts'
/** What each page, form and command says and changes. */
const RECORDS = ['test/records/requests.test.ts', 'test/records/commands.test.ts']
const LINES = 160

export const PARTS: Part[] = [
  part('model'),
  part('api'),
  part('claims'),
  // Without the suites that repeat one check thousands of times.
  part('http', {
    tests: ['test/wire/**/!(fuzz|generated|llhttp).test.ts'],
    skip: '/byte|never reads what it is answered/',
  }),
  part('sqlite', { lines: LINES }),
  // Noticed by their own tests, which take a tenth of the time of the others.
  part('journal', { mutate: ['src/sqlite/journal/*.ts'], tests: testsIn('sqlite/journal') }),
  part('postgres', { lines: LINES }),
  part('archive', {
    tests: [...testsIn('archive'), 'test/cli/database/backup.test.ts'],
    lines: LINES,
  }),
  part('database', { tests: ['test/database/!(postgres).test.ts', CONTRACT] }),
  // The contract has the tests of `records/` in a noun, and the records those of its pages.
  ...NOUNS.map((noun) =>
    part(noun, { tests: [...testsIn(noun), CONTRACT, ...RECORDS], lines: LINES }),
  ),
  part('directory', { tests: [CONTRACT, ...RECORDS], lines: LINES }),
  part('dashboard', { tests: [...testsIn('dashboard'), ...RECORDS], lines: LINES }),
  part('web', { lines: LINES }),
]

function part(folder: string, options: Partial<Part> = {}): Part {
  return { folder, mutate: [`src/${folder}/**/*.ts`], tests: testsIn(folder), ...options }
}

function testsIn(folder: string): string[] {
  return [`test/${folder}/**/*.test.ts`]
}

/** Throws if a pattern matches no file, because a script would silently skip a renamed file. */
export function assertExist(patterns: readonly string[]): void {
  for (const pattern of patterns)
    if (globSync(pattern).length === 0) throw new Error(`there is no file ${pattern}`)
}
