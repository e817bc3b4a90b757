import { openClients } from './client.ts'
import { textsOf } from './requests.ts'
import type { Latencies, Paced } from './programs.ts'
import { type Answered, askOnSchedule, percentile } from './schedule.ts'

/*
 * Sends requests at a fixed rate and prints their latencies. The argument is a Paced as JSON.
 */

const paced = JSON.parse(process.argv[2]!) as Paced
const clients = await openClients(paced.port, paced.connections)
const startsAt =
  paced.startsAt === undefined ? performance.now() + 10 : paced.startsAt - performance.timeOrigin
const used = process.threadCpuUsage()
const all = await askOnSchedule({
  clients,
  text: textsOf(paced),
  rate: paced.rate,
  startsAt,
  endsAt: startsAt + paced.seconds * 1_000,
  whenBusy: 'wait',
})
const { user, system } = process.threadCpuUsage(used)
const busy = (user + system) / 1_000 / (performance.now() - startsAt)
console.log(JSON.stringify(latenciesOf(all, busy)))
for (const client of clients) client.close()

function latenciesOf(all: readonly Answered[], busy: number): Latencies {
  const from = startsAt + paced.uncountedSeconds * 1_000
  const counted = all
    .filter(({ dueAt, status }) => dueAt >= from && (status === 200 || status === 0))
    .map(({ latency }) => latency)
  const having = (isMeant: (status: number) => boolean) =>
    all.filter(({ status }) => isMeant(status)).length
  return {
    ok: having((status) => status === 200),
    other: having((status) => status !== 200 && status !== 0),
    unanswered: having((status) => status === 0),
    p50: percentile(counted, 0.5),
    p99: percentile(counted, 0.99),
    p999: percentile(counted, 0.999),
    busy,
  }
}
