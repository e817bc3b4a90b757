import { DatabaseSync } from 'node:sqlite'
import type { Store } from '../../src/listing/store.ts'
import { openPostgresStore } from '../../src/postgres/store.ts'
import { openSqliteStore } from '../../src/sqlite/store.ts'

/*
 * The program of a process beside the services: it opens a store as a command does, and does what it is sent by its
 * parent. `execute` is SQL on a connection to the file, past the store. A wait in here stops nobody's clock.
 */

export interface Sent {
  id: number
  method: keyof Store | 'execute'
  args: unknown[]
}

export interface Returned {
  id: number
  value?: unknown
  error?: string
}

const [url = ''] = process.argv.slice(2)
const path = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : null
const store =
  path === null ? await openPostgresStore(url) : await openSqliteStore(path, { create: true })
const database = path === null ? null : new DatabaseSync(path, { timeout: 5_000 })

process.on('message', ({ id, method, args }: Sent) => {
  perform(method, args).then(
    (value) => process.send!({ id, value } satisfies Returned),
    (error: unknown) => process.send!({ id, error: String(error) } satisfies Returned),
  )
})
process.on('disconnect', () => process.exit())
process.send!({ id: 0 } satisfies Returned)

async function perform(method: Sent['method'], args: unknown[]): Promise<unknown> {
  if (method === 'execute') return database!.exec(args[0] as string)
  return (store[method] as (...args: unknown[]) => Promise<unknown>)(...args)
}
