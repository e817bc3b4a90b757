import assert from 'node:assert/strict'
import { renameSync, writeFileSync } from 'node:fs'
import files from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { KeyFileError, UnauthorizedError } from '../../client/src/index.ts'
import { presentInstant } from '../../src/model/instant.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { issueKey } from '../fixtures/service.ts'
import { startScene } from './scene.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { recordsOf } from '../fixtures/records.ts'

test('a watch goes on with the new key after the old one is revoked', async (t) => {
  const { service, user, time, seen, apiKeyFile, write, start } = await startWithFile(t)
  const stopped = new AbortController()
  const watching = (async () => {
    for await (const servers of start({ apiKeyFile }).watch({ signal: stopped.signal }))
      assert.equal(servers.length, 1)
  })()
  await time.run(10_000, 1)
  const [old] = await recordsOf(service.store).listApiKeys(user.id)
  const { key } = await issueKey(service.store, user, 'new')
  write(`${key}\n`)
  await time.run(10_000, 1)
  const before = seen.length
  await recordsOf(service.store).revokeApiKey(user.id, old!.id, operatorAt(presentInstant()))
  await time.run(10_000, 1)
  stopped.abort(new Error('the test is over'))
  await assert.rejects(watching, /the test is over/)
  const after = seen.slice(before).map(({ status }) => status)
  assert.deepEqual(after.slice(0, 2), [401, 200])
  assert.ok(after.slice(2).every((status) => status === 200))
})

test('with an unchanged file a 401 is not asked again', async (t) => {
  const { service, user, seen, apiKeyFile, start } = await startWithFile(t)
  const [only] = await recordsOf(service.store).listApiKeys(user.id)
  await recordsOf(service.store).revokeApiKey(user.id, only!.id, operatorAt(presentInstant()))
  await assert.rejects(start({ apiKeyFile }).listServers(), UnauthorizedError)
  assert.deepEqual(
    seen.map(({ status }) => status),
    [401],
  )
})

test('a second refused key is not asked a third time', async (t) => {
  const { service, user, key, seen, apiKeyFile, write, start } = await startWithFile(t)
  const [only] = await recordsOf(service.store).listApiKeys(user.id)
  await recordsOf(service.store).revokeApiKey(user.id, only!.id, operatorAt(presentInstant()))
  const digits = ['0', '1', '2'].filter((digit) => !key.endsWith(digit))
  let changes = 0
  const client = start({
    apiKeyFile,
    // Each request finds another key in the file.
    async fetch(input, init) {
      changes += 1
      write(`${key.slice(0, -1)}${digits[changes % 2]}`)
      const response = await fetch(input, init)
      seen.push({ at: 0, process: 0, status: response.status })
      return response
    },
  })
  await assert.rejects(client.listServers(), UnauthorizedError)
  assert.deepEqual(
    seen.map(({ status }) => status),
    [401, 401],
  )
})

test('calls that share a 401 go on with the new key', async (t) => {
  const { service, user, time, seen, apiKeyFile, write, start } = await startWithFile(t)
  const client = start({ apiKeyFile })
  await client.listServers()
  const [old] = await recordsOf(service.store).listApiKeys(user.id)
  write((await issueKey(service.store, user, 'new')).key)
  await recordsOf(service.store).revokeApiKey(user.id, old!.id, operatorAt(presentInstant()))
  const isReading = watchReads(t)
  const calls = Array.from({ length: 10 }, () => client.listServers())
  // No time passes while calls still read the file, which takes long on a busy machine.
  await time.until(Promise.all(calls), isReading)
  // Calls that read the file before the first of them asked share its answer, the others the next.
  const statuses = seen.map(({ status }) => status).join(' ')
  assert.match(statuses, /^200 401 200( 200)?$/)
})

test('a file that lost its key is an error that names the file, not the key', async (t) => {
  const { service, user, time, key, apiKeyFile, write, start } = await startWithFile(t)
  const client = start({ apiKeyFile })
  await client.listServers()
  const [only] = await recordsOf(service.store).listApiKeys(user.id)
  await recordsOf(service.store).revokeApiKey(user.id, only!.id, operatorAt(presentInstant()))
  write(`${key} # the old one`)
  await assert.rejects(time.until(client.listServers()), (error) => {
    assert.ok(error instanceof KeyFileError)
    assert.ok(error.message.includes(apiKeyFile))
    assert.ok(!error.message.includes(key))
    return true
  })
})

/** Returns a function that says whether a file is being read. */
function watchReads(t: TestContext): () => boolean {
  let reading = 0
  const { readFile } = files
  t.mock.method(files, 'readFile', async (...args: Parameters<typeof readFile>) => {
    reading += 1
    try {
      return await readFile(...args)
    } finally {
      reading -= 1
    }
  })
  return () => reading > 0
}

async function startWithFile(t: TestContext) {
  const scene = await startScene(t)
  const apiKeyFile = join(temporaryFolder(t), 'key')
  /** Replaces the file in one step. */
  const write = (text: string) => {
    writeFileSync(`${apiKeyFile}.new`, text)
    renameSync(`${apiKeyFile}.new`, apiKeyFile)
  }
  write(`${scene.key}\n`)
  return { ...scene, apiKeyFile, write }
}
