import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Program } from '../../../cli/program.ts'
import { ask } from '../../../fixtures/requests.ts'

/** Clients with a connection each. Half of them ask for a listing, the others for the health. */
export interface PoliteClients {
  /** Resolves when each client has got three answers from now on. */
  answered(): Promise<void>
  /** Asserts that each answer so far was a 200. */
  end(): Promise<void>
}

/** Longer than a second, so that a key is never limited. */
const PAUSE_MS = 1_200
const ANSWERS = 3

export async function startPoliteClients(
  program: Program,
  port: number,
  count: number,
): Promise<PoliteClients> {
  await program.done('user add ada@example.com --create')
  const keys: (string | null)[] = []
  for (let index = 0; index < count; index += 1) {
    const issue = `key issue --user ada@example.com --name bot-${index}`
    keys.push(index % 2 === 0 ? await program.done(issue) : null)
  }
  const counts = keys.map(() => 0)
  const statuses = new Set<number>()
  const over = new AbortController()

  async function repeat(index: number, key: string | null): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    while (!over.signal.aborted) {
      const { status } = await ask(port, key === null ? { path: '/health', agent } : { key, agent })
      statuses.add(status)
      counts[index]! += 1
      await delay(PAUSE_MS)
    }
    agent.destroy()
  }

  const loops = keys.map((key, index) => repeat(index, key))
  return {
    async answered() {
      const before = [...counts]
      const isDone = () => counts.every((now, index) => now >= before[index]! + ANSWERS)
      while (!isDone()) await Promise.race([delay(PAUSE_MS / 10), Promise.all(loops)])
    },
    async end() {
      over.abort()
      await Promise.all(loops)
      assert.deepEqual([...statuses], [200])
    },
  }
}
