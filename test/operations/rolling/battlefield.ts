import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Program, Served } from '../../cli/program.ts'
import { createDatabase } from '../../fixtures/postgres/database.ts'
import type { Server } from '../../fixtures/postgres/server.ts'
import { lastFirst } from '../../reliability/history/battlefield/ends.ts'
import { type Fault, withEffect } from '../../reliability/history/faults/fault.ts'
import type { Battlefield } from '../../reliability/history/traffic/battlefield.ts'
import { keepStamps, readStamps } from '../../reliability/history/record/postgres-record.ts'
import { startOtherProcess } from '../../reliability/history/traffic/other-process.ts'
import { ask } from '../../fixtures/requests.ts'
import { freeFixedPort } from '../../fixtures/daemon/daemon.ts'
import { type Ports, startBalancer } from './balancer.ts'

/** Twice as long as the proxy takes to notice. */
const DRAIN_SECONDS = '2'

/** Processes that are restarted under load. */
export interface Rolling {
  url: string
  battlefield: Battlefield
  /** The versions of the two processes, as far as they run at the moment. */
  versions(): Promise<string[]>
}

/**
 * Two processes behind HAProxy that are restarted in turn, which makes no request fail. Both begin
 * with `programs[0]`, which also makes the schema. The restart with the number n starts
 * `programs[n]`, or the last one.
 */
export async function openRolling(
  t: TestContext,
  server: Server,
  programs: readonly Program[],
): Promise<Rolling> {
  const own = lastFirst(t)
  const url = await createDatabase(server)
  await programs[0]!.done('migrate', { env: { DATABASE_URL: url } })
  const operator = await startOtherProcess(url)
  own.after(() => operator.close())
  const offsets = await keepStamps(url)
  const ports: [Ports, Ports] = [await freePorts(), await freePorts()]
  const start = (program: Program, { api, ops }: Ports) =>
    program.serve({
      env: { DATABASE_URL: url, PORT: String(api), OPS_PORT: String(ops), DRAIN_SECONDS },
    })
  const served: Served[] = [
    await start(programs[0]!, ports[0]),
    await start(programs[0]!, ports[1]),
  ]
  const balancer = await startBalancer(t, ports)
  for (const index of served.keys()) await balancer.isUp(index)

  let restarts = 0
  async function restart() {
    const index = restarts % served.length
    restarts += 1
    served[index]!.kill('SIGTERM')
    const { code, stderr } = await served[index]!.ended
    assert.equal(code, 0, stderr)
    served[index] = await start(programs[restarts] ?? programs.at(-1)!, ports[index]!)
    await balancer.isUp(index)
    return {}
  }

  const names = programs.slice(1).map((_, index) => [`restart ${index + 1}`, restart] as const)
  const group: Record<string, Fault> = withEffect({ failures: [] }, Object.fromEntries(names))
  return {
    url,
    battlefield: {
      engine: 'postgres',
      operator,
      port: () => ({ port: balancer.port, process: 1 }),
      groups: [group],
      staying: () => ({}),
      readRecord: (scene) => readStamps(url, scene, offsets),
    },
    versions: async () => (await Promise.all(ports.map(versionAt))).flat(),
  }
}

async function freePorts(): Promise<Ports> {
  return { api: await freeFixedPort(), ops: await freeFixedPort() }
}

async function versionAt({ ops }: Ports): Promise<string[]> {
  const answer = await ask(ops, { path: '/metrics' }).catch(() => null)
  return /_build_info\{.*?version="([^"]*)"/.exec(answer?.body ?? '')?.slice(1) ?? []
}
