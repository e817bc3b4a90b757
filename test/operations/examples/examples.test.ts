import assert from 'node:assert/strict'
import { type ExecFileException, execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { ROOT } from '../../fixtures/tree.ts'
import { type PolledService, startPolledService } from './polled-service.ts'

/*
 * The programs in docs/examples/ keep the manners of spec 8.5 against a real service, each in its
 * own language.
 */

const GO = '/usr/lib/go-1.19/bin/go'

interface Example {
  file: string
  command(path: string): string[]
}

const EXAMPLES: Record<string, Example> = {
  curl: { file: 'poll.sh', command: (path) => ['/bin/sh', path] },
  Python: { file: 'poll.py', command: (path) => ['/usr/bin/python3', path] },
  TypeScript: { file: 'poll.ts', command: (path) => [process.execPath, path] },
  Go: { file: 'poll.go', command: () => [join(built, 'poll')] },
}

/** The folder of the built program. Programs may not be executable in other temporary folders. */
let built: string

before(() => {
  built = mkdtempSync(join(tmpdir(), 'server-listing-go-'))
  const env = { PATH: '/usr/bin:/bin', GOCACHE: join(built, 'cache'), GO111MODULE: 'off' }
  execFileSync(GO, ['build', '-o', built, 'poll.go'], { cwd: join(ROOT, 'docs/examples'), env })
})
after(() => rmSync(built, { recursive: true, force: true }))

/** A timer may end a moment early by another clock. */
const EARLY_MS = 20

suite('the example', { concurrency: true }, () => {
  for (const [language, example] of Object.entries(EXAMPLES)) {
    test(`in ${language} waits after 200, 429 and 502`, async (t) => {
      const service = await startPolledService(t, [
        'another request at the same moment',
        'broken database',
        'fair',
      ])
      const { code, stdout, stderr } = await run(example, service, '2')
      assert.equal(code, 0, stderr)
      assert.equal(stdout.match(/Cobblestone/g)?.length, 2, stdout)
      assert.deepEqual(statusesOf(service), [429, 502, 200, 200])
      assertWaits(service, [1, 2, 2])
    })

    test(`in ${language} stops at once if its key is revoked`, async (t) => {
      const service = await startPolledService(t, ['fair'])
      await service.revoke()
      const { code, stderr } = await run(example, service)
      assert.notEqual(code, 0)
      assert.match(stderr, /401/)
      assert.deepEqual(statusesOf(service), [401])
    })

    test(`in ${language} gives up an outage after five attempts`, async (t) => {
      const service = await startPolledService(t, ['broken database'])
      const { code, stderr } = await run(example, service)
      assert.notEqual(code, 0)
      assert.match(stderr, /502/)
      assert.deepEqual(statusesOf(service), [502, 502, 502, 502, 502])
      assertWaits(service, [1, 2, 4, 8])
    })
  }
})

test('each example is run', () => {
  const files = Object.values(EXAMPLES).map(({ file }) => file)
  assert.deepEqual(readdirSync(join(ROOT, 'docs/examples')), files.toSorted())
})

interface Ended {
  code: ExecFileException['code']
  stdout: string
  stderr: string
}

function run(
  { file, command }: Example,
  { baseUrl, key }: PolledService,
  ...args: string[]
): Promise<Ended> {
  const [program = '', ...before] = command(join(ROOT, 'docs/examples', file))
  const env = { PATH: '/usr/bin:/bin', BASE_URL: baseUrl, SERVER_LISTING_KEY: key }
  return new Promise((resolve) => {
    execFile(program, [...before, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, stdout, stderr }),
    )
  })
}

function statusesOf({ polled }: PolledService): number[] {
  return polled.map(({ status }) => status)
}

/** Asserts the least number of seconds between each answer and the next request. */
function assertWaits({ polled }: PolledService, seconds: readonly number[]): void {
  for (const [index, least] of seconds.entries()) {
    const waited = polled[index + 1]!.askedAt - polled[index]!.answeredAt
    assert.ok(waited >= least * 1_000 - EARLY_MS, `waited ${waited} ms, not ${least} s`)
  }
}
