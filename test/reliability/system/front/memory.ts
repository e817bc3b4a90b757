import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Served } from '../../../cli/program.ts'
import { ROOT } from '../../../fixtures/tree.ts'

/** In bytes. */
export interface Memory {
  /** Objects that a garbage collection leaves, and the buffers that they hold. */
  heap: number
  resident: number
}

/**
 * The source of a module for the service's process. It prints the memory on each SIGUSR2. It also
 * lets connections be slow for as long as a busy machine needs to open all of them.
 */
export const METER = `
  import { setFlagsFromString } from 'node:v8'
  import { runInNewContext } from 'node:vm'
  import { LIMITS } from ${JSON.stringify(pathToFileURL(join(ROOT, 'src/http/limits.ts')))}
  Object.assign(LIMITS, { headersMs: 600_000, silenceMs: 600_000, keepAliveMs: 600_000 })
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  let count = 0
  process.on('SIGUSR2', () => {
    collect()
    collect()
    const { heapUsed, external, rss } = process.memoryUsage()
    count += 1
    const memory = JSON.stringify({ heap: heapUsed + external, resident: rss })
    process.stdout.write('memory ' + count + ' ' + memory + '\\n')
  })
`

/** Reads the memory of a service that runs with METER. */
export async function readMemory(service: Served): Promise<Memory> {
  const count = (service.stdout().match(/^memory /gm)?.length ?? 0) + 1
  service.kill('SIGUSR2')
  const line = new RegExp(`^memory ${count} (.*)\\n`, 'm')
  await service.written(line)
  return JSON.parse(line.exec(service.stdout())![1]!) as Memory
}

/** The resident bytes of a process. */
export function residentOf({ pid }: { pid: number }): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!
  return Number(kilobytes) * 1_024
}

/** The open sockets of a process. */
export function socketsOf({ pid }: { pid: number }): number {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).filter((name) => isSocket(join(folder, name))).length
}

function isSocket(path: string): boolean {
  try {
    return readlinkSync(path).startsWith('socket:')
  } catch {
    // The process has closed it.
    return false
  }
}
