import assert from 'node:assert/strict'
import { test } from 'node:test'
import { terminalLines } from '../../src/log/terminal-lines.ts'

const line = (fields: object) =>
  terminalLines(JSON.stringify({ level: 'error', time: '2026-01-02T03:04:05.006Z', ...fields }))

process.env.NO_COLOR = '1'

test('a line has the local time, the level and the message, and its fields stand below', () => {
  const minute = new Date('2026-01-02T03:04:05.006Z').toTimeString().slice(0, 8)
  assert.equal(
    line({ fault: 'ListFault', status: 502, msg: 'fault' }),
    `[${minute}.006] ERROR: fault\n    fault: ListFault\n    status: 502\n`,
  )
})

test('the lines of a stack are indented', () => {
  assert.match(
    line({ stack: 'Error: no\n    at a\n    at b', msg: 'fault' }),
    /\n {4}stack: Error: no\n {10}at a\n {10}at b\n$/,
  )
})

test('text from outside cannot control the terminal', () => {
  const text = line({ reason: 'a\u001b[2Jb\u0007c\rd\u009b31me', msg: 'x\u001b]0;title\u0007y' })
  assert.doesNotMatch(text, /[^\P{Cc}\n]/u)
  assert.match(text, /reason: abcde\n$/)
})
