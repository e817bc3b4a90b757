import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { readBlocks } from './blocks.ts'
import { patternOf } from './output.ts'
import { openTerminal } from './terminal.ts'

const fits = (output: string, text: string) => patternOf(output).test(text)
const page = (...lines: string[]) => `${lines.join('\n')}\n`

test('a block of commands is read with its line, its output and the reason why it is not run', () => {
  const blocks = readBlocks(
    page(
      '# A',
      '```sh',
      'ls',
      '```',
      '',
      '```text',
      'a',
      '```',
      '<!-- not run: b -->',
      '```sh',
      '```',
      '<!-- as root -->',
      '```sh',
      'id',
      '```',
    ),
    'a.md',
  )
  assert.deepEqual(blocks, [
    { at: 'a.md:3', commands: 'ls\n', output: 'a\n', notRun: null, asRoot: false },
    { at: 'a.md:11', commands: '', output: null, notRun: 'b', asRoot: false },
    { at: 'a.md:14', commands: 'id\n', output: null, notRun: null, asRoot: true },
  ])
})

test('the blocks of a section are read alone, or left out', () => {
  const lines = ['```sh', 'a', '```', "## B's (c)", '```sql', '```', '### D', '```sh', 'd', '```']
  const sections: (string | undefined)[] = []
  const blocks = readBlocks(page(...lines, '## E', '```sh', 'e', '```'), 'a.md', (section) => {
    sections.push(section)
    return section !== 'bs-c'
  })
  assert.deepEqual(sections, [undefined, 'bs-c', 'bs-c', 'e'])
  assert.deepEqual(
    blocks.map(({ commands }) => commands),
    ['a\n', 'e\n'],
  )
})

test('a block in another language, indented, without an end or without commands is refused', () => {
  for (const lines of [
    ['```', 'ls', '```'],
    ['```console', '$ ls', '```'],
    ['- a', '  ```sh', '  ls', '  ```'],
    ['```sh', 'ls'],
    ['```text', 'a', '```'],
    ['```sh', 'ls', '```', 'prints:', '```text', 'a', '```'],
  ])
    assert.throws(() => readBlocks(page(...lines), 'a.md'), /^AssertionError.*: a\.md:\d+: /s)
})

test('an output matches the whole text, and only … leaves something open', () => {
  assert.ok(fits('id … (a.b)\n', 'id 12 (a.b)\n'))
  assert.ok(!fits('id … (a.b)\n', 'id 12 (aXb)\n'))
  assert.ok(!fits('id …\n', 'id 12\nmore\n'))
  assert.ok(!fits('b\n', 'ab\n'))
  assert.ok(fits('a\n…\nz\n', 'a\nz\n'))
  assert.ok(fits('a\n…\nz\n', 'a\nb\nc\nz\n'))
  assert.ok(!fits('a\n…\nz\n', 'a\nb\n'))
})

test('a terminal keeps variables, and ends at the first command that fails', async (t) => {
  const folder = temporaryFolder(t)
  const env = { PATH: process.env.PATH! }
  const terminal = openTerminal({ folder, scratch: folder, env, user: {} })
  t.after(() => terminal.close())
  assert.deepEqual(await terminal.run('a=1\n'), { output: '', isDone: true })
  assert.deepEqual(await terminal.run('echo $a; echo 2 >&2\n'), { output: '1\n2\n', isDone: true })
  assert.deepEqual(await terminal.run('echo 3; false | cat; echo 4\n'), {
    output: '3\n',
    isDone: false,
  })
  assert.deepEqual(await terminal.run('echo 5\n'), { output: '', isDone: false })
})
