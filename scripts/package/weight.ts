import { readFileSync, writeFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { join, relative } from 'node:path'
import { build } from 'rolldown'

/*
 * `npm run weight` prints the minified bytes of the program by room, without libraries. It fails if
 * a room is heavier than its number in weight.json, or lighter by a step or more. `-- --write`
 * writes the numbers anew. A commit that raises one says which concept it adds.
 *
 * Names and comments weigh nothing, and packing lines gains nothing.
 */

const ROOT = join(import.meta.dirname, '../..')
const NUMBERS = join(import.meta.dirname, 'weight.json')
/** A number is a multiple of it, so that a small change needs no new one. */
const STEP_BYTES = 500
/** Imports, and what the bundler puts between the files. */
const BETWEEN = 'between files'

const weights = await weigh()
if (process.argv.includes('--write')) write(weights)
const numbers: Record<string, number> = JSON.parse(readFileSync(NUMBERS, 'utf8'))
print(weights, numbers)
const complaints = complain(weights, numbers)
for (const complaint of complaints) console.error(complaint)
if (complaints.length > 0) process.exitCode = 1

/** The bytes of each room in a bundle of one file. A source map names the room of each byte. */
async function weigh(): Promise<Map<string, number>> {
  const { output } = await build({
    cwd: ROOT,
    input: 'src/main.ts',
    platform: 'node',
    external: (id) => !/^[./]/.test(id),
    write: false,
    output: { minify: true, codeSplitting: false, sourcemap: true, dir: join(ROOT, 'dist') },
  })
  const { code, map } = output[0]
  const places = new SourceMap(JSON.parse(map!.toString()))
  const bytes = new Map<string, number>()
  for (const [line, text] of code.split('\n').entries()) {
    let column = 0
    for (const character of `${text}\n`) {
      const entry = places.findEntry(line, column)
      const room = 'originalSource' in entry ? roomOf(entry.originalSource) : BETWEEN
      bytes.set(room, (bytes.get(room) ?? 0) + Buffer.byteLength(character))
      column += character.length
    }
  }
  return new Map([...bytes].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** `src/` and a folder or file in it, or the conformance kit, which a command loads. */
function roomOf(source: string | undefined): string {
  if (source === undefined) return BETWEEN
  const [top = '', name = ''] = relative(ROOT, join(ROOT, 'dist', source)).split('/')
  return top === 'src' ? name : top
}

function write(weighed: ReadonlyMap<string, number>): void {
  const rounded = [...weighed].map(([room, bytes]) => [room, roundUp(bytes)])
  writeFileSync(NUMBERS, `${JSON.stringify(Object.fromEntries(rounded), null, 2)}\n`)
}

function print(weighed: ReadonlyMap<string, number>, limits: Record<string, number>): void {
  for (const [room, bytes] of weighed) console.log(row(room, bytes, limits[room]))
  const total = [...weighed.values()].reduce((sum, bytes) => sum + bytes, 0)
  console.log(row('all', total))
}

function row(room: string, bytes: number, limit?: number): string {
  const most = limit === undefined ? '' : `  of ${String(limit).padStart(6)}`
  return `${room.padEnd(14)}${String(bytes).padStart(7)} bytes${most}`
}

function complain(weighed: ReadonlyMap<string, number>, limits: Record<string, number>): string[] {
  const rooms = new Set([...weighed.keys(), ...Object.keys(limits)])
  return [...rooms].flatMap((room) => {
    const [bytes, limit] = [weighed.get(room) ?? 0, limits[room] ?? 0]
    if (bytes > limit)
      return `${room} weighs ${bytes} bytes, and its limit is ${limit}. Make it lighter, or run \`npm run weight -- --write\` and say in the commit which concept it adds`
    return limit - bytes < 2 * STEP_BYTES
      ? []
      : `${room} weighs ${bytes} bytes, well below its limit of ${limit}. Lower it: \`npm run weight -- --write\``
  })
}

function roundUp(bytes: number): number {
  return Math.ceil(bytes / STEP_BYTES) * STEP_BYTES
}
