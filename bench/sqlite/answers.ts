import { keysOf, unknownKeys } from '../seed.ts'
import { openDriver, type Driver } from '../load/driver.ts'
import { medianOf, runRounds } from '../rounds.ts'
import { openKeys } from '../scene.ts'
import type { Subject } from '../subject.ts'
import type { Result } from '../table.ts'
import type { Bench } from './measured.ts'

/** As many as there are keys, so that no cache of the service helps one kind more. */
const UNKNOWN_KEYS = 100_000

/**
 * What each answer costs. The bare server sends the bytes of a 200 to every request, so that it
 * stands for node:http with as little work as possible.
 */
export async function measureAnswers(bench: Bench): Promise<Result[]> {
  const { settings, bare, service, driver } = bench
  const withKeys = (name: string, keys: string[]) => openDriver(bench, openKeys(bench, name, keys))
  const malformed = withKeys('malformed', ['not-a-key'])
  const unknown = withKeys('unknown', unknownKeys(UNKNOWN_KEYS))
  const busy = withKeys('busy', keysOf(1))
  const cost = async (subject: Subject, driver: Driver) =>
    (await driver.run(subject, settings.seconds)).cpu
  for (const warmUp of [malformed, unknown, busy]) await warmUp.run(service, settings.warmUpSeconds)
  const rounds = await runRounds({
    title: 'µs of CPU time for an answer',
    count: settings.rounds,
    measure: async () => ({
      bare: await cost(bare, driver),
      'malformed key, 401': await cost(service, malformed),
      'unknown key, 401': await cost(service, unknown),
      'busy key, 429': await cost(service, busy),
      'granted, 200': await cost(service, driver),
    }),
  })
  const timesAsMany = (name: keyof (typeof rounds)[number]) =>
    medianOf(
      rounds.map((round) => ({ ratio: round.bare / round[name] })),
      'ratio',
    )
  return [
    [
      'authenticated 200s per CPU second, service / bare node:http',
      timesAsMany('granted, 200'),
      '≥ 0.85',
    ],
    ['429s per CPU second, likewise', timesAsMany('busy key, 429'), '≥ 1.2'],
  ]
}
