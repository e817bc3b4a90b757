import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { PREFIX_LENGTH } from '../../../src/model/key-format.ts'
import { ask } from '../../fixtures/requests.ts'
import type { Ended } from '../command.ts'
import { logLines, type Program, programIn, type Served } from '../program.ts'

/** True if the bytes reveal the key: any twelve of its digits, or the key in another encoding. */
function needlesOf(key: string): string[] {
  const digits = key.slice('svc_live_'.length)
  const windows = Array.from({ length: digits.length - 11 }, (_, at) => digits.slice(at, at + 12))
  return [
    key.slice(0, PREFIX_LENGTH + 1),
    ...windows,
    ...windows.map((window) => window.toUpperCase()),
    Buffer.from(digits, 'hex').toString('latin1'),
    Buffer.from(digits, 'hex').toString('base64').slice(0, 16),
    Buffer.from(key).toString('base64').slice(16, 40),
  ]
}

function search(where: string, bytes: string, needles: readonly string[]): void {
  for (const needle of needles) assert.ok(!bytes.includes(needle), `${where} has ${needle}`)
}

/** Every file in the program's directories, as a Latin-1 string. */
function readFiles(program: Program): Map<string, string> {
  const files = new Map<string, string>()
  for (const entry of readdirSync(program.folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile())
      files.set(entry.name, readFileSync(join(entry.parentPath, entry.name), 'latin1'))
  return files
}

async function send(port: number, bytes: string): Promise<number> {
  const socket = connect(port, '127.0.0.1')
  socket.end(bytes)
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(await text(socket))?.[1])
}

/** Requests with the key in every place where a client might put it, right or wrong. */
async function sendEverywhere(port: number, key: string): Promise<number[]> {
  const statuses = [
    await ask(port, { key }),
    await ask(port, { key }),
    await ask(port, { path: `/v1/servers?key=${key}` }),
    await ask(port, { path: `/v1/servers/${key}` }),
    await ask(port, { authorization: key }),
    await ask(port, { authorization: `Basic ${key}` }),
    await ask(port, { authorization: `Bearer  ${key}` }),
    await ask(port, { authorization: `Bearer ${key}0` }),
    await ask(port, {
      headers: {
        'X-Api-Key': key,
        Cookie: `key=${key}`,
        Referer: `https://example.com/?key=${key}`,
        'User-Agent': key,
        [key]: key,
      },
    }),
  ].map(({ status }) => status)
  const { length } = key
  return [
    ...statuses,
    await send(
      port,
      `POST /v1/servers HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n${key}`,
    ),
    await send(port, `GET http://${key}/v1/servers HTTP/1.1\r\nHost: ${key}\r\n\r\n`),
    await send(port, `${key} / HTTP/1.1\r\nHost: a\r\n\r\n`),
    await send(port, `GET / HTTP/1.1\r\nHost: a b ${key}\r\n\r\n`),
    await send(port, `${key}\r\n\r\n`),
    await send(port, `GET / HTTP/${key}\r\nHost: a\r\n\r\n`),
    await send(port, `GET /${key.repeat(200)} HTTP/1.1\r\nHost: a\r\n\r\n`),
    await send(port, `GET / HTTP/1.1\r\nHost: a\r\nX: ${key.repeat(200)}\r\n\r\n`),
  ]
}

/** Causes both 502s by renaming the tables for a moment. */
async function breakDatabase(program: Program, port: number, key: string): Promise<number[]> {
  const database = new DatabaseSync(program.databasePath, { timeout: 5_000 })
  const statuses: number[] = []
  for (const table of ['servers', 'api_keys']) {
    database.exec(`ALTER TABLE ${table} RENAME TO away`)
    statuses.push((await ask(port, { key })).status)
    database.exec(`ALTER TABLE away RENAME TO ${table}`)
  }
  database.close()
  return statuses
}

interface Scene {
  program: Program
  served: Served
  keys: string[]
}

async function setScene(t: TestContext, preload: string): Promise<Scene> {
  const program = programIn(t)
  const env = { LOG_LEVEL: 'debug' }
  await program.done('user add ada@example.com --create')
  const keys: string[] = []
  for (const name of ['used', 'broken', 'revoked'])
    keys.push(await program.done(`key issue --user ada@example.com --name ${name}`))
  return { program, served: await program.serve({ env, preload }), keys }
}

function searchAll({ program, keys }: Scene, written: readonly Ended[]): void {
  const files = readFiles(program)
  const database = files.get('listing.db') ?? ''
  for (const key of keys) {
    const needles = needlesOf(key)
    const hash = hashApiKey(key)
    for (const { stdout, stderr } of written)
      search('the output', stdout + stderr, [
        ...needles,
        hash.toString('hex'),
        hash.toString('base64'),
      ])
    // A row has the hash behind the prefix. One hash in 256 begins with the key's next digit.
    const row = key.slice(0, PREFIX_LENGTH) + hash.toString('latin1')
    for (const [name, bytes] of files) search(name, bytes.replaceAll(row, ''), needles)
    // The search finds what the files may contain, which proves that it works.
    const kept = database + (files.get('listing.db-wal') ?? '')
    assert.ok(kept.includes(key.slice(0, PREFIX_LENGTH)) && kept.includes(hash.toString('latin1')))
  }
}

// The signal raises an uncaught error, because no input can cause one.
const CRASH = `process.on('SIGWINCH', () => { throw new Error('a mistake') })`

test('no log, error or file contains a key, however the service is used and ended', async (t) => {
  const scene = await setScene(t, CRASH)
  const { program, served, keys } = scene
  const [used, broken, revoked] = keys as [string, string, string]

  assert.deepEqual(
    await sendEverywhere(served.port, used),
    [200, 429, 401, 404, 401, 401, 401, 401, 401, 404, 401, 404, 400, 400, 400, 414, 431],
  )
  assert.deepEqual(await breakDatabase(program, served.port, broken), [502, 502])
  const commands = [
    await program.run('key revoke --key-stdin', { stdin: revoked }),
    await program.run('key revoke --key-stdin', { stdin: `${revoked}0` }),
    await program.run(`key revoke --user ada@example.com ${used}`),
    await program.run(`key revoke --user ada@example.com an-id ${used}`),
    await program.run(`key revoke --key=${used}`),
    await program.run(`key issue --user ${used} --name bot`),
    await program.run(`key ${used}`),
    await program.run('server import --user ada@example.com -', { stdin: used }),
    await program.run('key list --user ada@example.com --json'),
  ]
  assert.equal((await ask(served.port, { key: revoked })).status, 401)

  // While the service runs, then after a crash, then after kill -9.
  assert.ok(readdirSync(dirname(program.databasePath)).includes('listing.db-wal'))
  searchAll(scene, commands)
  served.kill('SIGWINCH')
  const crashed = await served.ended
  assert.equal(crashed.code, 1)
  assert.equal(logLines(crashed.stdout).find((line) => line.reason === 'a mistake')?.fault, 'Error')
  searchAll(scene, [crashed])

  const again = await program.serve({ env: { LOG_LEVEL: 'debug' } })
  await ask(again.port, { key: broken })
  again.kill('SIGKILL')
  searchAll(scene, [await again.ended])

  const names = [...readFiles(program).keys()]
  const known = /^listing\.db(-wal|-shm|-serving|-serving-journal|-revoked)?$/
  assert.deepEqual(
    names.filter((name) => !known.test(name)),
    [],
  )
})
