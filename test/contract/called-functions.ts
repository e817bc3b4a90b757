import assert from 'node:assert/strict'
import { Session } from 'node:inspector/promises'
import { after, before } from 'node:test'

/** The code of the records. Claims have suites of their own. */
const RECORDS = /\/src\/(database\/.+|\w+\/records\/.+)\.ts$/

/**
 * After all tests of the file, in whatever order they run, a function of the records that none of
 * them has called is a failure.
 */
export function assertAllCalled(): void {
  const session = new Session()
  before(async () => {
    session.connect()
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: false, detailed: false })
  })
  after(async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage')
    session.disconnect()
    // A run of some tests calls some functions.
    if (process.execArgv.some((option) => option.startsWith('--test-name-pattern'))) return
    const records = result.filter(({ url }) => RECORDS.test(url))
    assert.ok(records.length > 0)
    const missed = records.flatMap(({ url, functions }) =>
      functions
        .filter(({ functionName, ranges }) => functionName !== '' && ranges[0]!.count === 0)
        .map(({ functionName }) => `${url.slice(url.indexOf('/src/'))}: ${functionName}`),
    )
    assert.deepEqual(missed, [])
  })
}
