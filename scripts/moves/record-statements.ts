import { appendFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { beforeEach, type TestContext } from 'node:test'
import { isMainThread } from 'node:worker_threads'
import fc from 'fast-check'

/*
 * `node --import` loads this into a test process. It writes each SQL text that the process sends to
 * a driver to the file STATEMENTS, as lines of JSON with the test and the connection.
 * statements.ts starts it and reads the file.
 */

/** One text, as a driver got it. */
export interface Sent {
  test: string
  connection: string
  text: string
}

type Method = (this: object, ...args: unknown[]) => unknown

const RUNS = ['run', 'get', 'all', 'iterate']

const file = process.env.STATEMENTS
const connections = new WeakMap<object, number>()
const databases = new WeakMap<object, object>()
let opened = 0
let test = ''

// The runner itself loads this, too. The thread for checkpoints has its own times.
if (file !== undefined && process.env.NODE_TEST_CONTEXT !== undefined && isMainThread) {
  beforeEach((context) => {
    test = (context as TestContext).fullName
  })
  // Both trees try the same random values. fast-check keeps this for all its copies.
  fc.configureGlobal({ seed: 1 })
  recordSqlite(file)
  recordPostgres(file)
}

function recordSqlite(path: string): void {
  intercept(DatabaseSync.prototype, 'exec', (database, [text]) => write(path, database, text))
  wrap(DatabaseSync.prototype, 'prepare', (prepare) => {
    return function (...args) {
      const statement = prepare.apply(this, args) as object
      databases.set(statement, this)
      return statement
    }
  })
  for (const name of RUNS)
    intercept(StatementSync.prototype, name, (statement) =>
      write(path, databases.get(statement)!, (statement as StatementSync).sourceSQL),
    )
}

/** Takes the driver of the tree whose tests run, which may be another tree than this one. */
function recordPostgres(path: string): void {
  const { Client } = createRequire(join(process.cwd(), 'package.json'))('pg') as {
    Client: { prototype: object }
  }
  intercept(Client.prototype, 'query', (client, [query]) =>
    write(path, client, typeof query === 'string' ? query : (query as { text: unknown }).text),
  )
}

/** A call that throws at once has sent nothing that lasts: mostly a BEGIN on a locked file. */
function intercept(
  prototype: object,
  name: string,
  note: (self: object, args: unknown[]) => void,
): void {
  wrap(prototype, name, (method) => {
    return function (...args) {
      const result = method.apply(this, args)
      note(this, args)
      return result
    }
  })
}

function wrap(prototype: object, name: string, wrapper: (method: Method) => Method): void {
  const methods = prototype as Record<string, Method>
  methods[name] = wrapper(methods[name]!)
}

function write(path: string, connection: object, text: unknown): void {
  if (!connections.has(connection)) {
    opened += 1
    connections.set(connection, opened)
  }
  const number = `${process.pid}.${connections.get(connection)}`
  const sent: Sent = { test, connection: number, text: String(text) }
  appendFileSync(path, `${JSON.stringify(sent)}\n`)
}
