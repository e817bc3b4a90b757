import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { exchange, type Person, personAt } from '../../test/fixtures/person.ts'
import { type Answer, ask } from '../../test/fixtures/requests.ts'
import { median } from '../rounds.ts'
import { openTable } from '../table.ts'
import { bodyOf, UPLOAD_TYPE, UPLOADS } from './uploads.ts'

/*
 * Measures how long the dashboard holds the event loop that it shares with the API. Prints the
 * longest turn under each upload, and under the pages and exports of an owner of 100,000 servers.
 * Prints also how long the API takes to answer beside five accounts that upload.
 *
 * `node bench/turns/run.ts [FOLDER…]` compares this working tree with other ones in turns. Each
 * folder needs its own node_modules.
 */

const SERVERS = 100_000
const UPLOADS_EACH = 4
const POLL_MS = 250
const BESIDE_UPLOADS = Object.keys(UPLOADS).slice(0, 3)
const IMPORT = '/dashboard/servers/import'
const PAGES = [
  '/dashboard',
  '/dashboard/api',
  '/dashboard/servers',
  '/dashboard/servers?sort=-name',
  '/dashboard/servers?q=9',
  '/dashboard/servers?select=1&page=40',
  '/dashboard/organizations',
  '/dashboard/account',
  '/dashboard/operator',
  '/dashboard/servers/export.json',
  '/dashboard/servers/export.csv',
]

interface Started {
  port: number
  dashboardPort: number
  owners: { email: string; key: string }[]
  password: string
}

/** A service under measurement. */
interface Subject {
  /** The longest turn of the event loop while `body` runs, in milliseconds of CPU time. */
  longestTurn(body: () => Promise<unknown>): Promise<number>
  started: Started
  people: Person[]
}

const trees = ['.', ...process.argv.slice(2)].map((folder) => resolve(folder))
const running: ChildProcess[] = []
process.on('exit', () => {
  for (const child of running) child.kill()
})
const subjects = await Promise.all(trees.map(start))
const nameOf = (tree: number) => (tree === 0 ? 'now' : trees[tree]!.split('/').at(-1)!)

await compare(
  'longest turn under an upload, in ms of CPU time',
  Object.keys(UPLOADS),
  (subject, name) => {
    const body = bodyOf(UPLOADS[name]!)
    return subject.longestTurn(() => checkAndSave(subject, subject.people[1]!, body))
  },
)
await compare('longest turn under a page, in ms of CPU time', PAGES, (subject, path) =>
  subject.longestTurn(() => subject.people[0]!.get(path)),
)
const BESIDE = ['median', 'slowest', 'longest turn', 'failed']
const beside = new Map<Subject, Record<string, number>>()
await compare('the API beside five accounts that upload, in ms', BESIDE, async (subject, name) => {
  if (name === BESIDE[0]) beside.set(subject, await measureBeside(subject))
  return beside.get(subject)![name]!
})
process.exit()

/** Measures each case on each tree in turns. */
async function compare(
  title: string,
  cases: readonly string[],
  measure: (subject: Subject, name: string) => Promise<number>,
): Promise<void> {
  const printRow = openTable(title, '')
  for (const name of cases) {
    const measured: number[] = []
    for (const subject of subjects) measured.push(await measure(subject, name))
    printRow(
      '',
      Object.fromEntries(measured.map((value, tree) => [nameOf(tree), value])),
      `   ${name}`,
    )
  }
}

async function start(tree: string): Promise<Subject> {
  const program = join(import.meta.dirname, 'service-main.ts')
  // The flags of the program's first line.
  const execArgv = ['--max-semi-space-size=8', '--no-parallel-scavenge']
  const child = fork(program, [tree, String(SERVERS)], { execArgv })
  running.push(child)
  const [started] = (await once(child, 'message')) as [Started]
  const people: Person[] = []
  for (const { email } of started.owners) {
    const person = personAt(started.dashboardPort)
    await person.signIn(email, started.password)
    people.push(person)
  }
  const takeLongest = async () => {
    child.send('')
    const [{ longestMs }] = (await once(child, 'message')) as [{ longestMs: number }]
    return longestMs
  }
  return {
    started,
    people,
    async longestTurn(body) {
      await takeLongest()
      await body()
      return takeLongest()
    },
  }
}

/** Sends an upload. If its check offers to save it, saves it. */
async function checkAndSave(subject: Subject, person: Person, body: Buffer): Promise<void> {
  const answer = await upload(subject, person, body)
  if (answer.status !== 303) return
  const path = String(answer.headers.location)
  const page = await person.get(path)
  const plan = /name="plan" value="([^"]+)"/.exec(page.body)?.[1]
  if (plan !== undefined) await person.post(path, { plan })
}

function upload({ started }: Subject, person: Person, body: Buffer): Promise<Answer> {
  const headers = { 'Content-Type': UPLOAD_TYPE, 'Sec-Fetch-Site': 'same-origin' }
  const sent = { ...headers, Cookie: person.cookie() }
  return exchange(started.dashboardPort, 'POST', IMPORT, sent, body)
}

/** What a key waits for its answers while five accounts upload. */
async function measureBeside(subject: Subject): Promise<Record<string, number>> {
  const { started, people } = subject
  const bodies = BESIDE_UPLOADS.map((name) => bodyOf(UPLOADS[name]!))
  const waits: number[] = []
  let failed = 0
  const uploaded = new AbortController()
  // A service that is held up for too long drops connections.
  const mayFail = (sent: Promise<unknown>) =>
    sent.catch(() => {
      failed += 1
    })
  const turn = await subject.longestTurn(async () => {
    const uploading = people.slice(1, 6).map(async (person) => {
      for (let sent = 0; sent < UPLOADS_EACH; sent += 1)
        await mayFail(upload(subject, person, bodies[sent % bodies.length]!))
    })
    const ended = Promise.all(uploading).then(() => uploaded.abort())
    while (!uploaded.signal.aborted) {
      const { key } = started.owners[waits.length % started.owners.length]!
      const startedAt = performance.now()
      await mayFail(ask(started.port, { key }))
      waits.push(performance.now() - startedAt)
      await delay(POLL_MS)
    }
    await ended
  })
  return { median: median(waits), slowest: Math.max(...waits), 'longest turn': turn, failed }
}
