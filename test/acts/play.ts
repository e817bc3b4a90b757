import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { runCommand } from '../cli/command.ts'
import { wordsOf } from '../records/commands.ts'
import type { Input } from '../records/transcript.ts'
import type { Carrier } from './carriers.ts'
import { readLines } from './document.ts'
import type { Stage } from './stage.ts'
import type { Lines } from './table.ts'

/** What comes of a case. One without a document is a command of an operator. */
export async function play(
  stage: Stage,
  carrier: Carrier,
  { goesOn, text, stdin }: Input,
): Promise<Lines> {
  if (!goesOn) await stage.restore()
  const earlier = new Set(await stage.ask())
  const lines = stdin === '' ? await command(stage, text) : await send(stage, carrier, stdin)
  const answers = await stage.ask()
  return lines && [...lines, ...answers.filter((line) => !earlier.has(line))]
}

async function command(stage: Stage, text: string): Promise<string[]> {
  const [{ code, stderr }, rows] = await stage.during('command line', () =>
    runCommand(wordsOf(text), { env: { DATABASE_URL: stage.url } }),
  )
  assert.equal(code, 0, stderr)
  return rows
}

/**
 * Sends the document twice. The second time nothing is left to do and no row changes: what is
 * otherwise stands behind `again:`.
 */
async function send(stage: Stage, carrier: Carrier, stdin: string): Promise<Lines> {
  const document = readLines(stdin.trimEnd().split('\n'))
  if (!carrier.takes(document)) return null
  const once = async () => {
    const [told, rows] = await stage.during(carrier.address, () => carrier.send(document))
    return [...told, ...rows]
  }
  const first = await once()
  const second = await once()
  const idle = first
    .filter((line) => /^[=!]/.test(line))
    .map((line) => line.replace(/^(= \w+): .*/, '$1: nothing'))
  if (isDeepStrictEqual(second, idle)) return first
  return [...first, ...second.map((line) => `again: ${line}`)]
}
