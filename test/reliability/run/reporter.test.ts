import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { entryOf } from '../../run/entries.ts'

const REPORTER = fileURLToPath(new URL('../../run/reporter.ts', import.meta.url))
const EXIT = new URL('../../run/exit.ts', import.meta.url).href

/** `isShared` runs the files in one process, each with this limit. */
function lastLines(
  t: TestContext,
  files: Record<string, string>,
  { isShared = false, limitMs = 30_000 } = {},
) {
  const folder = temporaryFolder(t)
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(folder, name), `import { suite, test } from 'node:test'\n${text}`)
  const entries = isShared ? ['all.folder.mjs'] : []
  for (const entry of entries)
    writeFileSync(
      join(folder, entry),
      entryOf(Object.keys(files), pathToFileURL(`${folder}/`), () => limitMs),
    )
  const args = ['--test', '--test-concurrency=2', `--test-reporter=${REPORTER}`, `--import=${EXIT}`]
  const { status, stdout } = spawnSync(process.execPath, [...args, ...entries], {
    cwd: folder,
    encoding: 'utf8',
    // Without NODE_TEST_CONTEXT, which makes a child report to this run.
    env: { PATH: process.env.PATH, EXIT_GRACE_MS: '500', TEST_RESULTS: join(folder, 'results') },
  })
  const lines = stdout.trimEnd().split('\n')
  const results = readFileSync(join(folder, 'results'), 'utf8').trimEnd().split('\n')
  return { status, lines: lines.slice(lines.lastIndexOf('') + 1), results, stdout }
}

test('the last lines name and count the failed and skipped tests', (t) => {
  const { status, lines } = lastLines(t, {
    'a.test.mjs': `suite('outer', () => {
        suite('inner', () => { test('is wrong', () => { throw new Error('no') }); test('is right', () => {}) })
        test('is wrong as well', () => { throw new Error('no') })
      })
      test('is left out', (t) => t.skip())`,
    'b.test.mjs': `import tests from './shared.mjs'\nsuite('elsewhere', tests)`,
    'c.test.mjs': `import 'node:nothing'`,
    'd.test.mjs': `import { after } from 'node:test'
      suite('cannot be closed', () => { after(() => { throw new Error('no') }); test('is right', () => {}) })`,
    'shared.mjs': `export default () => test('is wrong here', () => { throw new Error('no') })`,
  })
  assert.equal(status, 1)
  assert.deepEqual(lines.filter((line) => !line.startsWith(' ')).toSorted(), [
    '2 passed, 6 failed',
    'failed: a.test.mjs: outer > inner > is wrong',
    'failed: a.test.mjs: outer > is wrong as well',
    'failed: b.test.mjs: elsewhere > is wrong here',
    'failed: c.test.mjs: its process exited with code 7',
    'failed: d.test.mjs: cannot be closed',
    'skipped: a.test.mjs: is left out',
  ])
  assert.equal(lines.at(-1), '2 passed, 6 failed')
})

test('the name of a failed test is followed by the first lines of its error, indented', (t) => {
  const { lines } = lastLines(t, {
    'a.test.mjs': `test('is wrong', () => { throw new Error('no row\\n\\n9 passed, 9 failed' + '\\nx'.repeat(50)) })`,
  })
  assert.deepEqual(lines.slice(0, 4), [
    'failed: a.test.mjs: is wrong',
    '    no row',
    '    9 passed, 9 failed',
    '    x',
  ])
  assert.deepEqual([lines.length, lines.at(-1)], [22, '0 passed, 1 failed'])
})

test('when all tests pass, the last line counts them and nothing else is named', (t) => {
  const { status, lines } = lastLines(t, { 'a.test.mjs': `test('is right', () => {})` })
  assert.deepEqual([status, lines], [0, ['1 passed, 0 failed']])
})

test('a file without a test fails and is named', (t) => {
  const { status, lines } = lastLines(t, {
    'a.test.mjs': `suite('empty', () => {})`,
    'b.test.mjs': `export default 'no tests'`,
    'c.test.mjs': `test('is right', () => {})`,
  })
  assert.deepEqual(
    [status, lines],
    [
      1,
      [
        'failed: a.test.mjs: it contains no test',
        'failed: b.test.mjs: it contains no test',
        '1 passed, 2 failed',
      ],
    ],
  )
})

test('a failure in a process that several files share names the file', (t) => {
  const { status, lines } = lastLines(
    t,
    {
      'a.mjs': `test('is wrong', () => { throw new Error('no') }); test('is right', () => {})`,
      'b.mjs': `import 'node:nothing'`,
      'c.mjs': `suite('empty', () => {})`,
      'd.mjs': `suite('outer', () => { test('is right here', () => {}) })`,
    },
    { isShared: true },
  )
  assert.equal(status, 1)
  assert.deepEqual(
    lines.filter((line) => !line.startsWith(' ')),
    [
      'failed: a.mjs: is wrong',
      'failed: b.mjs',
      'failed: c.mjs: it contains no test',
      '2 passed, 3 failed',
    ],
  )
})

for (const [end, words] of [
  ['process.exit(3)', 'exited with code 3'],
  ["process.kill(process.pid, 'SIGKILL')", 'was ended by SIGKILL'],
])
  test(`a shared process that ${words} names the file that it ran`, (t) => {
    const { status, lines } = lastLines(
      t,
      {
        'a.mjs': `test('is right', () => {})`,
        'b.mjs': `suite('outer', () => { test('ends it', () => { ${end} }) })`,
        'c.mjs': `test('is right, too', () => {})`,
      },
      { isShared: true },
    )
    assert.equal(status, 1)
    assert.equal(lines[0], `failed: b.mjs: its process ${words}`)
  })

test('a file that takes longer than its limit fails, and the test that hangs is named', (t) => {
  const { status, lines } = lastLines(
    t,
    {
      'a.mjs': `test('is right', () => {})
        test('hangs', ({ signal }) => new Promise((resolve) => {
          const timer = setTimeout(resolve, 30_000)
          signal.addEventListener('abort', () => clearTimeout(timer))
        }))`,
      'b.mjs': `test('is right, too', () => {})`,
    },
    { isShared: true, limitMs: 500 },
  )
  assert.equal(status, 1)
  assert.deepEqual(lines, [
    'failed: a.mjs: hangs',
    '    test did not finish before its parent and was cancelled',
    'failed: a.mjs',
    '    test timed out after 500ms',
    '2 passed, 2 failed',
  ])
})

test('a process that does not exit is ended, and its file and open handles are named', (t) => {
  const { status, lines, stdout } = lastLines(t, {
    'a.test.mjs': `import { createServer } from 'node:net'
      test('leaks a socket', () => { createServer().listen(0) })`,
    'b.test.mjs': `test('is right', () => {})`,
  })
  assert.equal(status, 1)
  assert.deepEqual(lines, [
    'failed: a.test.mjs: its process did not exit after its tests',
    '2 passed, 1 failed',
  ])
  assert.match(stdout, /a\.test\.mjs did not exit 500 ms after its last test\. Still open: .*TCP/)
})

test('the last lines also go to the file that TEST_RESULTS names', (t) => {
  const { lines, results } = lastLines(t, { 'a.test.mjs': `test('is wrong', () => { throw 1 })` })
  assert.deepEqual(lines, ['failed: a.test.mjs: is wrong', '    1', '0 passed, 1 failed'])
  assert.deepEqual(results, lines)
})
