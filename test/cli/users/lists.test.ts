import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { DatabaseSync } from 'node:sqlite'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { OWNED_SERVERS_MAX } from '../../../src/listing/servers/server-import.ts'
import { runHere, setDatabase } from '../here.ts'

const names = async (args: string) =>
  (await json(`key list ${args}`)).map(({ name, email }: Row) => `${name} ${email}`)
const actions = async (args: string) =>
  (await json(`audit list ${args}`)).map(({ action, email }: Row) => `${action} ${email}`)

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

test('lists without --user are of all users, and key list finds unused keys', async (t) => {
  const path = await fill(t)
  assert.deepEqual(await names(''), ['old ada@example.com', 'new bob@example.com'])
  const table = (await runHere('key list')).stdout
  assert.match(table, /^ID +USER +NAME +PREFIX/)
  assert.doesNotMatch((await runHere('key list --user ada@example.com')).stdout, /USER/)
  assert.deepEqual(await names('--unused-for 1h'), [])
  const database = new DatabaseSync(path)
  database.exec(`UPDATE api_keys SET created_at = created_at - 7200000000 WHERE name = 'old'`)
  database.close()
  assert.deepEqual(await names('--unused-for 1h'), ['old ada@example.com'])
  assert.deepEqual(await names('--unused-for 1h --user bob@example.com'), [])
  assert.deepEqual(await names('--unused-for 1d'), [])
})

test('server list names the owner of each server of all users, and --user lists those of one', async (t) => {
  await fill(t)
  await done('server import --user bob@example.com -', '[{"name":"b","address":"b.example"}]')
  const listed = await json('server list')
  const byName = new Map<string, Row>(listed.map((one: Row) => [one.name, one]))
  assert.deepEqual([...byName.keys()].toSorted(), ['a', 'b'])
  const [ofAda] = await json('server list --user ada@example.com')
  assert.deepEqual(byName.get('a'), ofAda)
  assert.deepEqual([ofAda.email, ofAda.organization], ['ada@example.com', 'red-stone'])
  const [user] = (await json('user list')).filter(({ email }: Row) => email === ofAda.email)
  assert.equal(ofAda.created_by, user.id)
  const table = (await runHere('server list')).stdout
  assert.match(table, /^ID +USER +NAME +ADDRESS +EDITION +STATUS +ORGANIZATION +UPDATED\n/)
  assert.match(table, /\n\S+ +bob@example\.com +b +b\.example +java +published +- +\S+Z\n/)
  assert.doesNotMatch((await runHere('server list --user ada@example.com')).stdout, /USER|bob/)
})

test('server list of all users prints the same JSON in parts as at once', async (t) => {
  await fill(t)
  assert.equal((await runHere('server list --user bob@example.com --json')).stdout, '[]\n')
  const entries = Array.from({ length: OWNED_SERVERS_MAX + 1 }, (_, index) => ({
    name: `n${index}`,
    address: `${index}.example`,
  }))
  await done('server import --user bob@example.com -', JSON.stringify(entries))
  const { stdout } = await runHere('server list --json')
  const listed: Row[] = JSON.parse(stdout)
  assert.equal(stdout, `${JSON.stringify(listed, null, 2)}\n`)
  assert.equal(new Set(listed.map(({ id }) => id)).size, OWNED_SERVERS_MAX + 2)
  const lines = (await runHere('server list')).stdout.split('\n')
  assert.equal(lines.filter((line) => line.startsWith('ID ')).length, 1)
  assert.equal(lines.length, OWNED_SERVERS_MAX + 4)
})

test('without servers, the list of all users is an empty array or only the heads', async (t) => {
  setDatabase(t, `sqlite:${join(temporaryFolder(t), 'listing.db')}`)
  await done('user add ada@example.com --create')
  assert.equal(await done('server list --json'), '[]\n')
  assert.match(await done('server list'), /^ID +USER .*UPDATED\n$/)
})

test('the audit log and the organizations are listed', async (t) => {
  await fill(t)
  const all = await actions('')
  assert.equal(all.length, 4)
  assert.deepEqual(await actions('--limit 1'), ['key issued bob@example.com'])
  assert.deepEqual(await actions('--user ada@example.com'), [
    'key issued ada@example.com',
    'user added ada@example.com',
  ])
  assert.deepEqual(await actions('--since 1h'), all)
  assert.deepEqual(await actions('--since 2100-01-01T00:00:00Z'), [])
  assert.match((await runHere('audit list')).stdout, /^TIME +ACTION +USER +SUBJECT +ADDRESS\n/)
  const [organization] = await json('organization list')
  const { id, ...rest } = organization
  const counts = { members: 1, servers: 1, owners: ['ada@example.com'] }
  assert.deepEqual(rest, { slug: 'red-stone', name: 'red-stone', ...counts })
  const table = (await runHere('organization list')).stdout
  assert.match(table, new RegExp(`\\nred-stone +red-stone +ada@example.com +1 +1 +${id}\\n`))
})

test('--json prints one document, with the names of columns and instants in ISO 8601', async (t) => {
  await fill(t)
  const stdin = '[{"name":"a","address":"a.example"}]'
  const added = await json('user add eve@example.com --json')
  assert.deepEqual(Object.keys(added), ['id', 'email', 'created_at'])
  assert.match(added.created_at, INSTANT)
  assert.deepEqual(await json('user password eve@example.com', 'correct horse battery'), added)
  const issued = await json('key issue --user eve@example.com --name bot')
  assert.match(issued.key, /^svc_live_[0-9a-f]{64}$/)
  const { key, ...record } = issued
  const [revoked] = await json(`key revoke --user eve@example.com ${issued.id}`)
  assert.match(revoked.revoked_at, INSTANT)
  assert.deepEqual({ ...revoked, revoked_at: null }, record)
  assert.deepEqual(await json('key revoke --key-stdin', key), [revoked])
  const imported = await json('server import --user eve@example.com -', stdin)
  assert.deepEqual(imported, { added: 1, updated: 0, removed: 0 })
  const [server] = await json('server list --user eve@example.com')
  const [removed] = await json(`server remove --yes --user eve@example.com ${server.id}`)
  assert.deepEqual([removed.id, removed.updated_at], [server.id, server.updated_at])
  assert.deepEqual(await json('migrate'), { applied: [] })
  assert.deepEqual(await json('user remove --yes eve@example.com'), added)
})

type Row = Record<string, string>

/** Ada with a key and an organization, and Bob with a key. Returns the path of the file. */
async function fill(t: TestContext): Promise<string> {
  const path = join(temporaryFolder(t), 'listing.db')
  setDatabase(t, `sqlite:${path}`)
  await done('user add ada@example.com --create')
  await done('user add bob@example.com')
  await done('key issue --user ada@example.com --name old')
  await done('key issue --user bob@example.com --name new')
  const stdin = '[{"name":"a","address":"a.example"}]'
  await done('server import --user ada@example.com --organization red-stone -', stdin)
  return path
}

async function json(args: string, stdin = '') {
  return JSON.parse(await done(args.endsWith('--json') ? args : `${args.trim()} --json`, stdin))
}

async function done(args: string, stdin = ''): Promise<string> {
  const { code, stdout, stderr } = await runHere(args, stdin)
  assert.equal(code, 0, `${args}: ${stderr}`)
  return stdout
}
