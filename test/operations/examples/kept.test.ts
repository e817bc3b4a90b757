import assert from 'node:assert/strict'
import {
  lchownSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { startPolledService, type Weather } from './polled-service.ts'
import { type Program, preparePrograms, type Programs, PROGRAMS } from './programs.ts'

/*
 * The dashboard's clients keep the last list in a file. A page can run one for each visitor.
 */

let programs: Programs
before(async () => (programs = await preparePrograms()))
after(() => programs.remove())

const VIEWS = 6
/** The id of the user and of the group that own nothing. */
const OTHER_USER = 65_534
const OLD = /This list is (\d+) seconds old\./

const KEEPERS = PROGRAMS.filter(({ keeps }) => keeps)

suite('each client for pages', { concurrency: 8 }, () => {
  for (const program of KEEPERS) {
    const { name } = program

    test(`${name} asks once for several views in ten seconds`, async (t) => {
      const { view, statuses } = await startPage(t, program, ['fair'])
      const first = await view()
      for (let count = 1; count < VIEWS; count += 1) assert.deepEqual(await view(), first)
      assert.equal(first.code, 0)
      assert.deepEqual(statuses(), [200])
    })

    test(`${name} serves views at the same moment, with and without a kept list`, async (t) => {
      const { view, statuses, age } = await startPage(t, program, ['fair'])
      const views = () => Promise.all(Array.from({ length: VIEWS }, () => view()))
      for (const { code, stderr } of await views()) assert.equal(code, 0, stderr)
      age({ asked: 10 })
      const before = statuses().length
      for (const { code, stderr } of await views()) assert.equal(code, 0, stderr)
      assert.ok(
        !statuses()
          .slice(before)
          .some((status) => status !== 200 && status !== 429),
      )
    })

    for (const [weather, answers] of [
      ['another request at the same moment', [429]],
      ['broken database', [502]],
      // The service has not answered yet.
      ['silence', []],
    ] as const)
      test(`${name} serves the kept list with its age at: ${weather}`, async (t) => {
        const { view, statuses, age } = await startPage(t, program, ['fair', weather])
        const { stdout } = await view()
        assert.doesNotMatch(stdout, OLD)
        age({ list: 3_000, asked: 10 })
        // Else the rate limit would hide the weather.
        await delay(1_000)
        // The second view asks nothing, because the first one did.
        for (const isHasty of [weather === 'silence', false]) {
          const old = await view(isHasty)
          assert.equal(old.code, 0, old.stderr)
          assert.ok(old.stdout.startsWith(stdout), old.stdout)
          const [, seconds] = OLD.exec(old.stdout) ?? []
          assert.ok(Number(seconds) >= 3_000 && Number(seconds) < 3_600, old.stdout)
        }
        assert.deepEqual(statuses().slice(1), answers)
      })

    test(`${name} serves no list that is an hour old`, async (t) => {
      const { view, statuses, age } = await startPage(t, program, ['fair', 'broken database'])
      await view()
      age({ list: 3_600 })
      const { code, stdout, stderr } = await view()
      assert.notEqual(code, 0)
      assert.match(stdout + stderr, /502/)
      assert.equal(statuses().at(-1), 502)
    })

    for (const list of [0, 3_600])
      test(`${name} deletes a kept list of ${list} seconds after a 401`, async (t) => {
        const { view, statuses, age, revoke, folder } = await startPage(t, program, ['fair'])
        await view()
        await revoke()
        age({ list, asked: 10 })
        for (let count = 0; count < 2; count += 1) {
          const { code, stdout, stderr } = await view()
          assert.notEqual(code, 0)
          assert.match(stdout + stderr, /401/)
          assert.doesNotMatch(stdout, /Cobblestone/)
        }
        assert.deepEqual(statuses(), [200, 401, 401])
        assert.deepEqual(readdirSync(folder), [])
      })

    test(`${name} keeps one file without the key, for its user alone`, async (t) => {
      const { view, age, file, folder, key } = await startPage(t, program, ['fair'])
      for (let count = 0; count < 2; count += 1) {
        await view()
        assert.equal(lstatSync(file()).mode & 0o777, 0o600)
        assert.equal(readdirSync(folder).length, 1)
        const text = file() + readFileSync(file(), 'utf8')
        for (let at = 0; at < 64; at += 8) assert.ok(!text.includes(key.slice(at, at + 12)))
        age({ asked: 10 })
      }
    })

    test(`${name} neither reads nor follows what another user put in the place of its file`, async (t) => {
      const { view, statuses, file, folder } = await startPage(t, program, ['fair'])
      const { stdout } = await view()
      const path = file()
      const planted = readFileSync(path, 'utf8').replaceAll('Cobblestone', 'Planted')
      const target = join(temporaryFolder(t), 'target')
      writeFileSync(target, planted)
      for (const plant of [() => writeFileSync(path, planted), () => symlinkSync(target, path)]) {
        rmSync(path)
        plant()
        lchownSync(path, OTHER_USER, OTHER_USER)
        assert.equal((await view()).stdout, stdout)
        const found = lstatSync(path)
        assert.deepEqual([found.uid, found.isFile()], [process.getuid!(), true])
      }
      assert.equal(statuses().filter((status) => status === 200).length, 3)
      assert.equal(readFileSync(target, 'utf8'), planted)
      assert.equal(readdirSync(folder).length, 1)
    })
  }
})

/** A page that runs a client for each of its views. */
async function startPage(t: TestContext, program: Program, weathers: readonly Weather[]) {
  const service = await startPolledService(t, weathers)
  const folder = temporaryFolder(t)
  const file = () => join(folder, readdirSync(folder)[0]!)
  return {
    ...service,
    folder,
    file,
    statuses: () => service.polled.map(({ status }) => status),

    view: (isHasty = false) =>
      programs.run(program, { ...service, isHasty, env: { TMPDIR: folder } }),

    /** Makes the kept list older, and the last time that a view asked, by seconds. */
    age({ list = 0, asked = list }: { list?: number; asked?: number }) {
      const path = file()
      const { mtimeMs } = lstatSync(path)
      const kept = JSON.parse(readFileSync(path, 'utf8'))
      // Some clients count in milliseconds.
      kept.time -= list * (kept.time > 1e11 ? 1_000 : 1)
      writeFileSync(path, JSON.stringify(kept))
      const then = mtimeMs / 1_000 - asked
      utimesSync(path, then, then)
    },
  }
}
