import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { migrateTo } from './migrated.ts'
import { assertConforms, assertWithoutKeys, deploy, differencesIn, judge } from './deployment.ts'

/*
 * The service conforms to its specification on both engines, judged from outside.
 */

async function assertEngineConforms(t: TestContext, env: Record<string, string>): Promise<void> {
  const { program, port, keys, options } = await deploy(t, env)
  const ended = await judge(program, ['conform', `http://127.0.0.1:${port}`, ...options], env)
  assertConforms(ended, keys)
  assert.deepEqual(differencesIn(ended), [])
  const [, planned] = /^(\d+) requests: about \d+ s with svc_live_\w{7}…\n/.exec(ended.stderr) ?? []
  const [, sent] = /, (\d+) requests, \d+ s\n$/.exec(ended.stdout) ?? []
  // A pause of the machine makes the kit repeat a check.
  assert.ok(Number(sent) >= Number(planned), `${sent} of ${planned} requests`)
}

suite('conform', { concurrency: true }, () => {
  test('the service on SQLite has no finding', (t) => assertEngineConforms(t, {}))

  test('the service on PostgreSQL has no finding', async (t) => {
    const url = await migrateTo(t)
    await assertEngineConforms(t, { DATABASE_URL: url })
  })

  test('the examples of the help run', async (t) => {
    const { program, port, keys } = await deploy(t)
    writeFileSync(join(program.folder, 'key.txt'), keys[0])
    const help = await program.done('conform --help')
    const examples = [...help.matchAll(/^ {2}server-listing (conform http.*)$/gm)]
    assert.equal(examples.length, 2)
    for (const [, example = ''] of examples) {
      const args = example.replace(/https?:\/\/\S+/, `http://127.0.0.1:${port}`)
      const { code, stdout, stderr } = await judge(program, args)
      assert.equal(code, 0, stdout + stderr)
      assertWithoutKeys(stdout + stderr, keys)
    }
  })

  test('a key that does not work is a finding, and the report says what was left out', async (t) => {
    const { program, port, keys, options } = await deploy(t)
    await program.done('key revoke --key-stdin', { stdin: keys[0] })
    const { code, stdout, stderr } = await judge(program, [
      'conform',
      `http://127.0.0.1:${port}`,
      ...options,
    ])
    assert.equal(code, 1)
    assert.match(stdout, /1\. Section 4\.1: a valid key gets 200\n/)
    assert.match(stdout, /seen {6}401 \{"error":"Invalid or missing API key\."\}/)
    assert.match(
      stdout,
      /Not checked\n(.*\n)*.*two 200s of a key are at least one second apart: an earl/,
    )
    assert.match(stderr, /\nerror: http:\/\/127\.0\.0\.1:\d+ has 1 finding\n$/)
    assertWithoutKeys(stdout + stderr, keys)
  })

  test('a command that does not revoke the key is named', async (t) => {
    const { program, port, options } = await deploy(t)
    const args = ['conform', `http://127.0.0.1:${port}`, ...options.slice(0, -1)]
    const [failed, idle] = await Promise.all(
      ['echo gone >&2; exit 3', 'true'].map(async (command, index) => {
        const second = options.slice(1, 2).map(() => `key-${index + 1}.txt`)
        return judge(program, [...args.slice(0, 3), ...second, ...args.slice(-1), command])
      }),
    )
    assert.match(failed!.stderr, /error: the command of --revoke-command has failed: .*3: gone\n$/)
    assert.equal(failed!.code, 1)
    assert.match(
      idle!.stdout,
      /Section 5\.3: a revoked key gets 401 at once(.*\n)*.*expected {2}401\n/,
    )
    assert.equal(idle!.code, 1)
  })
})
