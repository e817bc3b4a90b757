import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { createListingCache, type ListingCache } from '../../../src/api/listing-cache.ts'
import type { ServingStore } from '../../../src/database/store.ts'
import type { Claim, Granted as GrantedClaim } from '../../../src/model/claim.ts'
import type { ServerRow } from '../../../src/model/server-row.ts'
import { MEGABYTE } from '../../../src/model/text.ts'
import { type Ended, runCommand } from '../../cli/command.ts'
import { startIn } from '../../cli/process.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import type { Random } from '../../fixtures/random.ts'
import { readDatabase } from '../model/content.ts'
import { emptySide, isAlive, type Rows, rowsOf, type Side } from './model.ts'

/** A database of one engine, and the model of it. */
export interface Place {
  engine: 'sqlite' | 'postgres'
  /** DATABASE_URL. */
  url: string
  side: Side
  serve(): Promise<ServingStore>
  /** Runs SQL without the service's code. Both engines must understand it. */
  execute(sql: string): Promise<void>
  /** The list of revoked hashes, in hexadecimal. */
  readList(): Promise<string[]>
  /** The rows of another program, as text; null if a replaced file took them along. */
  readForeign(): Promise<string | null>
}

/** A file that a sequence may restore. */
export interface Saved {
  path: string
  side: Side
}

export interface World {
  random: Random
  folder: string
  /** The database of the service, and one of the other engine that only commands use. */
  main: Place
  other: Place
  service: ServingStore | null
  /** What the service has rendered: here the addresses of the servers. */
  listings: ListingCache
  /** True while an act runs, whose changes the model gets at its end. */
  isActing: boolean
  /** How many acts have begun. */
  acts: number
  archives: Saved[]
  /** Copies of a stopped service's file. */
  files: Saved[]
  /** Declared states. */
  states: Saved[]
  /** All keys that were ever issued, by hash. */
  keys: Map<string, string>
  granted: Granted
  foreign: string | null
  run(place: Place, args: readonly string[], stdin?: string): Promise<Ended>
  /** Starts the command as a process and kills it after some time. True if it had ended. */
  kill(place: Place, args: readonly string[], stdin?: string): Promise<boolean>
  log: string[]
}

export async function openWorld(
  t: TestContext,
  random: Random,
  main: Place,
  other: Place,
): Promise<World> {
  const folder = temporaryFolder(t)
  const begin = startIn(t, folder)
  const world: World = {
    random,
    folder,
    main,
    other,
    service: null,
    listings: createListingCache(MEGABYTE),
    isActing: false,
    acts: 0,
    archives: [],
    files: [],
    states: [],
    keys: new Map(),
    granted: new Map(),
    foreign: await main.readForeign(),
    run: (place, args, stdin = '') => runCommand(args, { env: { DATABASE_URL: place.url }, stdin }),
    async kill(place, args, stdin = '') {
      const command = begin(args, { env: { DATABASE_URL: place.url }, stdin })
      const timer = setTimeout(() => command.kill('SIGKILL'), random.between(200, 1_500))
      const { signal } = await command.ended
      clearTimeout(timer)
      return signal === null
    },
    log: [],
  }
  t.after(async () => world.service?.close())
  for (const place of [main, other]) place.side = emptySide()
  await start(world)
  return world
}

export async function start(world: World): Promise<void> {
  world.service = await world.main.serve()
  world.listings = createListingCache(MEGABYTE)
}

export async function stop(world: World): Promise<void> {
  await world.service?.close()
  world.service = null
}

/** On SQLite a restore needs a stopped service. */
export async function whileStopped(world: World, work: () => Promise<void>): Promise<void> {
  const wasServing = world.service !== null && world.main.engine === 'sqlite'
  if (wasServing) await stop(world)
  await work()
  if (wasServing) await start(world)
}

