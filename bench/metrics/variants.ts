import { cpSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Plugin } from 'rolldown'
import { bundle } from '../../scripts/package/bundle.ts'

/** By the path of a module: its new text. */
type Change = Record<string, (code: string) => string>

/** Leaves metrics and health out. */
const WITHOUT: Change = {
  'src/ops/request-meter.ts': () => `export const createRequestMeter = () => ({ observe() {} })`,
  'src/claims/meter.ts': () => `
    export const createClaimMeter = () => ({ countBatch() {}, countShed() {} })`,
  'src/ops/listen.ts': () => `
    export const listenForOps = async ({ host }) => ({
      host, port: 0, drain() {}, async close() {},
    })`,
}

/** Each SIGUSR2 switches the meters, their clock readings and the database's probe off or on. */
const SWITCHED: Change = {
  'src/ops/request-meter.ts': (code) => returningEarly(code, 'observe(event) {'),
  'src/claims/meter.ts': (code) => returningEarly(code, 'countBatch(size, waited) {'),
  'src/ops/monitor.ts': (code) => returningEarly(code, 'async look() {'),
  'src/main.ts': (code) => `${code}
    process.on('SIGUSR2', () => (globalThis.isUnmetered = !globalThis.isUnmetered))`,
  // The debug log uses the second reading, too. The reading at a request's head stays, because the
  // queue needs it.
  'src/claims/batches.ts': (code) => withoutReading(code, 'now() - batch[0]!.since'),
  'src/http/answers.ts': (code) => withoutReading(code, 'performance.now() - exchange.startedAt'),
}

function withoutReading(code: string, reading: string): string {
  return replace(code, reading, `globalThis.isUnmetered ? 0 : ${reading}`)
}

function returningEarly(code: string, head: string): string {
  return replace(code, head, `${head} if (globalThis.isUnmetered) return;`)
}

function replace(code: string, text: string, instead: string): string {
  if (!code.includes(text)) throw new Error(`the source no longer has: ${text}`)
  return code.replace(text, instead)
}

/** Copies the installed package to a folder, without the meters and the listener in its bundle. */
export function installWithoutMetrics(installed: string, folder: string): Promise<string> {
  return installChanged(installed, folder, WITHOUT)
}

/** Copies the installed package to a folder. SIGUSR2 switches the metrics of the copy. */
export function installSwitchedMetrics(installed: string, folder: string): Promise<string> {
  return installChanged(installed, folder, SWITCHED)
}

async function installChanged(installed: string, folder: string, change: Change): Promise<string> {
  cpSync(dirname(installed), folder, { recursive: true })
  const tree = join(folder, 'server-listing')
  const left = new Set(Object.keys(change))
  await bundle(join(tree, 'dist'), [changing(change, left)])
  if (left.size > 0) throw new Error(`the bundle never loaded ${[...left].join(', ')}`)
  return tree
}

/** Takes each module that it changed out of `left`. */
function changing(change: Change, left: Set<string>): Plugin {
  return {
    name: 'changed-metrics',

    transform(code, id) {
      const path = Object.keys(change).find((one) => id.endsWith(`/${one}`))
      if (path === undefined) return null
      left.delete(path)
      return { code: change[path]!(code), map: null }
    },
  }
}
