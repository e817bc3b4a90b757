import assert from 'node:assert/strict'
import { createReadStream, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { backUpSqlite } from '../../src/archive/sqlite-backup.ts'
import { readRevocations } from '../../src/open-store.ts'
import { breakRows } from './broken-rows.ts'
import { change, filledFile, files, hashOf, restoreFile, rows } from './files.ts'

/*
 * A list of revoked keys that an operator names is read whole or refused.
 */

const at = (microseconds: number) => `1970-01-01T00:00:00.00000${microseconds}Z`
const lineOf = (number: number) => `${at(number)} key ${hashOf(number)}`
const LETTERS = 'abcdef'.repeat(10).padEnd(64, '0')
const PLACE = 'is not an instant, the word key and 64 hexadecimal digits'
const LEAVE_OUT = 'Leave --revocations out if nothing was ever revoked'

/** A file with a list, and what reading it gives. */
function listIn(t: TestContext) {
  const { folder } = files(t)
  const path = join(folder, 'list')
  const read = async (content: string | Buffer) => {
    writeFileSync(path, content)
    return [...(await readRevocations([path], createReadStream))]
  }
  const refused = (content: string | Buffer, reason: string) =>
    assert.rejects(read(content), {
      name: 'NotRestored',
      message: `cannot read revocations from ${path}: ${reason}`,
    })
  return { folder, path, read, refused }
}

test('a list counts as editors, spreadsheets and SQL write it', async (t) => {
  const { read } = listIn(t)
  const expected = [
    [hashOf(1), 1],
    [hashOf(2), 2],
  ]
  const [one, two] = [lineOf(1), lineOf(2)]
  for (const text of [
    `\n${one}\n\n${two}\n`,
    `${one}\n${two}`,
    `${one}\r\n${two}\r\n`,
    `\uFEFF${one}\n${two}\n`,
    // The first instant of a hash counts.
    `${one}\n${two}\n${at(7)} key ${hashOf(1)}\n`,
  ])
    assert.deepEqual(await read(text), expected, JSON.stringify(text))
  for (const hex of [LETTERS, LETTERS.toUpperCase(), LETTERS.replaceAll('a', 'A')])
    assert.deepEqual(await read(`${at(1)} key ${hex}\n`), [[LETTERS, 1]])
})

test('a list may have what a crash has cut off, at its end or directly above the next append', async (t) => {
  const { read, refused } = listIn(t)
  const [one, two, three] = [lineOf(1), lineOf(2), lineOf(3)]
  for (let length = 1; length < two.length; length += 1) {
    const torn = two.slice(0, length)
    for (const text of [`${one}\n${torn}`, `${one}\n${torn}\0\0\0`])
      assert.deepEqual([...new Map(await read(text)).keys()], [hashOf(1)])
    for (const text of [
      `\n${torn}\n${two}\n\n${three}\n`,
      `\r\n${torn}\r\n${two}\r\n\r\n${three}\r\n`,
      `\n${torn}\0\0\n${two}\n${three}`,
      // A crash has cut off the repetition, too.
      `\n${torn}\n${torn}\n${two}\n\n${three}\n`,
      `\n${two}\n\n${torn}\n${three}\n`,
    ])
      assert.deepEqual([...new Map(await read(text)).keys()], [hashOf(2), hashOf(3)])
    // With a line break of its own, a part of a line is not what a crash has left.
    await refused(`${one}\n${torn}\n`, `line 2 ${PLACE}. Mend or delete the line`)
    await refused(`\n${torn}\n\n${two}\n`, `line 2 ${PLACE}. Mend or delete the line`)
  }
})

test('a line that is cut in the middle of a list is refused with its number', async (t) => {
  const { refused } = listIn(t)
  const [one, two, three] = [lineOf(1), lineOf(2), lineOf(3)]
  const [cut, inside] = [two.slice(0, -56), two.slice(5, -5)]
  for (const text of [
    // Without blank lines it is no copy of a journal, and a crash has not cut off the line.
    `${two}\n${cut}\n${three}\n`,
    `${one}\n${cut}\n${two}\n`,
    `${one}\n${cut}\n${three}\n${two}\n`,
    `${one}\n${inside}\n${two}\n`,
    `${one}\n\0${two.slice(1, -1)}\n${two}\n`,
  ])
    await refused(text, `line 2 ${PLACE}. Mend or delete the line`)
  // All that a bulk revocation lists has one instant.
  const bulk = (digit: number) => `${at(5)} key ${`${digit}`.repeat(64)}`
  await refused(
    `${bulk(1)}\n${at(5)} key 2\n${bulk(2)}\n`,
    `line 2 ${PLACE}. Mend or delete the line`,
  )
})

test('the time to read a list grows with its length alone', async (t) => {
  const { refused } = listIn(t)
  const numbers = Array.from({ length: 40_000 }, (_, index) => index + 1).join('\n')
  const parts = `${lineOf(1).slice(0, -1)}\n`.repeat(40_000)
  const begun = performance.now()
  await refused(numbers, `line 1 (and 39,998 lines more) ${PLACE}. Mend or delete the line`)
  await refused(
    `${parts}${lineOf(2)}\n`,
    `line 1 (and 39,999 lines more) ${PLACE}. Mend or delete the line`,
  )
  // One that looked for each line in all others took 25 seconds.
  assert.ok(performance.now() - begun < 5_000)
})

test('a line that does not parse is an error with its number', async (t) => {
  const { refused } = listIn(t)
  const [one, two] = [lineOf(1), lineOf(2)]
  for (const wrong of [
    hashOf(2),
    `${two}0`,
    two.slice(0, -1),
    two.replace(' key ', ' user '),
    two.replace(' key ', ' KEY '),
    two.replace('01-01', '02-30'),
    `# ${two}`,
    `${two} `,
    'hello',
  ])
    await refused(`\n${one}\n\n${wrong}\n\n${one}\n`, `line 4 ${PLACE}. Mend or delete the line`)
  await refused(`${one}\nhello`, `line 2 ${PLACE}. Mend or delete the line`)
  await refused(
    `no\n${one}\nno\nno\n`,
    `line 1 (and 2 lines more) ${PLACE}. Mend or delete the line`,
  )
})

test('a list without a key is an error that says how to go on', async (t) => {
  const { folder, path, read, refused } = listIn(t)
  for (const text of ['', '\n', '\n\n', '\uFEFF', lineOf(1).slice(0, -1)])
    await refused(text, `it lists no key. ${LEAVE_OUT}`)
  await assert.rejects(readRevocations([join(folder, 'none')], createReadStream), {
    message: `cannot read revocations from ${folder}/none: it does not exist. ${LEAVE_OUT}`,
  })
  await assert.rejects(readRevocations(['/proc/self/mem'], createReadStream), {
    message: `cannot read revocations from /proc/self/mem: it can't be read: EIO. ${LEAVE_OUT}`,
  })
  mkdirSync(join(folder, 'folder'))
  await assert.rejects(readRevocations([join(folder, 'folder')], createReadStream), {
    message: `cannot read revocations from ${folder}/folder: it is a folder. ${LEAVE_OUT}`,
  })
  // Another list does not stand in for one without a key.
  await read(lineOf(1))
  await assert.rejects(readRevocations([path, join(folder, 'none')], createReadStream))
})

test('a list in another format is an error that says what to do', async (t) => {
  const { refused } = listIn(t)
  const utf16 = 'it is UTF-16 text. Save it as UTF-8 and try again'
  for (const mark of ['', '\uFEFF']) {
    const bytes = Buffer.from(`${mark}${lineOf(1)}\n`, 'utf16le')
    await refused(bytes, utf16)
    await refused(bytes.swap16(), utf16)
  }
  await refused(
    Buffer.from('PK\u0003\u0004rest'),
    'it is a spreadsheet or a ZIP file. Save the sheet as CSV and try again',
  )
  const noText = 'it is not a text file'
  await refused(Buffer.from('89504e470d0a1a0a00', 'hex'), noText)
  await refused(Buffer.alloc(100_000), noText)
})

test('a list is read to its first bytes if they are no list', async (t) => {
  const { path } = listIn(t)
  let parts = 0
  const endless = (first: Buffer) =>
    async function* (): AsyncGenerator<Buffer> {
      for (parts = 0; parts < 10; parts += 1) yield first
    }
  for (const first of [
    Buffer.alloc(65_536),
    Buffer.from('a\u0001'),
    Buffer.from('PK\u0003\u0004'),
  ]) {
    await assert.rejects(readRevocations([path], endless(first)), /: it is (not a text|a spread)/)
    assert.equal(parts, 0)
  }
  // A crash may leave the first write of a journal as zeros.
  const late = `${'\0'.repeat(4_096)}\n${lineOf(1)}\n`
  const read = await readRevocations([path], async function* () {
    yield Buffer.from(late)
  })
  assert.deepEqual([...read.keys()], [hashOf(1)])
})

test('an archive is a list, whatever its journal is, and may list no key', async (t) => {
  const { path, target, content, backUp } = files(t)
  await filledFile(path, 2)
  await backUp()
  const read = async () => [...(await readRevocations([target], createReadStream)).keys()]
  assert.deepEqual(await read(), [])
  change(target, `UPDATE api_keys SET revoked_at = 5 WHERE key_hash = unhex('${hashOf(1)}')`)
  assert.deepEqual(await read(), [hashOf(1)])
  writeFileSync(`${target}-revoked`, `${lineOf(2)}\n`)
  assert.deepEqual((await read()).toSorted(), [hashOf(1), hashOf(2)])
  writeFileSync(`${target}-revoked`, `${lineOf(2)}\n\ndamaged\n`)
  const before = content()
  const refused = new RegExp(
    `-revoked: line 3 ${PLACE}; put what a copy of the journal has there in its place`,
  )
  await assert.rejects(read(), refused)
  await assert.rejects(restoreFile(path, target), refused)
  assert.deepEqual(content(), before)
})

test('the list of an archive is judged, and no other row of it', async (t) => {
  const { path, target, content, backUp } = files(t)
  await filledFile(path, 2)
  await backUp()
  breakRows(target, {
    sql: [
      'PRAGMA ignore_check_constraints = ON',
      `INSERT INTO revoked_hashes VALUES (7, unhex('${hashOf(1)}'), 1)`,
      `UPDATE servers SET name = CAST(X'E9' AS TEXT)`,
      `INSERT INTO passwords VALUES ('none', 'h')`,
    ],
  })
  const read = async () => [...(await readRevocations([target], createReadStream)).keys()]
  assert.deepEqual(await read(), [hashOf(1)])

  change(
    target,
    'PRAGMA ignore_check_constraints = ON',
    `INSERT INTO revoked_hashes VALUES (8, X'${'0A'.repeat(16)}', 1)`,
  )
  const before = content()
  const refused = {
    name: 'NotRestored',
    message:
      `cannot read revocations from ${target}: 1 row with a value that the CHECK of the column ` +
      `refuses: revoked_hashes ${'0A'.repeat(16)} (key_hash)\n` +
      '  → set the column to a value that the CHECK accepts, or delete the row',
  }
  await assert.rejects(read(), refused)
  await assert.rejects(restoreFile(path, path, [target]), refused)
  assert.deepEqual(content(), before)
})

test('what a refused list leaves behind is what was there', async (t) => {
  const { folder, path, content } = files(t)
  await filledFile(path, 1)
  const archive = join(folder, 'archive')
  await backUpSqlite(path, archive)
  const list = join(folder, 'list')
  writeFileSync(list, `${lineOf(1)}\nhello\n`)
  const before = content()
  await assert.rejects(restoreFile(path, archive, [list]), /list: line 2 /)
  assert.deepEqual(content(), before)
  writeFileSync(list, `${lineOf(1).toUpperCase().replace('KEY', 'key')}\n`)
  assert.equal((await restoreFile(path, archive, [list])).revoked, 1)
  assert.deepEqual(rows(path, 'SELECT revoked_at FROM api_keys'), [[1]])
})
