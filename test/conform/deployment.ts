import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { RULES } from '../../conform/src/rules.ts'
import type { Ended } from '../cli/command.ts'
import { type Program, programIn } from '../cli/program.ts'

/** The service with two keys, and all that `conform` needs to check it. */
export interface Deployment {
  program: Program
  port: number
  keys: [string, string]
  /** The options of a complete run: both keys, and the command that revokes the first one. */
  options: string[]
}

/** Starts the service on an empty database. Its user has two servers. */
export async function deploy(
  t: TestContext,
  env: Record<string, string> = {},
): Promise<Deployment> {
  const program = programIn(t)
  const run = (args: string, stdin = '') => program.done(args, { env, stdin })
  await run('user add ada@example.com --create')
  const keys: [string, string] = [
    await run('key issue --user ada@example.com --name first'),
    await run('key issue --user ada@example.com --name second'),
  ]
  await run(
    'server import --user ada@example.com -',
    '[{"name":"Survival","address":"play.example.com"},{"name":"Sky","address":"sky.example.com:25566"}]',
  )
  const { port } = await program.serve({ env })
  for (const [index, key] of keys.entries())
    writeFileSync(join(program.folder, `key-${index + 1}.txt`), `${key}\n`)
  const bin = join(import.meta.dirname, '../../bin/server-listing.js')
  const revoke = `'${process.execPath}' '${bin}' key revoke --key-stdin < key-1.txt`
  const options = [
    ['--key-file', 'key-1.txt'],
    ['--second-key-file', 'key-2.txt'],
    ['--revoke-command', revoke],
  ].flat()
  return { program, port, keys, options }
}

/** Runs the kit's command, which waits for the end of many seconds. */
export function judge(
  program: Program,
  args: string | string[],
  env: Record<string, string> = {},
): Promise<Ended> {
  return program.begin(args, { env, endsWithinMs: 120_000 }).ended
}

/** Asserts that a complete run found nothing, and that it left no rule and no choice out. */
export function assertConforms({ code, stdout, stderr }: Ended, keys: readonly string[]): void {
  assert.equal(code, 0, stdout + stderr)
  assert.match(stdout, / conforms to the specification\.\n/)
  assert.doesNotMatch(stdout, /Not checked/i)
  assertWithoutKeys(stdout + stderr, keys)
}

export function assertWithoutKeys(text: string, keys: readonly string[]): void {
  for (const key of keys) {
    assert.ok(!text.includes(key.slice(0, 24)), text)
    assert.ok(!text.includes(Buffer.from(key).toString('base64').slice(0, 40)), text)
  }
}

/** The texts of the choices that differ. A busy machine can make a healthy service answer 502. */
export function differencesIn({ stdout }: Ended): string[] {
  return [...stdout.matchAll(/^ {2}[\d.]+ {2}([^\d].*?): /gm)]
    .map(([, text = '']) => text)
    .filter((text) => text !== RULES.steady.text)
}
