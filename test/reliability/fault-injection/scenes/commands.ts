import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { everyCommand } from '../../../cli/every-command.ts'
import { temporaryFolder } from '../../../fixtures/folder.ts'
import { readCommandLine, runLine } from '../../../records/commands.ts'
import { watchNothing } from '../../../records/rows.ts'
import { DATABASE_STORIES, openStory, type Story } from '../../../records/story.ts'
import { type Input, isSuccess } from '../../../records/transcript.ts'
import { bounded, sweep } from '../sweep.ts'
import type { Tables } from '../tables.ts'
import type { Disturbance, Trap } from '../trap.ts'
import { operationOf, withoutVariables } from './command.ts'

/** A database, as the commands get it. */
export interface CommandScene {
  url: string
  tables(): Promise<Tables>
}

/** A database with a transcript of records/commands/. */
interface StoryScene extends Story, CommandScene {}

/** Why these commands are not tried. Groups have commands of their own. */
const UNTRIED: Record<string, string> = {
  serve: 'its requests and visits are tried',
  health: 'asks the running service only',
  conform: 'asks a service over HTTP only',
  config: 'opens no database',
  restore: 'test/archive/ and, on SQLite, a test of its own try it',
}

/**
 * Each command of the transcripts that does something else than those before it, with a fault at
 * each database call in turn.
 */
export function disturbedCommands<D extends Disturbance>(
  open: (t: TestContext) => Promise<CommandScene>,
  trap: Trap<D>,
  disturbances: readonly D[],
): void {
  test('commands: a failed one says so and has done all of its work or none', async (t) => {
    const commands = await leafCommands()
    const tried = new Map<string, string>()
    for (const story of DATABASE_STORIES) {
      const scene = await openScene(t, open, story)
      for (const [index, input] of scene.inputs.entries()) {
        // A restore may replace the file.
        if (withoutVariables(input.text).startsWith('restore ')) break
        const command = commands.find((name) =>
          `${withoutVariables(input.text)} `.startsWith(`${name} `),
        )
        const kind =
          index > 0 && isSuccess(input) && command !== undefined ? kindOf(command, input) : null
        if (kind !== null && !tried.has(kind)) {
          // All prepare the same statements, so that faults of preparing are tried with one only.
          const leftOut = tried.size === 0 ? [] : ['prepare']
          tried.set(kind, command!)
          const calls = await disturb(scene, input, trap, disturbances, { leftOut })
          t.diagnostic(`${input.text}: ${calls} calls`)
        }
        await scene.play(input)
      }
    }
    const known = new Set([...tried.values(), ...Object.keys(UNTRIED)])
    assert.deepEqual([...known].toSorted(), commands.toSorted())
  })
}

/** The command that replaces the file: its content is that of before or of the backup. */
export function disturbedRestore<D extends Disturbance>(
  open: (t: TestContext) => Promise<CommandScene>,
  trap: Trap<D>,
  disturbances: readonly D[],
  stride: number,
): void {
  test('restore: a failed one leaves the database as it was, or restores all of it', async (t) => {
    const scene = await openScene(t, open, 'archives')
    const at = scene.inputs.findIndex(({ text }) => /^restore .* --yes$/.test(text))
    for (const input of scene.inputs.slice(0, at)) await scene.play(input)
    const options = { leftOut: ['prepare'], stride }
    const calls = await disturb(scene, scene.inputs[at]!, trap, disturbances, options)
    t.diagnostic(`${calls} calls`)
  })
}

/** The command that creates the schema: each migration is applied or not. */
export function disturbedMigration<D extends Disturbance>(
  open: (t: TestContext) => Promise<CommandScene>,
  trap: Trap<D>,
  disturbances: readonly D[],
): void {
  test('migrate: repeated runs complete a migration that failed at any call', async (t) => {
    const scene = await openScene(t, open, 'archives')
    const [migrate] = scene.inputs
    const calls = await disturb(scene, migrate!, trap, disturbances, { leftOut: ['prepare'] })
    t.diagnostic(`${calls} calls`)
  })
}

async function openScene(
  t: TestContext,
  open: (t: TestContext) => Promise<CommandScene>,
  story: string,
): Promise<StoryScene> {
  const scene = await open(t)
  const [, path] = /^sqlite:(.*)/.exec(scene.url) ?? []
  const database =
    path === undefined
      ? { engine: 'postgres' as const, url: scene.url }
      : { engine: 'sqlite' as const, path }
  const opened = await openStory(t, story, database, temporaryFolder(t), { watch: watchNothing })
  return { ...scene, ...opened }
}

/**
 * Runs the input with the disturbances. The database is afterwards as it was before. Returns the
 * number of calls.
 */
async function disturb<D extends Disturbance>(
  { tables: openTables, place }: StoryScene,
  input: Input,
  trap: Trap<D>,
  disturbances: readonly D[],
  options: { leftOut: readonly string[]; stride?: number },
): Promise<number> {
  const tables = await openTables()
  await tables.remember()
  const line = readCommandLine(input, place)
  const first = await bounded(runLine(line), input.text)
  const again = await bounded(runLine(line), input.text)
  await tables.restore()
  const operation = { ...operationOf(input, line, { first, again }), ...options }
  let calls = 0
  for (const disturbance of disturbances) calls += await sweep(operation, tables, trap, disturbance)
  await tables.restore()
  await tables.close()
  return calls
}

/**
 * Commands do something else if they change other tables. The list that prints in parts also does
 * with other options.
 */
function kindOf(command: string, { text, record }: Input): string {
  // An earlier backup may stay the last one in the database, so the tries begin without one.
  if (command === 'backup') return command
  const changes = record.flatMap((line) => /^ {2}(\w+ [-+~]) /.exec(line)?.[1] ?? [])
  const options = command === 'server list' ? (text.match(/--[\w-]+/g) ?? []) : []
  return [command, ...new Set([...changes, ...options])].join(' ')
}

/** The commands that are no groups. */
async function leafCommands(): Promise<string[]> {
  const all = await everyCommand()
  return all.filter((name) => !all.some((other) => other.startsWith(`${name} `)))
}
