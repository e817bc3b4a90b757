import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { documentOf } from '../../fixtures/document.ts'
import { empty, fileOf, hashOf, siteOf } from './files.ts'

test('apply and export take a site of 2,000 users, in transactions of many users each', async (t) => {
  const { run, exported, databasePath } = await empty(t)
  const state = siteOf(2_000)
  const { exec } = DatabaseSync.prototype
  let changes = 0
  DatabaseSync.prototype.exec = function (sql) {
    if (sql === 'BEGIN IMMEDIATE' && this.location() === databasePath) changes += 1
    exec.call(this, sql)
  }
  t.after(() => {
    DatabaseSync.prototype.exec = exec
  })
  const applied = await run('apply - --yes', { stdin: state })
  assert.equal(applied.code, 0, applied.stderr.slice(-1_000))
  // With users, memberships, keys and servers there are 10,000 rows, and a part has 1,000.
  assert.ok(changes > 1 && changes <= 12, `${changes} transactions`)
  const before = changes
  const again = await run('apply -', { stdin: state })
  assert.match(again.stderr, /\n0 changes\n/)
  assert.equal(changes, before)
  const text = await exported()
  const { put_users, put_members } = JSON.parse(text)
  assert.equal(put_users.length, 2_000)
  assert.equal(put_members.length, 2_000)
  assert.match((await run('apply -', { stdin: text })).stderr, /\n0 changes\n/)
})

test('organizations whose owners are members of each other change with both of them', async (t) => {
  const { run } = await empty(t)
  const names = ['ada', 'bob']
  const stdin = JSON.stringify(
    documentOf({
      organizations: names.map((slug, at) => ({
        slug,
        name: slug,
        members: names.map((name, index) => {
          return { email: `${name}@example.com`, role: index === at ? 'owner' : 'member' }
        }),
      })),
      users: names.map((name) => ({
        email: `${name}@example.com`,
        servers: names.map((organization) => {
          return { name, slug: name, address: 's.example.com', organization }
        }),
      })),
    }),
  )
  const applied = await run('apply - --yes', { stdin })
  assert.match(applied.stderr, /\n12 added, 0 changed, 0 removed or revoked\n/)
  assert.match((await run('apply -', { stdin })).stderr, /\n0 changes\n/)
})

test('two records of a file that mean one user are a mistake', async (t) => {
  const { run, exported } = await empty(t)
  const added = fileOf({ external_id: '1', email: 'ada@example.com' })
  assert.equal((await run('apply - --yes', { stdin: added })).code, 0)
  const before = await exported()
  const stdin = fileOf({ external_id: '1' }, { email: 'ada@example.com' })
  const { code, stderr } = await run('apply - --yes', { stdin })
  assert.equal(code, 1)
  assert.match(stderr, / {2}put_users\[1\]: means the same user as put_users\[0\]\n/)
  assert.equal(await exported(), before)
})

test('a table has keys of many users, each named by its row, and listed keys stay revoked', async (t) => {
  const { run, done, exported } = await empty(t)
  await done('user add ada@example.com')
  await done('user add --external-id 4711')
  const hash = hashOf('svc_live_0')
  const key = (name: string) => `{"name":"${name}","key_hash":"${hash}"}`
  await done('key import --external-id 4711 --hash-file -', { stdin: `[${key('old')}]` })
  const [listed] = JSON.parse(await done('key list --json')) as { id: string }[]
  await done(`key revoke ${listed!.id} --external-id 4711`)
  const table = ['external_id,email,name,key_hash', `4711,,old,${hash}`]
  for (let row = 1; row < 5; row += 1)
    table.push(`${row % 2 ? '4711,' : ',ada@example.com'},new,${hashOf(`svc_live_${row}`)}`)
  const imported = await run('key import --hash-file -', { stdin: table.join('\n') })
  assert.match(imported.stderr, /^stays revoked: "old" \(svc_live_…\) of 4711\n/)
  assert.match(imported.stderr, /\nimported 5 keys: 4 new, 1 known, 1 that stay revoked\n/)
  const before = await exported()
  for (const [row, wanted] of [
    [`,,none,${hashOf('a')}`, /row 6: needs an "external_id", a "user_id" or an "email"/],
    [`5,,unknown,${hashOf('a')}`, /row 6: names no user here; put the user first/],
  ] as const) {
    const stdin = [...table.slice(0, 5), row].join('\n')
    const refused = await run('key import --hash-file -', { stdin })
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, wanted)
  }
  assert.equal(await exported(), before)
})
