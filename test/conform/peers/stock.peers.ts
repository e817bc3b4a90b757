import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test, type TestContext } from 'node:test'
import { conform, findingsOf } from '../../../conform/src/conform.ts'
import type { RuleName } from '../../../conform/src/rules.ts'
import { readTarget } from '../../../conform/src/wire/target.ts'
import { deploy } from '../deployment.ts'
import { DEVIATIONS } from '../../../conform/test/implementation/deviations.ts'
import { createModel, type Mistake } from '../../../conform/test/implementation/model.ts'
import { revokeOn } from '../../../conform/test/implementation/revoke.ts'
import { serveByFastify } from './fastify.ts'
import { startPeer } from './start-peer.ts'

/*
 * A peer of the benchmark, and the planted mistakes once more behind Fastify. Both need
 * `npm ci --prefix bench/peers`.
 */

/** What the api-key plug-in of better-auth, behind node:http, breaks. */
const BETTER_AUTH: RuleName[] = [
  'content-type',
  'cors',
  'error-format',
  'head',
  'health',
  'health-exempt',
  'key-prefix',
  'known-status',
  'limited-answer',
  'limited-cause',
  'only-200-counts',
  'other-scheme',
  'preflight',
  'scheme-case',
  'unknown-method',
  'unknown-path',
]

/** Fastify adds the charset by itself, and a 502 is only a note. */
const LEFT_OUT: string[] = ['401 without a charset', 'a 502 now and then']
const MISTAKES = Object.entries(DEVIATIONS).filter(([name]) => !LEFT_OUT.includes(name))

suite('peers', { concurrency: true }, () => {
  test('the kit names what better-auth breaks', async (t) => {
    const { program } = await deploy(t)
    await program.done('user add eve@example.com')
    const path = `${program.databasePath}.keys`
    const port = await startPeer(t, 'better-auth-main.js', [program.databasePath, path, '2'])
    const keys = readFileSync(path, 'utf8').trim().split('\n') as [string, string]
    assert.deepEqual(await brokenBy(port, keys), BETTER_AUTH)
  })

  test('a correct implementation on Fastify has no finding', async (t) => {
    assert.deepEqual(await judgeFastify(t, null), [])
  })

  for (const [mistake, rule] of MISTAKES)
    test(`behind Fastify, the kit finds this mistake: ${mistake}`, async (t) => {
      const found = await judgeFastify(t, mistake as Mistake)
      assert.ok(found.includes(rule), found.join(', '))
    })
})

async function judgeFastify(t: TestContext, mistake: Mistake | null): Promise<RuleName[]> {
  const model = createModel(mistake)
  const port = await serveByFastify(t, model)
  return brokenBy(port, model.keys, await revokeOn(t, () => model.revoke(model.keys[0])))
}

/** The rules with a finding, sorted. */
async function brokenBy(
  port: number,
  [key, second]: readonly [string, string],
  revokeCommand: string | null = null,
): Promise<RuleName[]> {
  const target = readTarget(`http://127.0.0.1:${port}`)!
  const report = await conform({ target, key, second, revokeCommand, isMine: false })
  return [...new Set(findingsOf(report).map(({ rule }) => rule))].toSorted()
}
