import type { Bench } from './measured.ts'
import { join } from 'node:path'
import { openDriver } from '../load/driver.ts'
import { residentMbOf } from '../proc.ts'
import { openService, type Scene } from '../scene.ts'
import { startSubject, type Subject } from '../subject.ts'
import { openTable, type Result } from '../table.ts'
import { measureAnswers } from './answers.ts'
import { measureCollections } from './collections.ts'
import { measureLatency } from './latency.ts'

/** Limit of load rounds per server. A driver that needs more makes no progress. */
const LOADS_MAX = 1_000

export async function measureSqlite(scene: Scene): Promise<Result[]> {
  const { service, keys } = await openService(scene)
  const program = join(import.meta.dirname, 'bare-server-main.js')
  const args = [process.execPath, program, String(service.port), keys.all[0]!] as const
  const bare = await startSubject(scene.children, 'bare', args)
  const driver = openDriver(scene, keys)
  const bench = { ...scene, service, bare, keys, driver }
  // The memory comes first, because it depends on what a process has answered before. Its load also
  // warms the servers up.
  const memory = await measureMemory(bench)
  const results = [...(await measureAnswers(bench)), ...(await measureLatency(bench)), memory]
  // Last, because it replaces the service.
  return [...results, await measureCollections(bench)]
}

/**
 * Loads both servers until each has answered `requests`, and compares their resident memory at that
 * moment. A server without load returns memory later.
 */
async function measureMemory({ settings, driver, bare, service }: Bench): Promise<Result> {
  const printRow = openTable('resident memory', 'server')
  const resident = new Map<Subject, number>()
  for (const subject of [bare, service]) {
    for (let load = 0; load < LOADS_MAX && subject.answered < settings.requests; load += 1)
      await driver.run(subject, settings.seconds)
    const { name, pid, answered } = subject
    resident.set(subject, residentMbOf(pid))
    printRow(name, { MiB: resident.get(subject)!, 'after requests': answered })
  }
  const more = resident.get(service)! - resident.get(bare)!
  return ['resident memory after a million requests, service - bare node:http', more, '≤ 100 MiB']
}
