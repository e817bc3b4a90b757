import { readFileSync } from 'node:fs'

/** Reads a plan with a line `FROM TO` for each file or folder. Empty lines and `#` are left out. */
export function readPlan(
  path: string,
  files: Pick<ReadonlyMap<string, unknown>, 'has' | 'keys'>,
): Map<string, string> {
  const pairs = readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter((line) => line !== '')
    .map((line) => line.split(/\s+/))
  return movedFiles(pairs, files)
}

/** The new path of each file. A file with a line of its own does not follow its folder. */
export function movedFiles(
  pairs: readonly (readonly string[])[],
  files: Pick<ReadonlyMap<string, unknown>, 'has' | 'keys'>,
): Map<string, string> {
  const moved = new Map<string, string>()
  const single = new Set(pairs.map(([from]) => from).filter((from) => files.has(from!)))
  for (const pair of pairs) {
    const [from = '', to = ''] = pair.map((path) => path.replace(/\/$/, ''))
    if (pair.length !== 2) throw new Error(`expected FROM and TO, got: ${pair.join(' ')}`)
    const inside = [...files.keys()].filter(
      (file) => file === from || (file.startsWith(`${from}/`) && !single.has(file)),
    )
    if (inside.length === 0) throw new Error(`the plan moves ${from}, but there is no such file`)
    for (const file of inside) {
      if (moved.has(file)) throw new Error(`the plan moves ${file} twice`)
      moved.set(file, to + file.slice(from.length))
    }
  }
  const taken = new Map<string, string>()
  for (const file of files.keys()) {
    const target = moved.get(file) ?? file
    if (taken.has(target))
      throw new Error(`${taken.get(target)} and ${file} would both become ${target}`)
    taken.set(target, file)
  }
  return moved
}
