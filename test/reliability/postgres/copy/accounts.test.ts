import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { personAt } from '../../../fixtures/person.ts'
import { type Cluster, startCluster } from '../../../fixtures/postgres/cluster.ts'
import { ledgerOn } from './ledger.ts'

let cluster: Cluster
before(async () => {
  cluster = await startCluster()
})
after(() => cluster.remove())

test('after a copy people sign in as before; sessions and secrets stay behind', async (t) => {
  const { program, copy, query, onPostgres } = await ledgerOn(t, cluster)
  const stdin = 'correct horse battery'
  await program.done('user add ada@example.com --password-stdin --create', { stdin })
  const portOf = async (env?: { env: Record<string, string> }) => {
    const served = await program.serve(env)
    await served.written(/dashboard at/)
    const port = Number(/dashboard at http:\/\/127\.0\.0\.1:(\d+)/.exec(served.stdout())?.[1])
    return { served, port }
  }
  const before = await portOf()
  const person = personAt(before.port)
  assert.equal((await person.signIn('ada@example.com', stdin)).status, 303)
  before.served.kill('SIGTERM')
  await before.served.ended

  const { code, stderr } = await copy()
  assert.equal(code, 0, stderr)
  assert.match(stderr, /1 in accounts, 2 in audit_log/)
  for (const table of ['sessions', 'secrets', 'sign_in_attempts'])
    assert.deepEqual(await query(`SELECT * FROM ${table}`), [])
  const { port } = await portOf(onPostgres)
  const again = personAt(port)
  assert.equal((await again.signIn('ada@example.com', stdin)).status, 303)
  assert.match((await again.get('/dashboard/account')).body, /ada@example\.com/)
})
