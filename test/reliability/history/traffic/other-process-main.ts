import { DatabaseSync } from 'node:sqlite'
import { openPostgresStore } from '../../../../src/postgres/store.ts'
import { openSqliteStore } from '../../../../src/sqlite/store.ts'
import { type Operator, operatorOf } from './scene.ts'

/*
 * The program of a process beside the services. It opens a store as a command does, and does what
 * its parent sends. `execute` runs SQL on a connection to the file, past the store. A wait in here
 * blocks no other process.
 */

export interface Sent {
  id: number
  method: keyof Operator | 'execute'
  args: unknown[]
}

export interface Returned {
  id: number
  value?: unknown
  error?: string
}

const [url = ''] = process.argv.slice(2)
const path = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : null
const operator = operatorOf(
  path === null
    ? await openPostgresStore(url, { create: true })
    : await openSqliteStore(path, { create: true }),
)
const database = path === null ? null : new DatabaseSync(path, { timeout: 5_000 })
// SQLite opens the write-ahead log at the first statement. If the disk is read-only then, the
// connection stays read-only for life.
database?.exec('BEGIN IMMEDIATE; ROLLBACK')

process.on('message', ({ id, method, args }: Sent) => {
  perform(method, args).then(
    (value) => process.send!({ id, value } satisfies Returned),
    (error: unknown) => process.send!({ id, error: String(error) } satisfies Returned),
  )
})
process.on('disconnect', () => process.exit())
process.send!({ id: 0 } satisfies Returned)

async function perform(method: Sent['method'], args: unknown[]): Promise<unknown> {
  if (method === 'execute') return execute(args[0] as string)
  return (operator[method] as (...args: unknown[]) => Promise<unknown>)(...args)
}

/** Leaves no transaction open after an error, so that the caller can repeat the work. */
function execute(sql: string): void {
  try {
    database!.exec(sql)
  } catch (error) {
    if (database!.isTransaction) database!.exec('ROLLBACK')
    throw error
  }
}
