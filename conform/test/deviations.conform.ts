import assert from 'node:assert/strict'
import { suite, test, type TestContext } from 'node:test'
import { conform, findingsOf, notesOf, type Report } from '../src/conform.ts'
import type { Finding } from '../src/judge.ts'
import type { RuleName } from '../src/rules.ts'
import { readTarget } from '../src/wire/target.ts'
import { DEVIATIONS } from './implementation/deviations.ts'
import { serveByHono } from './implementation/hono.ts'
import { createModel, type Mistake } from './implementation/model.ts'
import { revokeOn } from './implementation/revoke.ts'

/*
 * An implementation on another framework conforms too, and each planted mistake in it gets the
 * finding that names it.
 */

/** A mistake that has not shown after this time is lost on the kit. */
const SHOWN_AFTER_MAX_MS = 120_000

async function judge(t: TestContext, mistake: Mistake | null): Promise<Report> {
  const model = createModel(mistake)
  const port = await serveByHono(t, model)
  const [key, second] = model.keys
  return conform({
    target: readTarget(`http://127.0.0.1:${port}`)!,
    key,
    second,
    revokeCommand: await revokeOn(t, () => model.revoke(key)),
    isMine: false,
  })
}

/** Runs the kit again if a busy machine was too slow to show a mistake of timing. */
async function judgeUntil(t: TestContext, mistake: Mistake, rule: RuleName): Promise<Finding[]> {
  const until = performance.now() + SHOWN_AFTER_MAX_MS
  for (;;) {
    const report = await judge(t, mistake)
    const found = [...findingsOf(report), ...notesOf(report)]
    if (found.some((finding) => finding.rule === rule) || performance.now() > until) return found
  }
}

suite('deviations', { concurrency: true }, () => {
  test('a correct implementation on Hono has no finding', async (t) => {
    const report = await judge(t, null)
    assert.deepEqual(findingsOf(report), [])
    assert.deepEqual(report.unchecked, [])
  })

  for (const [mistake, rule] of Object.entries(DEVIATIONS))
    test(`the kit finds this mistake: ${mistake}`, async (t) => {
      const found = await judgeUntil(t, mistake as Mistake, rule)
      t.diagnostic(found.map((finding) => `${finding.rule}: ${finding.seen}`).join('\n'))
      assert.ok(
        found.some((finding) => finding.rule === rule),
        `${rule} is not among ${found.map((finding) => finding.rule).join(', ')}`,
      )
    })
})
