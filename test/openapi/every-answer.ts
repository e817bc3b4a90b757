import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { generateKey } from '../../src/keys/api-key.ts'
import { startUnconfigured } from './unconfigured.ts'
import { ask } from '../fixtures/requests.ts'
import { addOwner, startTestService } from '../fixtures/service.ts'
import { open } from '../wire/client/raw.ts'
import { startValidatingProxy } from './proxy.ts'
import type { Exchange, Validate } from './validator.ts'

type Context = Pick<TestContext, 'after'>

const PATHS = ['/v1/servers', '/health', '/', '/v1/unknown']
const METHODS = ['GET', 'OPTIONS']

/** Makes a service send every kind of answer on every path, and returns the exchanges. */
export async function causeEveryAnswer(t: Context, validate: Validate): Promise<Exchange[]> {
  const all = [causeListings, causeRefusals, causeSilence, causeNotConfigured]
  const exchanges = await Promise.all(all.map((cause) => cause(t, validate)))
  return exchanges.flat()
}

/** 200, 401, 429, both 502s, and every answer that needs no key. */
async function causeListings(t: Context, validate: Validate): Promise<Exchange[]> {
  const { port: target, store, databasePath, clock } = await startTestService(t)
  const { port, exchanges, close } = await startValidatingProxy(target, validate)
  t.after(close)
  const { key } = await addOwner(store, 'ada@example.com', [
    { name: 'Überleben', address: 'play.example.com' },
    { name: 'Realm', address: 'a.example.com', slug: 'realm', version: '1', listing_kind: 'realm' },
  ])
  for (const path of PATHS) for (const method of METHODS) await ask(port, { method, path })
  await ask(port, { method: 'POST' })
  await ask(port, { method: 'HEAD' })
  await ask(port, { key })
  await ask(port, { key })
  clock.elapse(1_000)
  const database = new DatabaseSync(databasePath)
  try {
    for (const table of ['servers', 'api_keys']) {
      database.exec(`ALTER TABLE ${table} RENAME TO elsewhere`)
      await ask(port, { key })
      database.exec(`ALTER TABLE elsewhere RENAME TO ${table}`)
    }
  } finally {
    database.close()
  }
  return exchanges
}

/** 400, 414, 431 and 505. */
async function causeRefusals(t: Context, validate: Validate): Promise<Exchange[]> {
  const { port: target } = await startTestService(t)
  const { port, exchanges, close } = await startValidatingProxy(target, validate)
  t.after(close)
  for (const path of PATHS)
    for (const method of METHODS)
      for (const head of [
        `${method} ${path} HTTP/1.1`,
        `${method} ${path}?${'x'.repeat(9_000)} HTTP/1.1\r\nHost: x`,
        `${method} ${path} HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(9_000)}`,
        `${method} ${path} HTTP/2.0\r\nHost: x`,
      ]) {
        const client = await open(port)
        client.send(`${head}\r\n\r\n`)
        await client.untilEnd()
      }
  return exchanges
}

/** 408. A separate service, so that a slow machine causes no other one. */
async function causeSilence(t: Context, validate: Validate): Promise<Exchange[]> {
  const { port: target } = await startTestService(t, { headersMs: 1_500, checkMs: 50 })
  const { port, exchanges, close } = await startValidatingProxy(target, validate)
  t.after(close)
  const silent = PATHS.flatMap((path) =>
    METHODS.map(async (method) => {
      const client = await open(port)
      client.send(`${method} ${path} HTTP/1.1\r\n`)
      await client.untilEnd()
    }),
  )
  await Promise.all(silent)
  return exchanges
}

async function causeNotConfigured(t: Context, validate: Validate): Promise<Exchange[]> {
  const service = await startUnconfigured()
  const { port, exchanges, close } = await startValidatingProxy(service.port, validate)
  t.after(async () => {
    close()
    await service.close()
  })
  await ask(port, { key: generateKey() })
  return exchanges
}
