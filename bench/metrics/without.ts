import { cpSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Plugin } from 'rolldown'
import { bundle } from '../../scripts/package/bundle.ts'

/** What stands in for each module that only metrics and health need. */
const REPLACED: Record<string, string> = {
  'src/ops/request-meter.ts': `export const createRequestMeter = () => ({ observe() {} })`,
  'src/claims/meter.ts': `export const createClaimMeter = () => ({ countBatch() {}, countShed() {} })`,
  'src/ops/listen.ts': `export const listenForOps = async ({ host }) => ({
    host, port: 0, drain() {}, async close() {},
  })`,
}

/**
 * Where the request path reads the clock for a meter. The log of requests reads it too. The time of
 * a request's head is not among them: the queue needs it.
 */
const UNTIMED: Record<string, [code: string, instead: string][]> = {
  'src/claims/batches.ts': [['now() - batch[0]!.since', '0']],
  'src/http/answers.ts': [['performance.now() - exchange.startedAt', '0']],
}

/** Copies the installed package to a folder, with a bundle that lacks all code for metrics. */
export async function installWithoutMetrics(installed: string, folder: string): Promise<string> {
  cpSync(dirname(installed), folder, { recursive: true })
  const tree = join(folder, 'server-listing')
  const left = new Set([...Object.keys(REPLACED), ...Object.keys(UNTIMED)])
  await bundle(join(tree, 'dist'), [withoutMetrics(left)])
  if (left.size > 0) throw new Error(`the bundle never loaded ${[...left].join(', ')}`)
  return tree
}

/** Takes each module that it changed out of `left`. */
function withoutMetrics(left: Set<string>): Plugin {
  return {
    name: 'without-metrics',

    transform(code, id) {
      const path = [...Object.keys(REPLACED), ...Object.keys(UNTIMED)].find((one) =>
        id.endsWith(`/${one}`),
      )
      if (path === undefined) return null
      left.delete(path)
      return { code: REPLACED[path] ?? untimed(path, code), map: null }
    },
  }
}

function untimed(path: string, code: string): string {
  return UNTIMED[path]!.reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`${path} no longer has: ${from}`)
    return changed.replace(from, to)
  }, code)
}
