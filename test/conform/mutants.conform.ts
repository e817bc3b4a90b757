import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { notFound } from '../../src/api/responses.ts'
import { conform, findingsOf, notesOf } from '../../conform/src/conform.ts'
import type { Finding } from '../../conform/src/judge.ts'
import type { RuleName } from '../../conform/src/rules.ts'
import { readTarget } from '../../conform/src/wire/target.ts'
import type { Response } from '../../src/http/message.ts'
import { presentInstant } from '../../src/model/instant.ts'
import { openSqliteStore } from '../../src/sqlite/store.ts'
import { listenOn } from '../reliability/history/mutants/listener.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { addOwner, issueKey } from '../fixtures/service.ts'
import { type Flaw, openFlawedEngine } from '../reliability/history/mutants/sqlite-engine.ts'
import { revokeOn } from '../../conform/test/implementation/revoke.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { recordsOf } from '../fixtures/records.ts'

/*
 * The kit finds these flawed engines of the history checker from outside, without faults. The
 * others need a fault, or a list that changes during the run.
 */

const SEEN: Partial<Record<Flaw, RuleName>> = {
  'check then set': 'one-granted',
  'key cached for 1.5 s': 'one-granted',
  'stamp on 429': 'returns',
  'now and then a failure': 'steady',
}

const UNSEEN: Flaw[] = [
  'nothing',
  'claim kept after a failed list',
  'list cached for 1.5 s',
  'a claim that is not given back',
  'failures that go on',
]

suite('mutants', { concurrency: true }, () => {
  for (const [flaw, rule] of Object.entries(SEEN))
    test(`the kit finds this flaw from outside: ${flaw}`, async (t) => {
      const found = await judge(t, flaw as Flaw)
      assert.ok(
        found.some((finding) => finding.rule === rule),
        `${rule} is not among ${found.map((finding) => finding.rule).join(', ')}`,
      )
    })

  for (const flaw of UNSEEN)
    test(`without a fault, this flaw breaks no promise: ${flaw}`, async (t) =>
      assert.deepEqual(await judge(t, flaw), []))

  test('the kit finds an answer with the sentence of another status', async (t) => {
    const found = await judge(t, 'nothing', (response) =>
      response.status === 429 ? { ...notFound, status: 429 } : response,
    )
    assert.ok(found.some(({ rule }) => rule === 'limited-answer'))
  })
})

/** Checks the API on an engine with this flaw. */
async function judge(
  t: TestContext,
  flaw: Flaw,
  distort = (response: Response) => response,
): Promise<Finding[]> {
  const path = join(temporaryFolder(t), 'listing.db')
  const operator = await openSqliteStore(path, { create: true })
  const entries = [{ name: 'Survival', address: 'play.example.com' }]
  const { user, key, keyId } = await addOwner(operator, 'ada@example.com', entries)
  const { key: second } = await issueKey(operator, user, 'second')
  const engine = openFlawedEngine(path, flaw)
  const listener = await listenOn(engine, distort)
  t.after(async () => {
    await listener.close()
    engine.close()
    await operator.close()
  })
  const report = await conform({
    target: readTarget(`http://127.0.0.1:${listener.port}`)!,
    key,
    second,
    revokeCommand: await revokeOn(t, () =>
      recordsOf(operator).revokeApiKey(user.id, keyId, operatorAt(presentInstant())),
    ),
    isMine: false,
  })
  // A 502 now and then is a note.
  const found = [...findingsOf(report), ...notesOf(report)]
  t.diagnostic(found.map(({ rule, seen }) => `${rule}: ${seen}`).join('\n'))
  return found
}
