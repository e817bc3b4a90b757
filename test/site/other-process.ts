import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

const PROGRAM = `
  const { DatabaseSync } = require('node:sqlite')
  const database = new DatabaseSync(process.argv[1], { enableForeignKeyConstraints: false })
  database.exec(process.argv[2])`

/** Runs SQL on an SQLite file in another process, whose connection has SQLite's own defaults. */
export async function runElsewhere(path: string, sql: string): Promise<void> {
  await run(process.execPath, ['--no-warnings', '-e', PROGRAM, path, sql])
}
