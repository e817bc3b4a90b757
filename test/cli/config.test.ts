import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { commandsIn } from './command.ts'

interface Shown {
  name: string
  value: string | null
  source: string
  default: string | null
}

test('a setting from a flag, the environment or a file has its value and its source', async (t) => {
  const program = commandsIn(t)
  const file = join(program.folder, 'service.env')
  writeFileSync(file, 'PORT=7\nOPS_PORT=7003\nBASE_URL=\nSIGN_UP=open\nOPERATORS=Ada@example.com\n')
  const args = ['config', '--json', '--env-file', file, '--host', '0.0.0.0']
  const env = { PORT: '7001', OPS_PORT: '', LOG_LEVEL: '', TRUSTED_PROXIES: '10.0.0.0/8, ::1' }
  const shown = JSON.parse(await program.done(args, { env })) as Shown[]
  const found = shown.filter(({ source }) => source !== 'default')
  assert.deepEqual(
    found.map(({ name, value, source }) => [name, value, source]),
    [
      ['DATABASE_URL', `sqlite:${program.databasePath}`, 'environment'],
      ['HOST', '0.0.0.0', 'flag'],
      ['PORT', '7001', 'environment'],
      ['DASHBOARD_PORT', '0', 'environment'],
      ['SIGN_UP', 'open', 'env_file'],
      ['OPERATORS', 'ada@example.com', 'env_file'],
      ['OPS_PORT', '7003', 'env_file'],
      ['TRUSTED_PROXIES', '10.0.0.0/8,::1', 'environment'],
    ],
  )
})

test('no output of config has a password', async (t) => {
  const program = commandsIn(t)
  const url = join(program.folder, 'url')
  writeFileSync(url, 'postgres://u:hunter2@db/listing?sslmode=require&password=hunter2\n')
  const env = { DATABASE_URL: '', DATABASE_URL_FILE: url }
  const [table, json] = await Promise.all([
    program.done('config', { env }),
    program.done('config --json', { env }),
  ])
  assert.match(
    table,
    /^DATABASE_URL +postgres:\/\/u:…@db\/listing\?sslmode=require&password=… +DATABASE_URL_FILE$/m,
  )
  assert.match(table, /^PORT +0 +environment$/m)
  assert.match(table, /^OPERATORS +- +default$/m)
  const [database, file] = JSON.parse(json) as Shown[]
  assert.equal(database!.source, 'file')
  assert.deepEqual([file!.value, file!.source], [url, 'environment'])
  assert.doesNotMatch(table + json, /hunter2/)
  const option = await program.done('config --database postgres://u:hunter2@db/listing')
  assert.match(option, /^DATABASE_URL +postgres:\/\/u:…@db\/listing +option$/m)
  // It asks no database, and makes no file.
  assert.deepEqual(readdirSync(program.folder), ['url'])
})
