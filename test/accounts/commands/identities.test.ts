import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { commandsIn } from '../../cli/command.ts'

const [OLD, NEW] = ['https://old.example.com', 'https://id.example.com']

/** A database with two users, and a way to give them identities. */
async function openUsers(t: TestContext) {
  const program = commandsIn(t)
  await program.run('user add ada@example.com --create')
  await program.run('user add bob@example.com')
  const database = new DatabaseSync(program.databasePath)
  t.after(() => database.close())
  const link = (issuer: string, subject: string, email: string) =>
    database
      .prepare('INSERT INTO identities SELECT ?, ?, id FROM users WHERE email = ?')
      .run(issuer, subject, email)
  return { program, database, link }
}

test('user identities moves nothing if a subject is another user there', async (t) => {
  const { program, database, link } = await openUsers(t)
  link(OLD, '1', 'ada@example.com')
  link(NEW, '1', 'bob@example.com')
  const refused = await program.run(`user identities --issuer ${OLD} --to ${NEW}`)
  assert.equal(refused.code, 1)
  assert.match(
    refused.stderr,
    /^error: no identity was moved: the subject "1" is the user [\w-]{36} /,
  )
  const issuers = database.prepare('SELECT issuer FROM identities ORDER BY issuer').all()
  assert.deepEqual(
    issuers.map(({ issuer }) => issuer),
    [NEW, OLD],
  )
})
