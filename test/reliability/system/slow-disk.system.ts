import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openSqliteStore } from '../../../src/sqlite/store.ts'
import { logLines } from '../../cli/program.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { ask } from '../../fixtures/requests.ts'
import { addKeys } from '../counts/keys.ts'
import { serveTraced } from './traced-service.ts'

/** Every fourth sync takes this long. */
const SYNC_MS = 4_000
const LOAD_MS = 12_000
const LOAD_MS_MAX = 60_000
const KEYS = 2_000
const HEALTH_EVERY_MS = 50

test('a sync of four seconds delays requests, fails none and is logged', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const store = await openSqliteStore(path, { create: true })
  const keys = await addKeys(store, KEYS)
  await store.close()
  const { port, output, end } = await serveTraced(t, path, [
    '--seccomp-bpf',
    '--trace=fsync,fdatasync',
    `--inject=fsync,fdatasync:delay_enter=${SYNC_MS * 1_000}:when=4+4`,
    '--output=/dev/null',
  ])
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  const [atLeast, atMost] = [performance.now() + LOAD_MS, performance.now() + LOAD_MS_MAX]
  // On a slow machine it takes longer until the log is copied into the file.
  const isOver = () => {
    const now = performance.now()
    return (now >= atLeast && output().includes('SlowBatch')) || now >= atMost
  }
  const statuses: number[] = []
  const health: number[] = []

  async function load(): Promise<void> {
    for (let turn = 0; !isOver(); turn += 1) {
      const { status } = await ask(port, { key: keys[turn % keys.length]!, agent })
      statuses.push(status)
    }
  }

  async function askHealth(): Promise<void> {
    const asked: Promise<void>[] = []
    while (!isOver()) {
      const since = performance.now()
      asked.push(
        ask(port, { path: '/health' }).then(({ status }) => {
          assert.equal(status, 200)
          health.push(performance.now() - since)
        }),
      )
      await delay(HEALTH_EVERY_MS)
    }
    await Promise.all(asked)
  }

  await Promise.all([load(), askHealth()])
  await end()
  const counts = Object.fromEntries(
    [...Map.groupBy(statuses, (status) => status)].map(([status, of]) => [status, of.length]),
  )
  health.sort((a, b) => a - b)
  const at = (share: number) => health[Math.floor(share * (health.length - 1))]!.toFixed()
  t.diagnostic(
    `answers ${JSON.stringify(counts)}; /health p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, at most ${at(1)} ms`,
  )
  // On a fast machine a key's turn can come again within its second.
  assert.deepEqual(
    Object.keys(counts).filter((status) => status !== '429'),
    ['200'],
  )
  assert.ok(health.at(-1)! > SYNC_MS / 2, 'no sync was slow')
  const warnings = logLines(output()).filter(({ fault }) => fault === 'SlowBatch')
  assert.equal(warnings.length, 1)
  assert.match(String(warnings[0]!.reason), /: the disk is slow to take what is written/)
})
