import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { install, pack } from '../../../scripts/package/installed.ts'
import { versionOfTree } from '../../../scripts/release/changelog.ts'
import { type InstalledProgram, installedProgramIn } from '../../cli/program.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { seedOfRun } from '../../fixtures/random.ts'
import { withEffect } from '../../reliability/history/faults/fault.ts'
import { floorsMissed } from '../../reliability/history/floors.ts'
import { runNemesis } from '../../reliability/history/nemesis.ts'
import { reportOn } from '../../reliability/history/report/report.ts'
import { FILES, keptPackages } from '../../reliability/releases/kept.ts'
import { openRolling } from './battlefield.ts'

/*
 * OLD_TARBALL and NEW_TARBALL are the packages of two versions. Without them the test takes the
 * kept package of the last release before the working tree, and packs that.
 */

let server: Server
let folder: string
before(async () => {
  server = await openServer()
  folder = mkdtempSync(join(tmpdir(), 'server-listing-upgrade-'))
})
after(async () => {
  await server.remove()
  rmSync(folder, { recursive: true, force: true })
})

test('two versions serve one database side by side, and an upgrade fails no request', async (t) => {
  const { OLD_TARBALL = lastPackage(), NEW_TARBALL = pack(folder) } = process.env
  const [old, next] = [OLD_TARBALL, NEW_TARBALL].map((tarball, index) =>
    installedProgramIn(t, install(tarball, join(folder, `installed-${index}`))),
  ) as [InstalledProgram, InstalledProgram]
  const expected = [await old.done('--version'), await next.done('--version')].toSorted()
  assert.notEqual(expected[0], expected[1])

  const { battlefield, url, versions } = await openRolling(t, server, [old, next, old, next, next])
  const env = { DATABASE_URL: url }
  let beside = 0
  /** While both versions serve, the commands of both work on the same records. */
  async function useCommands() {
    if ((await versions()).toSorted().join() !== expected.join()) return null
    beside += 1
    for (const [one, other] of [
      [old, next],
      [next, old],
    ] as const) {
      const email = `${beside}-${one === old ? 'old' : 'new'}@example.com`
      await one.done(`user add ${email}`, { env })
      const key = await other.done(`key issue --user ${email} --name bot`, { env })
      await one.done('key revoke --key-stdin', { env, stdin: key })
    }
    return {}
  }
  const groups = [
    ...battlefield.groups,
    withEffect({ failures: [] }, { 'commands of both versions': useCommands }),
  ]
  const seed = seedOfRun()
  const done = await runNemesis({ ...battlefield, groups }, { seed, ms: 16_000, pauseMs: 300 })
  const { summary, violation } = reportOn(`postgres, ${expected.join(' beside ')}`, seed, done)
  t.diagnostic(summary)
  assert.equal(violation, null, violation ?? '')
  assert.deepEqual(floorsMissed(done), [])
  assert.deepEqual(await versions(), Array(2).fill(await next.done('--version')))
})

function lastPackage(): string {
  const earlier = keptPackages().filter(({ version }) => version !== versionOfTree())
  return join(earlier.at(-1)!.folder, FILES.package)
}