export async function done(world: World, place: Place, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await world.run(place, args)
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`)
  return stdout
}

const INTERVAL_MS = 1_000
const ANSWER_MS = 5_000

/** When requests were sent and answered that got a 200, by key. */
type Granted = Map<string, { sent: number; received: number }>

/**
 * The outcome of one claim, or its fault. Fails if two 200s came within a second: both stamps lie
 * between the first request and the second answer. Between two acts, a 200 has the servers of the
 * model.
 */
async function ask(world: World, key: string): Promise<unknown> {
  const sent = performance.now()
  const { granted, listings, acts, isActing } = world
  const used = await world
    .service!.claim(hashApiKey(key), listings)
    .catch((error: unknown) => error)
  if (!isGranted(used)) return used instanceof Error ? used : (used as Claim).outcome
  const body = used.rows === null ? used.held.body : render(used.rows)
  if (used.rows !== null) listings.set(used.userId, { revision: used.revision, body })
  if (!isActing && acts === world.acts)
    assert.equal(body.toString(), world.main.side.rows.users[used.userId]?.server ?? '')
  const received = performance.now()
  const last = granted.get(key) ?? { sent: -Infinity, received: 0 }
  const apart = Math.max(received - last.sent, last.received - sent)
  assert.ok(apart >= INTERVAL_MS, `two 200s within ${apart} ms`)
  granted.set(key, { sent, received })
  return used.outcome
}

const isGranted = (used: unknown): used is GrantedClaim => (used as Claim).outcome === 'granted'

const render = (rows: readonly ServerRow[]): Buffer =>
  Buffer.from(rows.map(({ host_label }) => host_label).join(' '))

/** Asks with each key until the end, also while an act is under way. A listed key gets no 200. */
export async function keepAsking(world: World, end: AbortSignal): Promise<void> {
  const { main, keys } = world
  while (!end.aborted) {
    for (const [hash, key] of keys) {
      const isListed = main.side.list.has(hash)
      const outcome = world.service === null ? null : await ask(world, key)
      assert.ok(!isListed || outcome !== 'granted', `the listed key ${hash.slice(0, 8)} got a 200`)
      await delay(10)
    }
    await delay(10)
  }
}

/** Asks with a key until it gets an answer other than 502. */
export async function untilAnswered(world: World, key: string): Promise<'alive' | 'dead'> {
  const until = performance.now() + ANSWER_MS
  for (;;) {
    const outcome = await ask(world, key)
    if (outcome === 'granted' || outcome === 'limited') return 'alive'
    if (outcome === 'unknown' || outcome === 'revoked') return 'dead'
    assert.ok(performance.now() < until, `no answer but 502: ${String(outcome)}`)
    await delay(20)
  }
}

/** The database and the answers of the service are those of the model. */
export async function check(world: World): Promise<void> {
  const { main, service, keys } = world
  await checkContent(main)
  assert.equal(await main.readForeign(), world.foreign)
  if (service === null) return
  const answers = [...keys].map(async ([hash, key]) => {
    const expected = isAlive(main.side, hash) ? 'alive' : 'dead'
    assert.equal(await untilAnswered(world, key), expected, `key ${hash.slice(0, 8)}`)
  })
  await Promise.all(answers)
}

/** The rows and the list are those of the model. */
export async function checkContent(place: Place): Promise<void> {
  assert.deepEqual(await readRows(place), place.side.rows)
  assert.deepEqual((await place.readList()).toSorted(), [...place.side.list].toSorted())
}

/** After a second, each living key gets a 200. */
export async function checkGranted(world: World): Promise<void> {
  const { granted } = world
  if (world.service === null) await start(world)
  const alive = [...world.keys].filter(([hash]) => isAlive(world.main.side, hash))
  const answers = alive.map(async ([hash, key]) => {
    const last = granted.get(key)?.sent
    for (let tries = 0; granted.get(key)?.sent === last; tries += 1) {
      assert.ok(tries < 100, `key ${hash.slice(0, 8)} gets no 200`)
      await untilAnswered(world, key)
      await delay(50)
    }
  })
  await Promise.all(answers)
}

/** What the tables have, in a database without damage. */
export async function readRows({ url }: Place): Promise<Rows> {
  const { content, damage } = await readDatabase(url)
  assert.equal(damage, null)
  return rowsOf(content)
}

export const hashOf = (key: string): string => hashApiKey(key).toString('hex')

export function pickKey({ main, random }: World): string | null {
  const hashes = Object.keys(main.side.rows.keys)
  return hashes.length === 0 ? null : random.pick(hashes)
}

/** A user, and how commands name the user. */
export function pickUser(world: World): { id: string; named: string[] } | null {
  const user = pick(world, Object.entries(world.main.side.rows.users))
  if (user === null) return null
  const [id, { email, externalId }] = user
  return { id, named: externalId === null ? [email!] : ['--external-id', externalId] }
}

export function pick<T>({ random }: World, items: readonly T[]): T | null {
  return items.length === 0 ? null : random.pick(items)
}

let files = 0

export function nextPath({ folder }: World, kind: string): string {
  files += 1
  return join(folder, `${files}.${kind}`)
}

/** An act of an operator, an owner or another program. False if there is nothing to do it with. */
export type Act = (world: World) => Promise<boolean>
