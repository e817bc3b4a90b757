import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findDifferences } from '../../scripts/moves/differences.ts'
import { renamesOf } from '../../scripts/moves/renames.ts'

/*
 * What the check of a move commit accepts, and what it finds.
 */

const FILES = ['src/a/user.ts', 'src/a/key.ts', 'src/a/sql/1.sql', 'src/b.ts', 'docs/a.md']
const renames = renamesOf(
  FILES,
  new Map([
    ['src/a/user.ts', 'src/accounts/user.ts'],
    ['src/a/sql/1.sql', 'src/accounts/sql/1.sql'],
  ]),
)

function check(path: string, before: string, after: string) {
  return findDifferences({ path, newPath: renames.of(path), before, after }, renames)
}

test('imports may name moved files, in another order and on other lines', () => {
  const before = `import { type User, find } from './a/user.ts'\nimport { key } from './a/key.ts'\nfind(key)\n`
  const after = `import { key } from './a/key.ts'\nimport {\n  find,\n  type User,\n} from './accounts/user.ts'\nfind( key )\n`
  assert.deepEqual(check('src/b.ts', before, after), { differences: [], paths: [] })
})

test('an import of another file, of another name or of a value instead of a type is found', () => {
  const before = `import type { User } from './a/user.ts'\n`
  for (const after of [
    `import type { User } from './a/key.ts'\n`,
    `import type { User } from './a/user.ts'\n`,
    `import type { Person as User } from './accounts/user.ts'\n`,
    `import { User } from './accounts/user.ts'\n`,
  ]) {
    const { differences } = check('src/b.ts', before, after)
    assert.equal(differences.length, 2, after)
    assert.match(differences[0]!, /^src\/b\.ts:1: new: import /)
    assert.match(differences[1]!, /gone: import type User User from src\/accounts\/user\.ts$/)
  }
})

test('an import() and a relative path must name the same file, and are listed', () => {
  const before = `await import('./a/user.ts')\nnew URL('./a/sql/', import.meta.url)\n`
  const after = `await import('./accounts/user.ts')\nnew URL('./accounts/sql/', import.meta.url)\n`
  const { differences, paths } = check('src/b.ts', before, after)
  assert.deepEqual(differences, [])
  assert.deepEqual(paths, [
    'src/b.ts:1: ./a/user.ts → ./accounts/user.ts',
    'src/b.ts:2: ./a/sql/ → ./accounts/sql/',
  ])
  assert.deepEqual(check('src/b.ts', before, before).differences, [
    "src/b.ts:1: './a/user.ts' is not src/accounts/user.ts, which './a/user.ts' was",
    "src/b.ts:2: './a/sql/' is not src/accounts/sql, which './a/sql/' was",
  ])
})

test('a relative path of a moved file must change, too', () => {
  const before = `readFileSync(new URL('./key.ts', import.meta.url))\n`
  assert.deepEqual(check('src/a/user.ts', before, before).differences, [
    "src/accounts/user.ts:1: './key.ts' is not src/a/key.ts, which './key.ts' was",
  ])
  const after = before.replace('./key.ts', '../a/key.ts')
  assert.deepEqual(check('src/a/user.ts', before, after).differences, [])
})

test('dots are a path only beside import.meta', () => {
  const before = `new URL('..', import.meta.url)\njoin(import.meta.dirname, '../..')\n`
  assert.deepEqual(check('src/a/user.ts', before, before), { differences: [], paths: [] })
  for (const other of [`'../'`, `'.'`, `\`\${a}.\${b}\``])
    assert.deepEqual(check('src/a/user.ts', other, other), { differences: [], paths: [] })
})

test('other code, another string and another comment are found with their lines', () => {
  const before = `import { a } from './a/key.ts'\n\n// One.\na('x', 1)\n`
  for (const [from, to, line] of [
    ['1)', '2)', 4],
    [`'x'`, `'y'`, 4],
    ['One.', 'Two.', 3],
    ['a(', 'await a(', 4],
    ['1)', '1)\na()', 5],
    ['// One.\n', '', 1],
  ] as const) {
    const { differences } = check('src/b.ts', before, before.replace(from, to))
    assert.equal(differences.length, 1, to)
    assert.ok(differences[0]!.startsWith(`src/b.ts:${line}: `), differences[0])
  }
})

test('a document may change paths and line ends only', () => {
  const before = 'Users are in `a/user.ts`,\nsee [there](../src/a/user.ts).\n'
  const after = 'Users are in\n`accounts/user.ts`, see [there](../src/accounts/user.ts).\n'
  assert.equal(renames.inText(before, 'docs'), after.replace('in\n', 'in ').replace('`, ', '`,\n'))
  assert.deepEqual(check('docs/a.md', before, after), { differences: [], paths: [] })
  const { differences } = check('docs/a.md', before, after.replace('Users', 'Some'))
  assert.equal(differences.length, 1)
  assert.ok(differences[0]!.startsWith('docs/a.md:1: other words'))
})
