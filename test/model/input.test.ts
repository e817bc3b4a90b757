import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { complaintAboutError, decodeText, readText, withinBounds } from '../../src/model/input.ts'
import { temporaryFolder } from '../fixtures/folder.ts'

const UTF_16 = 'is UTF-16 text. Save it as UTF-8 and try again'
const SPREADSHEET = 'is a spreadsheet or a ZIP file. Save the sheet as CSV and try again'
const OTHER = 'is not a text file'
const LATIN = 'is not UTF-8 text. Save it as UTF-8 (in Excel, “CSV UTF-8”) and try again'

const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16()

test('text is UTF-8, with or without a byte order mark', () => {
  for (const text of ['', 'ä', 'a', '\n', '[{"name":"\u{1F600}"}]', 'PK', '\u0001'])
    for (const mark of ['', '\uFEFF'])
      assert.deepEqual(decodeText(Buffer.from(`${mark}${text}`)), { text })
  // Only the first mark is none of the text.
  assert.deepEqual(decodeText(Buffer.from('\uFEFF\uFEFFa')), { text: '\uFEFFa' })
})

test('what is often taken for text is told by its first bytes', () => {
  for (const [bytes, complaint] of [
    [Buffer.from('\uFEFFname', 'utf16le'), UTF_16],
    [Buffer.from('\uFEFF', 'utf16le'), UTF_16],
    [utf16be('\uFEFFname'), UTF_16],
    [Buffer.from('name', 'utf16le'), UTF_16],
    [utf16be('name'), UTF_16],
    [Buffer.from('\nA', 'utf16le'), UTF_16],
    [Buffer.from('PK\u0003\u0004rest'), SPREADSHEET],
    [Buffer.from('d0cf11e0a1b11ae1', 'hex'), SPREADSHEET],
    [Buffer.from('89504e470d0a1a0a00', 'hex'), OTHER],
    [Buffer.from('a\0'), OTHER],
    [Buffer.from('\n\0\0\0'), OTHER],
    [Buffer.from('\0\0\0\0'), OTHER],
    [Buffer.from('Müller', 'latin1'), LATIN],
  ] as const)
    assert.deepEqual(decodeText(bytes), { complaint }, bytes.toString('hex'))
})

test('a text that a setting names has at most one MB, and other inputs 256', async (t) => {
  const file = join(temporaryFolder(t), 'file')
  const longest = 'a'.repeat(1024 * 1024)
  writeFileSync(file, longest)
  const read = readText(file, 'X')
  assert.ok('text' in read && read.text === longest)
  writeFileSync(file, `${longest}b`)
  for (const path of [file, '/dev/zero'])
    assert.deepEqual(readText(path, 'X'), { complaint: 'cannot read X: it is larger than 1 MB' })

  const megabyte = Buffer.alloc(1024 * 1024)
  const readParts = async (length: number) => {
    const given = Readable.from(Array.from({ length }, () => megabyte))
    let parts = 0
    for await (const part of withinBounds(given)) parts += part.length / megabyte.length
    return parts
  }
  assert.equal(await readParts(256), 256)
  const error = await readParts(257).catch((thrown: unknown) => thrown)
  assert.equal(complaintAboutError(error), 'is larger than 256 MB')
})

test('each input that cannot be read has a reason', (t) => {
  const folder = temporaryFolder(t)
  const file = join(folder, 'file')
  writeFileSync(file, '\uFEFFtext\n')
  mkdirSync(join(folder, 'empty'))
  assert.deepEqual(readText(file, 'X'), { text: 'text\n' })
  for (const [path, complaint] of [
    [join(folder, 'none'), 'does not exist'],
    [join(file, 'below'), 'does not exist'],
    [join(folder, 'empty'), 'is a folder'],
    ['/dev/null', 'is empty'],
    // Even root can't read its first byte.
    ['/proc/self/mem', "can't be read: EIO"],
  ] as const)
    assert.deepEqual(readText(path, 'X'), { complaint: `cannot read X: it ${complaint}` })
  assert.equal(complaintAboutError({ code: 'EACCES' }), 'is closed to this user')
  assert.equal(complaintAboutError({ code: 'ENXIO' }), 'is a socket. Name a file or a pipe')
  assert.equal(complaintAboutError(new Error('too long')), "can't be read: too long")
})
