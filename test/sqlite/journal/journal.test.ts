import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { NotConfigured, NotJournaled } from '../../../src/model/faults.ts'
import { appendToJournal, journalOf, readJournal } from '../../../src/sqlite/journal/journal.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'

const [ONE, TWO, THREE] = ['1'.repeat(64), '2'.repeat(64), '3'.repeat(64)]
const LINE = `1970-01-01T00:00:00.000007Z key ${ONE}`

/** The journal beside a file that stands for a database. */
function journalIn(t: TestContext): string {
  const path = join(temporaryFolder(t), 'listing.db')
  writeFileSync(path, '')
  return journalOf(path)
}

test('a journal gives back the first instant of each hash, and only its owner can read it', async (t) => {
  const journal = journalIn(t)
  assert.deepEqual(readJournal(journal, assert.ifError), new Map())
  await appendToJournal(journal, new Map([[ONE, 7]]))
  await appendToJournal(
    journal,
    new Map([
      [TWO, -3],
      [ONE, 9],
    ]),
  )
  assert.deepEqual(
    [...readJournal(journal, assert.ifError)],
    [
      [ONE, 7],
      [TWO, -3],
    ],
  )
  assert.ok(readFileSync(journal, 'utf8').startsWith(`\n${LINE}\n`))
  assert.equal(statSync(journal).mode & 0o777, 0o600)
})

test('a line that a crash has cut anywhere revokes nothing, and is no fault later either', async (t) => {
  const journal = journalIn(t)
  const hashes = () => [...readJournal(journal, assert.ifError).keys()]
  for (let length = 0; length < LINE.length; length += 1) {
    for (const cut of [LINE.slice(0, length), `${LINE.slice(0, length)}${'\0'.repeat(5)}`]) {
      for (const before of ['', `\n${LINE}\n`]) {
        const known = before === '' ? [] : [ONE]
        writeFileSync(journal, `${before}\n${cut}`)
        assert.deepEqual(hashes(), known, cut)
        // A second crash cuts off the next line.
        appendFileSync(journal, `\n${cut}`)
        if (length > 0) assert.deepEqual(hashes(), known, cut)
        await appendToJournal(journal, new Map([[TWO, 2]]))
        assert.deepEqual(hashes(), [...known, TWO], cut)
        await appendToJournal(journal, new Map([[THREE, 3]]))
        assert.deepEqual(hashes(), [...known, TWO, THREE], cut)
      }
    }
  }
})

const FOREIGN: [what: string, make: (path: string) => void][] = [
  ['a folder', (path) => mkdirSync(path)],
  ['a link to a file', (path) => linkTo(path, `${path}.target`, LINE)],
  ['a link to nothing', (path) => symlinkSync(`${path}.missing`, path)],
  ['a pipe', (path) => execFileSync('mkfifo', [path])],
]

function linkTo(path: string, target: string, text: string): void {
  writeFileSync(target, text)
  symlinkSync(target, path)
}

for (const [what, make] of FOREIGN)
  test(`${what} in place of the journal is neither read nor written`, async (t) => {
    const journal = journalIn(t)
    make(journal)
    assert.throws(
      () => readJournal(journal, assert.ifError),
      isSentence(NotConfigured, /^cannot read the journal/),
    )
    await assert.rejects(
      appendToJournal(journal, new Map([[TWO, 2]])),
      isSentence(NotJournaled, /^cannot write the journal/),
    )
    rmSync(journal, { recursive: true })
    await appendToJournal(journal, new Map([[ONE, 7]]))
    assert.deepEqual([...readJournal(journal, assert.ifError)], [[ONE, 7]])
  })

test("another program's file in place of the journal is refused", (t) => {
  const journal = journalIn(t)
  for (const text of ['{"users":[]}\n', 'SQLite format 3\0', LINE.toUpperCase(), 'hello\n']) {
    writeFileSync(journal, text)
    assert.throws(
      () => readJournal(journal, assert.ifError),
      isSentence(NotConfigured, /no line of a journal/),
    )
  }
  // Lines that a disk has damaged don't take the others along.
  appendFileSync(journal, `\n${LINE}\n`)
  const faults: Error[] = []
  assert.deepEqual([...readJournal(journal, (fault) => faults.push(fault))], [[ONE, 7]])
  assert.equal(faults.length, 1)
})

test('a damaged line is a fault for the log, and a line in upper case counts', (t) => {
  const journal = journalIn(t)
  const faults: Error[] = []
  const read = (text: string) => {
    writeFileSync(journal, text)
    return [...readJournal(journal, (fault) => faults.push(fault)).keys()]
  }
  const hash = 'ab'.repeat(32)
  assert.deepEqual(read(`\n${LINE.replace(ONE, hash.toUpperCase())}\n`), [hash])
  // A crash has cut off the first line, and a union has written it again.
  assert.deepEqual(read(`\n${LINE.slice(0, -1)}\n${LINE}\n\n${LINE.slice(0, 9)}\0\0`), [ONE])
  assert.deepEqual(faults, [])
  assert.deepEqual(read(`\n${LINE}\n\n${LINE.replace('key', 'kex')}\n`), [ONE])
  assert.deepEqual(
    faults.map(({ message }) => message),
    [
      `cannot read the journal of revocations ${journal}: line 4 is not an instant, the word key ` +
        'and 64 hexadecimal digits; put what a copy of the journal has there in its place; without ' +
        'it, revoked keys could work again',
    ],
  )
})

function isSentence(kind: new () => Error, message: RegExp) {
  return (error: unknown) => error instanceof kind && message.test(error.message)
}
