import { Readable } from 'node:stream'
import { spec } from 'node:test/reporters'

interface TestEvent {
  type: string
  data: { details?: { type?: string }; skip?: unknown; todo?: unknown }
}

/** The usual report of node:test, and a last line that counts. A skipped test is a failed one: it proves nothing. */
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  let passed = 0
  let failed = 0

  async function* counted() {
    for await (const event of source) {
      if (isTest(event)) {
        if (event.type === 'test:pass' && !event.data.skip && !event.data.todo) passed += 1
        else failed += 1
      }
      yield event
    }
  }

  for await (const text of Readable.from(counted()).compose(spec())) yield String(text)
  if (passed + failed === 0 || failed > 0) process.exitCode = 1
  yield `\n${passed} passed, ${failed} failed\n`
}

function isTest({ type, data }: TestEvent): boolean {
  return (type === 'test:pass' || type === 'test:fail') && data.details?.type !== 'suite'
}
