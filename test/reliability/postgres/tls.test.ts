import assert from 'node:assert/strict'
import { chmodSync, copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openPostgresStore } from '../../../src/postgres/store.ts'
import { diagnose } from '../../cli/doctor/findings.ts'
import { assertRefused } from '../../cli/command.ts'
import { programIn } from '../../cli/program.ts'
import { type Cluster, give, startCluster } from '../../fixtures/postgres/cluster.ts'
import { asAdmin } from '../../fixtures/postgres/database.ts'
import { ROOT } from '../../fixtures/tree.ts'

/*
 * `sslmode` in DATABASE_URL means what it means to PostgreSQL's own programs. The certificate is
 * self-signed for the name localhost.
 */

const CERTIFICATE = join(ROOT, 'test/fixtures/tls/localhost.crt')

let plain: Cluster
let secure: Cluster
before(async () => {
  plain = await startCluster()
  secure = await startCluster()
  for (const end of ['crt', 'key']) {
    const path = join(secure.dataFolder, `server.${end}`)
    copyFileSync(join(ROOT, `test/fixtures/tls/localhost.${end}`), path)
    give(path)
    chmodSync(path, 0o600)
  }
  await asAdmin(secure.url(), (client) => client.query('ALTER SYSTEM SET ssl = on'))
  await secure.stop('fast')
  await secure.start()
})
after(async () => {
  await secure.remove()
  await plain.remove()
})

/** Whether a store that is opened with these parameters encrypts its connections. */
async function isEncrypted(cluster: Cluster, parameters: string): Promise<boolean> {
  const url = `${cluster.url().replace('127.0.0.1', hostIn(parameters))}?${parameters.replace(/&?host=\w+/, '')}`
  const store = await openPostgresStore(url, { create: true })
  try {
    return await asAdmin(cluster.url(), async (client) => {
      const { rows } = await client.query(
        `SELECT bool_and(ssl) AS ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
         WHERE application_name = 'server-listing'`,
      )
      return rows[0].ssl as boolean
    })
  } finally {
    await store.close()
  }
}

function hostIn(parameters: string): string {
  return /host=(\w+)/.exec(parameters)?.[1] ?? '127.0.0.1'
}

test('disable and prefer work with a server without TLS, and require does not', async () => {
  assert.equal(await isEncrypted(plain, ''), false)
  assert.equal(await isEncrypted(plain, 'sslmode=disable'), false)
  assert.equal(await isEncrypted(plain, 'sslmode=prefer'), false)
  await assert.rejects(isEncrypted(plain, 'sslmode=require'), /does not support SSL/)
})

test('the doctor sees if the connection is encrypted', async (t) => {
  for (const [mode, found] of [
    ['disable', /stays on this machine$/],
    ['require', /is encrypted$/],
  ] as const) {
    const DATABASE_URL = `${secure.url()}?sslmode=${mode}`
    const { database_tls: tls } = await diagnose(programIn(t), { DATABASE_URL })
    assert.match(tls!.found, found)
  }
})

test("prefer and require encrypt without checking the server's identity", async () => {
  assert.equal(await isEncrypted(secure, 'sslmode=disable'), false)
  assert.equal(await isEncrypted(secure, 'sslmode=prefer'), true)
  assert.equal(await isEncrypted(secure, 'sslmode=require'), true)
})

test('verify-ca needs a known certificate, verify-full also checks its name', async () => {
  const known = `sslrootcert=${CERTIFICATE}`
  assert.equal(await isEncrypted(secure, `sslmode=verify-ca&${known}`), true)
  assert.equal(await isEncrypted(secure, `sslmode=verify-full&${known}&host=localhost`), true)
  await assert.rejects(
    isEncrypted(secure, `sslmode=verify-full&${known}`),
    /altnames|does not match/i,
  )
  await assert.rejects(isEncrypted(secure, 'sslmode=verify-full&host=localhost'), /self-signed/)
})

test('sslrootcert=system trusts what the machine trusts, and a refusal names it', async (t) => {
  const program = programIn(t)
  const url = secure.url().replace('127.0.0.1', 'localhost')
  const migrate = (DATABASE_URL: string, env = {}) =>
    program.begin('migrate', { env: { DATABASE_URL, ...env } }).ended
  const system = `${url}?sslmode=verify-full&sslrootcert=system`
  // Where Node.js finds the authorities that the machine trusts.
  const trusted = await migrate(system, { SSL_CERT_FILE: CERTIFICATE })
  assert.equal(trusted.code, 0, trusted.stderr)
  for (const DATABASE_URL of [system, `${url}?sslmode=verify-full`])
    assertRefused(
      await migrate(DATABASE_URL),
      1,
      /certificate is not accepted: self-signed certificate\. Add sslrootcert=FILE with .* to DATABASE_URL, or sslrootcert=system/,
    )
})

test('the error for a missing certificate file names it', async () => {
  await assert.rejects(
    isEncrypted(secure, 'sslmode=verify-full&sslrootcert=/no/such.crt'),
    /cannot read the file "\/no\/such\.crt" that DATABASE_URL names as sslrootcert: it does not exist/,
  )
})
