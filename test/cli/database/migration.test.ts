import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { readCommandLine } from '../../records/commands.ts'
import { createNames } from '../../records/names.ts'
import { DATABASE_STORIES, pathOf } from '../../records/story.ts'
import { isCommand, isSuccess, readTranscript } from '../../records/transcript.ts'
import { commandsIn } from '../command.ts'

/** They make a database, say that there is none, or need no tables. */
const OTHERS = /^(?:backup|doctor|migrate|restore|serve|token)\b|--create$/

test('only serve, migrate and user add --create make or migrate a database', async (t) => {
  const program = commandsIn(t)
  const path = program.databasePath
  mkdirSync(dirname(path))
  const names = createNames([])
  names.add('folder', program.folder)
  const place = { env: { DATABASE_URL: `sqlite:${path}` }, folder: program.folder, names }
  const all = DATABASE_STORIES.flatMap((story) => readTranscript(pathOf(story)))
    .filter((input) => isSuccess(input) && isCommand(input))
    .map((input) => readCommandLine(input, place))
    .filter(({ args }) => !OTHERS.test(args.join(' ')))
  const lines = [...Map.groupBy(all, ({ args }) => args.slice(0, 2).join(' ')).values()].map(
    ([first]) => first!,
  )
  assert.ok(lines.length > 20)
  const refuse = async (sentence: RegExp) => {
    const before = bytesOf(path)
    for (const { args, env, stdin } of lines) {
      const { code, stdout, stderr } = await program.run(args, { stdin, env })
      const label = args.join(' ')
      assert.deepEqual([code, stdout], [1, ''], `${label}: ${stderr}`)
      assert.match(stderr, sentence, label)
      assert.match(stderr, /(?:^|\n)error: [^\n]*`server-listing migrate`[^\n]*\n$/, label)
      assert.deepEqual(bytesOf(path), before, label)
    }
  }
  await refuse(/there is no database file .*listing\.db\. If it is elsewhere, set DATABASE_URL/)
  writeFileSync(path, '')
  await refuse(/listing\.db has no tables yet;/)

  const added = await program.run('user add ada@example.com --create')
  assert.equal(added.code, 0, added.stderr)
  assert.equal((await program.run('user list')).code, 0)
})

/** Null if there is no file. Asserts that there is nothing else in its folder. */
function bytesOf(path: string): Buffer | null {
  const names = readdirSync(join(path, '..'))
  assert.ok(
    names.every((name) => name === 'listing.db'),
    String(names),
  )
  return names.length === 0 ? null : readFileSync(path)
}

test('an existing directory keeps its mode', async (t) => {
  const program = commandsIn(t)
  const folder = dirname(program.databasePath)
  mkdirSync(folder)
  chmodSync(folder, 0o755)
  await program.done('migrate')
  assert.equal(modeOf(folder), '755')
  assert.equal(modeOf(program.databasePath), '600')
})

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8)
}
