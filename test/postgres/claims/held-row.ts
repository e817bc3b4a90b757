import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { logLines, programIn, type Served } from '../../cli/program.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { ask } from '../../fixtures/requests.ts'
import { whileLocked } from '../other-session.ts'

/** The client of the locked key sends its requests at this interval, answered or not. */
const ASK_MS = 150
/** The client of the other key waits this long after each answer, longer than the limit. */
const POLITE_MS = 1_100

/**
 * Another session holds one key's row twice for this long, while clients use this key and another
 * one. The locked key gets 502 and no 429, and the log has one line per lock. The other key gets
 * only 200.
 */
export async function checkHeldRow(t: TestContext, url: string, holdMs: number): Promise<void> {
  const program = programIn(t)
  const options = { env: { DATABASE_URL: url } }
  await program.done('user add ada@example.com --create', options)
  const issue = (name: string) =>
    program.done(`key issue --user ada@example.com --name ${name}`, options)
  const [locked, free] = [await issue('locked'), await issue('free')]
  const listed = JSON.parse(await program.done('key list --user ada@example.com --json', options))
  const keyId = listed.find(({ name }: { name: string }) => name === 'locked').id as string
  const served = await program.serve(options)
  assert.equal((await ask(served.port, { key: free })).status, 200)

  for (let episode = 1; episode <= 2; episode += 1) {
    await delay(POLITE_MS)
    const [atLocked, atFree] = await whileLocked(url, keyId, () => {
      const until = performance.now() + holdMs
      return Promise.all([
        statusesAtInterval(served, locked, until),
        statusesInTurn(served, free, until),
      ])
    })
    t.diagnostic(`${atLocked.length} and ${atFree.length} requests`)
    assert.deepEqual([...new Set(atLocked)], [502])
    assert.deepEqual([...new Set(atFree)], [200])
    assert.equal((await ask(served.port, { key: locked })).status, 200, 'released')
    // The service writes its log beside the answers.
    await eventually(async () => linesAbout(keyId, served.stdout()) >= episode)
  }
  served.kill('SIGTERM')
  const { stdout } = await served.ended
  assert.equal(linesAbout(keyId, stdout), 2)
}

async function statusesAtInterval({ port }: Served, key: string, until: number): Promise<number[]> {
  const answers: Promise<{ status: number }>[] = []
  while (performance.now() < until) {
    answers.push(ask(port, { key }))
    await delay(ASK_MS)
  }
  return (await Promise.all(answers)).map(({ status }) => status)
}

/** The pause begins with the answer, because a slow one may have been granted just before it. */
async function statusesInTurn({ port }: Served, key: string, until: number): Promise<number[]> {
  const answers: number[] = []
  while (performance.now() < until) {
    answers.push((await ask(port, { key })).status)
    await delay(POLITE_MS)
  }
  return answers
}

function linesAbout(keyId: string, stdout: string): number {
  return logLines(stdout).filter(
    ({ fault, reason }) => fault === 'AuthenticationFault' && String(reason).includes(keyId),
  ).length
}
