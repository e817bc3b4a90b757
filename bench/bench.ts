import { writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fetchRaw, parseAnswer, withoutDate } from './answer.ts'
import type { Children } from './children.ts'
import { chooseDriver, CONNECTIONS, type Driver, type Seen } from './load.ts'
import type { Latencies } from './open-loop.ts'
import { seed } from './seed.ts'
import { startSubject, type Subject } from './subject.ts'

/** How long and how much. */
export interface Settings {
  rounds: number
  /** Of one server in one round. */
  seconds: number
  warmUpSeconds: number
  /** Answered by each server before its memory is read. */
  requests: number
}

/** Two servers under the same load, and what the trials need to put them there. */
export interface Bench {
  settings: Settings
  service: Subject
  bare: Subject
  driverName: string
  /** Asks one server as fast as it answers. */
  askAtOnce(subject: Subject, seconds: number): Promise<Seen>
  /** Asks one server at a fixed rate, in requests per second. */
  askAtRate(subject: Subject, rate: number, seconds: number): Promise<Latencies>
  print(line: string): void
  close(): Promise<void>
}

const path = (relative: string) => join(import.meta.dirname, relative)

/** Seeds a database in the folder, and starts the service on it and a bare server that sends the same answer. */
export async function openBench(
  children: Children,
  folder: string,
  settings: Settings,
  print: (line: string) => void,
): Promise<Bench> {
  const databasePath = join(folder, 'bench.db')
  const keysPath = join(folder, 'keys.txt')
  print('seeding 20,000 owners, 200,000 servers, 100,000 keys')
  const keys = await seed(databasePath)
  writeFileSync(keysPath, `${keys.join('\n')}\n`, { mode: 0o600 })

  const service = await startSubject(
    children,
    'service',
    // As an operator starts it, with what its first line asks of Node.js.
    [path('../bin/server-listing.js'), 'serve'],
    {
      // That line finds Node.js by name; it is to be the one that runs this.
      PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
      DATABASE_URL: `sqlite:${databasePath}`,
      HOST: '127.0.0.1',
      PORT: '0',
      DASHBOARD_PORT: '0',
      LOG_LEVEL: 'info',
    },
  )
  const bare = await startBare(children, folder, service, keys.at(-1)!)
  const driver: Driver = await chooseDriver(children, folder, keysPath, keys)

  return {
    settings,
    service,
    bare,
    driverName: driver.name,
    print,
    close: async () => children.endAll(),

    async askAtOnce(subject, seconds) {
      const seen = await driver.run(subject.port, seconds, subject.nextKey)
      const answers = seen.ok + seen.other
      subject.answered += answers
      // When the driver stops, every connection has a request under way.
      subject.nextKey = (subject.nextKey + answers + CONNECTIONS) % keys.length
      return seen
    },

    async askAtRate(subject, rate, seconds) {
      const numbers = [subject.nextKey, rate, seconds].map(String)
      const args = [path('open-loop.ts'), String(subject.port), keysPath, ...numbers]
      const printed = await children.run(process.execPath, args, seconds + 30)
      const latencies = JSON.parse(printed) as Latencies
      subject.answered += latencies.ok + latencies.other
      subject.nextKey = (subject.nextKey + Math.round(rate * seconds)) % keys.length
      return latencies
    },
  }
}

/** The answer it sends is one that the service sent; it is checked that the two agree to the byte. */
async function startBare(
  children: Children,
  folder: string,
  service: Subject,
  key: string,
): Promise<Subject> {
  const raw = await fetchRaw(service.port, key)
  const answer = parseAnswer(raw)
  if (answer.status !== 200) throw new Error(`the service does not answer 200: ${raw}`)
  const answerPath = join(folder, 'answer.json')
  writeFileSync(answerPath, JSON.stringify(answer))
  const bare = await startSubject(children, 'bare', [
    process.execPath,
    path('bare-server.ts'),
    answerPath,
  ])
  const bareRaw = await fetchRaw(bare.port, key)
  if (withoutDate(bareRaw) !== withoutDate(raw))
    throw new Error(`the two servers do not send the same bytes:\n${raw}\n\n${bareRaw}`)
  return bare
}
