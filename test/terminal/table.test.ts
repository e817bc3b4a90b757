import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printTable } from '../../src/terminal/output.ts'
import type { Shell } from '../../src/terminal/shell.ts'

test('the columns of a table align beside wide letters, marks, emoji and spelled-out characters', () => {
  const written: string[] = []
  const stdout = { write: (text: string) => written.push(text) }
  const names = [
    'Lagoon',
    '서버',
    'サーバー',
    'cafe\u0301',
    '👨‍👩‍👧‍👦',
    '❤️',
    'می\u200cخواهم',
    'a\u200bb',
  ]
  printTable(
    { stdout } as unknown as Shell,
    ['NAME', 'ID'],
    names.map((name) => [name, '1']),
  )
  assert.deepEqual(written.join('').split('\n'), [
    'NAME        ID',
    'Lagoon      1',
    '서버        1',
    'サーバー    1',
    'cafe\u0301        1',
    '👨‍👩‍👧‍👦          1',
    '❤️          1',
    'می\u200cخواهم     1',
    'a\\u{200b}b  1',
    '',
  ])
})
