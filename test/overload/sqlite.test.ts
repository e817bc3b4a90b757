import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createChildren } from '../../bench/children.ts'
import { KEYS_BESIDE, type Seen, sendCrowd } from '../../bench/overload/crowd.ts'
import { seed } from '../../bench/seed.ts'
import { startSubject } from '../../bench/subject.ts'
import { temporaryFolder } from '../fixtures/folder.ts'

/*
 * A store that decides so many calls a second, a crowd that asks ten times as often: the service answers as many as the
 * store decides, sheds the rest by age with the authentication 502, keeps its health, and is itself again right after.
 */

const PROGRAM = join(import.meta.dirname, '../../bench/overload/slowed-service-main.ts')
const CLAIMS_PER_SECOND = 400
const OVERLOAD = 10
const SECONDS = 4
const OWNERS = 4_000
const CONNECTIONS = 3_800
const GOODPUT_MIN = 0.9 * CLAIMS_PER_SECOND
/** Beyond what the machine makes any request wait while nothing is asked. */
const HEALTH_MAX_MS = 100
const RECOVERY_MAX_MS = 2_000
/** A machine that stands still for a while spoils a run, not all of them. */
const RUNS_MAX = 3

test('under ten times its load the service answers what the store decides, and recovers', async (t) => {
  const folder = temporaryFolder(t)
  const [path, keysPath] = [join(folder, 'listing.db'), join(folder, 'keys.txt')]
  const keys = await seed(path, OWNERS, 1)
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
  const problems: string[] = []
  for (let run = 0; run < RUNS_MAX; run += 1) {
    const from = (run * (SECONDS * rate + KEYS_BESIDE)) % keys.length
    const seen = await sendCrowd(children, { ...load, from })
    t.diagnostic(
      `${seen.goodput.toFixed(0)} of ${CLAIMS_PER_SECOND} a second answered, ${seen.shed} of ${seen.asked} shed; health p99 ${seen.health.p99.toFixed(1)} ms; recovered after ${seen.recovery.toFixed(0)} ms`,
    )
    // Whatever the machine does: only what the contract knows, and most of it is shed.
    assert.equal(seen.other, 0)
    assert.ok(seen.shed > 0)
    const problem = problemWith(seen)
    if (problem === null) return
    problems.push(problem)
  }
  assert.fail(problems.join('; '))
})

function problemWith({ goodput, unanswered, health, recovery, calm }: Seen): string | null {
  if (goodput < GOODPUT_MIN) return `goodput ${goodput}`
  if (unanswered > 0) return `${unanswered} without an answer`
  if (health.p99 > HEALTH_MAX_MS + calm) return `the health took ${health.p99} ms`
  return recovery > RECOVERY_MAX_MS ? `recovered after ${recovery} ms` : null
}
