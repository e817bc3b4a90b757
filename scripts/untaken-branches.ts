import { relative } from 'node:path'

interface CoveredFile {
  path: string
  branches: { line: number; count: number }[]
  /** Without the lines of `node:coverage ignore` comments. */
  lines: { line: number }[]
}

interface TestEvent {
  type: string
  data: { summary?: { files: CoveredFile[] } }
}

/** A reporter for node:test that names the branches that no test took. */
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of source)
    if (type === 'test:coverage') for (const file of data.summary!.files) yield* untakenIn(file)
}

function* untakenIn({ path, branches, lines }: CoveredFile): Generator<string> {
  for (const { line, count } of branches)
    if (count === 0 && lines.some((counted) => counted.line === line))
      yield `not taken: ${relative('', path)}:${line}\n`
}
