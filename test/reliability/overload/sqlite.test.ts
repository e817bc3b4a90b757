import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createChildren } from '../../../bench/children.ts'
import { runCrowd } from '../../../bench/load/programs.ts'
import { keysOf, seedSqlite } from '../../../bench/seed.ts'
import { startSubject } from '../../../bench/subject.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { ask } from '../../fixtures/requests.ts'

/*
 * A store that decides a limited number of claims per second gets ten times as many. The service
 * answers those it has time for, rejects old ones with the authentication 502, answers `/health`,
 * and recovers afterwards. `npm run bench -- overload` measures how fast.
 */

const PROGRAM = join(import.meta.dirname, '../../../bench/overload/slowed-service-main.ts')
const CLAIMS_PER_SECOND = 400
const OVERLOAD = 10
const SECONDS = 4
const KEYS = 20_000
const CONNECTIONS = 3_800
/**
 * A share of what the store decides. A busy machine decides less; rejecting everything would be
 * zero.
 */
const GOODPUT_MIN = CLAIMS_PER_SECOND / 10

test('at ten times its load the service sheds the excess and recovers', async (t) => {
  const folder = temporaryFolder(t)
  const [path, keysPath] = [join(folder, 'listing.db'), join(folder, 'keys.txt')]
  await seedSqlite(path, KEYS, 1)
  const keys = keysOf(KEYS)
  writeFileSync(keysPath, `${keys.join('\n')}\n`)
  const children = createChildren()
  t.after(children.endAll)
  const { port } = await startSubject(children, 'slowed', [
    process.execPath,
    PROGRAM,
    path,
    String(CLAIMS_PER_SECOND),
  ])
  const rate = OVERLOAD * CLAIMS_PER_SECOND
  const load = { port, keysPath, rate, seconds: SECONDS, connections: CONNECTIONS }
  const seen = await runCrowd(children, { ...load, from: 0 })
  const { goodput, shed, asked, ok, other, unanswered, unsent, health } = seen
  t.diagnostic(
    `${goodput.toFixed(0)} of ${CLAIMS_PER_SECOND} a second answered, ${shed} of ${asked} shed; health p99 ${health.p99.toFixed(1)} ms; recovered after ${seen.recovery.toFixed(0)} ms`,
  )
  // On a busy machine some answers come after the crowd has gone.
  assert.equal(other, 0)
  assert.equal(ok + shed + unsent + unanswered, asked)
  assert.ok(shed > 0, `${ok} answered, nothing shed`)
  assert.ok(goodput > GOODPUT_MIN, `${goodput} a second`)
  assert.ok(health.ok > 0)
  for (const key of keys.slice(-3))
    await eventually(async () => (await ask(port, { key })).status === 200)
})
