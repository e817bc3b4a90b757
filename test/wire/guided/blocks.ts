import { readFileSync } from 'node:fs'
import { Session, type Profiler } from 'node:inspector'
import { fileURLToPath } from 'node:url'

/** A block of the code and how often it ran, such as `http/head.ts:1490 x4`. */
export type Feature = string

export interface Blocks {
  /** What ran since the last call. */
  take(): Feature[]
  /** The lines of blocks that never ran, in functions that did. */
  neverReached(): string[]
  close(): void
}

/** Counts of 1, 2, 4, 8 and 16 differ; larger ones do not. */
const DOUBLINGS_MAX = 4

/** Counts the blocks of the files whose URL contains `part`, with V8's coverage. */
export function watchBlocks(part: string): Blocks {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  /** V8 omits a block with the count of the one around it, so each start is remembered. */
  const starts = new Map<string, Set<number>>()
  const reached = new Set<string>()

  return {
    take() {
      const features: Feature[] = []
      for (const [place, { ranges }] of takeFunctions(session, part)) {
        const known = starts.get(place) ?? new Set()
        starts.set(place, known)
        for (const { startOffset } of ranges) known.add(startOffset)
        for (const start of known) {
          const count = countAt(ranges, start)
          if (count === 0) continue
          const block = `${place.slice(0, place.lastIndexOf(':'))}:${start}`
          reached.add(block)
          features.push(`${block} x${2 ** Math.min(DOUBLINGS_MAX, Math.floor(Math.log2(count)))}`)
        }
      }
      return features
    },
    neverReached() {
      const blocks = [...starts].flatMap(([place, known]) => {
        const url = place.slice(0, place.lastIndexOf(':'))
        return [...known].filter((start) => !reached.has(`${url}:${start}`)).map((at) => [url, at])
      })
      return [...new Set(blocks.map(([url, at]) => lineOf(url as string, at as number)))]
    },
    close: () => session.disconnect(),
  }
}

/** The functions that ran, by the URL of their file and their start. */
function takeFunctions(session: Session, part: string): [string, Profiler.FunctionCoverage][] {
  let scripts: Profiler.ScriptCoverage[] = []
  session.post('Profiler.takePreciseCoverage', (error, taken) => {
    if (error !== null) throw error
    scripts = taken.result
  })
  return scripts
    .filter(({ url }) => url.includes(part))
    .flatMap(({ url, functions }) =>
      functions.map((one): [string, Profiler.FunctionCoverage] => [
        `${url}:${one.ranges[0]!.startOffset}`,
        one,
      ]),
    )
}

/** The count of the innermost range. Outer ranges stand before inner ones. */
function countAt(ranges: readonly Profiler.CoverageRange[], offset: number): number {
  return ranges.findLast(
    ({ startOffset, endOffset }) => startOffset <= offset && offset < endOffset,
  )!.count
}

function lineOf(url: string, offset: number): string {
  const lines = readFileSync(fileURLToPath(url), 'utf8').slice(0, offset).split('\n')
  return `${url.slice(url.indexOf('/src/') + 1)}:${lines.length}`
}
