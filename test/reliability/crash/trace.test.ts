import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTrace } from './trace.ts'

const OPEN = `1 openat(AT_FDCWD, "${hex('/data/listing.db-wal')}", O_RDWR|O_CREAT, 0600) = 5`
const WRITE = `1 pwrite64(5, "${hex('row')}", 3, 0) = 3`

test('a synchronization keeps the changes from before it began, not those during it', () => {
  assert.deepEqual(syncsIn(OPEN, WRITE, '2 fdatasync(5) = 0'), [1])
  assert.deepEqual(
    syncsIn(OPEN, WRITE, '2 fdatasync(5 <unfinished ...>', WRITE, '2 <... fdatasync resumed>) = 0'),
    [1],
  )
})

test('the begin of a call to another file does not count for a later synchronization', () => {
  const other = ['2 write(9, "00" <unfinished ...>', WRITE, '2 <... write resumed>, 8) = 8']
  assert.deepEqual(syncsIn(OPEN, ...other, '2 fdatasync(5) = 0'), [1])
  const failed = ['2 fdatasync(5 <unfinished ...>', WRITE, '2 <... fdatasync resumed>) = -1 EIO']
  assert.deepEqual(syncsIn(OPEN, ...failed, '2 fdatasync(5) = 0'), [1])
})

/** The number of changes that each synchronization keeps. */
function syncsIn(...lines: string[]): number[] {
  const events = readTrace(lines.join('\n'), '/data/listing.db')
  return events.flatMap((event) => (event.event === 'sync' ? [event.changes] : []))
}

/** A string as strace prints it with -xx. */
function hex(text: string): string {
  return Array.from(Buffer.from(text), (byte) => `\\x${byte.toString(16)}`).join('')
}
