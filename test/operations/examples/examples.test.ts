import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { ROOT } from '../../fixtures/tree.ts'
import { type PolledService, startPolledService, type Weather } from './polled-service.ts'
import { preparePrograms, type Programs, PROGRAMS } from './programs.ts'

/*
 * The programs in docs/examples/ and the dashboard's clients keep the manners of spec 8.5 against a
 * real service, each in its own language. No program prints its key.
 */

let programs: Programs
before(async () => (programs = await preparePrograms()))
after(() => programs.remove())

/** The tests wait nearly all the time. */
const CONCURRENCY = 8
/** A timer may end a moment early by another clock. */
const EARLY_MS = 20
/** What a copied key may look like, without being one. */
const BROKEN_KEYS = ['', 'KEY\nX: y', '"KEY"']

suite('each program', { concurrency: CONCURRENCY }, () => {
  for (const program of PROGRAMS) {
    const { name, example, triesOfSilence, keeps } = program
    /** An example asks as often as its argument says. A client asks for one list. */
    const [args, lists] = example === null ? [[], 1] : [['2'], 2]
    const once = example === null ? [] : ['1']

    /** A client for pages waits only once, after a 429. */
    const weathers: Weather[] = ['another request at the same moment', 'broken database', 'fair']
    if (keeps) weathers.splice(1, 1)
    const waits = keeps ? [1] : [1, 2, 2].slice(0, 1 + lists)
    const outage = keeps ? [] : [1, 2, 4, 8]

    test(`${name} waits after each failure, and shows its key to no other user`, async (t) => {
      const service = await startPolledService(t, weathers)
      const { code, stdout, stderr } = await programs.run(program, { ...service, args })
      assert.equal(code, 0, stderr)
      assert.equal(stdout.match(/Cobblestone/g)?.length, lists, stdout)
      assert.deepEqual(statusesOf(service), [
        ...(keeps ? [429] : [429, 502]),
        ...Array.from({ length: lists }, () => 200),
      ])
      assertWaits(service, waits)
      assert.ok(service.polled.every(({ isKeyExposed }) => !isKeyExposed))
    })

    test(`${name} stops at once if its key is revoked`, async (t) => {
      const service = await startPolledService(t, ['fair'])
      await service.revoke()
      const { code, stdout, stderr } = await programs.run(program, service)
      assert.notEqual(code, 0)
      assert.match(stdout + stderr, /401/)
      assert.deepEqual(statusesOf(service), [401])
    })

    test(`${name} gives up an outage after ${outage.length + 1} attempts`, async (t) => {
      const service = await startPolledService(t, ['broken database'])
      const { code, stdout, stderr } = await programs.run(program, service)
      assert.notEqual(code, 0)
      assert.match(stdout + stderr, /502/)
      assert.deepEqual(statusesOf(service), [502, ...outage.map(() => 502)])
      assertWaits(service, outage)
    })

    test(`${name} gives up a service that does not answer`, async (t) => {
      const service = await startPolledService(t, ['silence'])
      const { code } = await programs.run(program, { ...service, isHasty: true })
      assert.notEqual(code, 0)
      // A busy machine may spend the second before it sends the request.
      assert.ok(service.polled.length <= triesOfSilence)
    })

    test(`${name} takes a key with white space around it`, async (t) => {
      const service = await startPolledService(t, ['fair'])
      const key = ` ${service.key}\r\n`
      const { code, stdout, stderr } = await programs.run(program, { ...service, key, args: once })
      assert.equal(code, 0, stderr)
      assert.match(stdout, /Cobblestone/)
    })

    test(`${name} prints any name on a terminal that lacks its characters`, async (t) => {
      const server = { name: '§aCobblestone 🔥 خادم', address: 'play.example.com' }
      const service = await startPolledService(t, ['fair'], server)
      const env = { LC_ALL: 'C', PYTHONIOENCODING: 'ascii' }
      const { code, stdout, stderr } = await programs.run(program, { ...service, args: once, env })
      assert.equal(code, 0, stderr)
      assert.match(stdout, /Cobblestone.*play\.example\.com/)
    })

    test(`${name} neither sends nor prints what is no key`, async (t) => {
      const service = await startPolledService(t, ['fair'])
      for (const broken of BROKEN_KEYS) {
        const key = broken.replace('KEY', service.key)
        const { stdout, stderr } = await programs.run(program, { ...service, key })
        const printed = stdout + stderr
        assert.match(printed, /SERVER_LISTING_KEY must be svc_live_ and 64 hexadecimal digits/)
        assert.ok(!printed.includes(service.key.slice(0, 16)), printed)
      }
      assert.deepEqual(service.polled, [])
    })

    if (example !== null)
      test(`${name} takes a base URL with a slash at its end`, async (t) => {
        const service = await startPolledService(t, ['fair'])
        const baseUrl = `${service.baseUrl}/`
        const { code, stderr } = await programs.run(program, { ...service, baseUrl, args: once })
        assert.equal(code, 0, stderr)
        assert.deepEqual(statusesOf(service), [200])
      })
  }
})

test('each example is run', () => {
  const others = ['discord-bot.mjs']
  const files = [...others, ...PROGRAMS.flatMap(({ example }) => example ?? [])]
  assert.deepEqual(readdirSync(join(ROOT, 'docs/examples')), files.toSorted())
})

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
