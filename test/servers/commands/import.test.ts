import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addAda } from '../../cli/ada.ts'
import { assertRefused, commandsIn } from '../../cli/command.ts'

const IMPORT = 'server import --user ada@example.com'

test('a value that is nested thousands deep is refused in a line', async (t) => {
  const program = commandsIn(t)
  await addAda(program)
  const deep = `[{"name":${'['.repeat(5_000)}${']'.repeat(5_000)},"address":"a.example"}]`
  const nested = await program.run(`${IMPORT} -`, { stdin: deep })
  assertRefused(nested, 1, 'entry 1: "name" must be a string: [[[[')
})

test('a long import shows progress on a terminal and none in a pipe', async (t) => {
  const program = commandsIn(t)
  await addAda(program)
  const stdin = JSON.stringify(
    Array.from({ length: 4_001 }, (_, n) => ({ name: `${n}`, address: `s${n}.example.com` })),
  )
  const last = 'imported 4,001 servers for ada@example.com'
  const piped = await program.run(`${IMPORT} -`, { stdin })
  assert.equal(piped.stderr, `${last}: 4,001 new, 0 changed, 0 unchanged\n${program.place}`)

  const shown = await program.run(`${IMPORT} -`, { stdin, hasTerminal: true })
  assert.equal(shown.stdout, '')
  // Each line overwrites the one before, and the final message overwrites the last.
  const lines = shown.stderr.replaceAll('\u001b[K', '<').split('\r').slice(1)
  const said = lines.pop()
  const parts = lines.map((line) => /^imported ([\d,]+) of 4,001 servers<$/.exec(line)?.[1])
  assert.ok(parts.length > 1 && parts.every((part) => part !== undefined), shown.stderr)
  assert.equal(parts.at(-1), '4,001')
  assert.equal(said, `<${last}: 0 new, 0 changed, 4,001 unchanged\n${program.place}`)
})
