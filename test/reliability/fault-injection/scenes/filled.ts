import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { parseDatabaseUrl } from '../../../../src/config/database-url.ts'
import { sql, uuid } from '../../../../src/database/sql.ts'
import { openStore } from '../../../../src/open-store.ts'
import { runCommand } from '../../../cli/command.ts'
import { temporaryFolder } from '../../../fixtures/folder.ts'

/** The user of `fill`. */
export const ADA = 'ada@example.com'
/** The identity provider of the user of `fill`. */
export const ISSUER = 'https://old.example.com'
export const SQLITE = 'sqlite:'
const SERVERS = JSON.stringify(
  ['one', 'two', 'three'].map((slug) => ({ name: slug, address: `${slug}.example.com`, slug })),
)

/** What the database of the commands contains, and files that they read. */
export interface Filled {
  userId: string
  keyId: string
  key: string
  serverId: string
  /** What `server list --user` prints, by its options. */
  lists: { table: string; json: string }
  /** Servers, two of which an import changes. */
  file: string
  /** Keys of another site. */
  hashes: string
  /** Declares changes of the first user, and a new user. */
  state: string
  /** Of SQLite, from before the second user. */
  backup: string
}

const KEYS = JSON.stringify([{ name: 'elsewhere', key_hash: 'ab'.repeat(32) }])
const STATE = JSON.stringify({
  format_version: 1,
  users: [
    {
      email: ADA,
      servers: [{ name: 'renamed', address: 'one.example.com', slug: 'one' }],
      keys: [{ name: 'declared', key_hash: 'cd'.repeat(32) }],
    },
    { email: 'declared@example.com' },
  ],
})

/** Fills the database with what the operations need. */
export async function fill(t: TestContext, url: string): Promise<Filled> {
  const folder = temporaryFolder(t)
  const [file, other] = [join(folder, 'servers.json'), join(folder, 'other.json')]
  const backup = join(folder, 'backup')
  const [hashes, state] = [join(folder, 'keys.json'), join(folder, 'state.json')]
  writeFileSync(file, SERVERS)
  writeFileSync(hashes, KEYS)
  writeFileSync(state, STATE)
  writeFileSync(other, SERVERS.replaceAll('three', 'four'))
  const done = async (args: string) => {
    const { code, stdout, stderr } = await runCommand(args, { env: { DATABASE_URL: url } })
    assert.equal(code, 0, stderr)
    return stdout
  }
  await done(`user add ${ADA} --create`)
  await done(`server import --user ${ADA} ${other}`)
  const key = (await done(`key issue --user ${ADA} --name first`)).trim()
  if (url.startsWith(SQLITE)) copyFile(url.slice(SQLITE.length), backup)
  await done('user add bob@example.com')
  const [{ id: keyId, user_id: userId }] = JSON.parse(await done(`key list --user ${ADA} --json`))
  const lists = {
    table: await done(`server list --user ${ADA}`),
    json: await done(`server list --user ${ADA} --json`),
  }
  const [{ id: serverId }] = JSON.parse(lists.json)
  await addIdentity(url, userId)
  return { userId, keyId, key, serverId, lists, file, hashes, state, backup }
}

/** No command makes an identity: a sign-in does. */
async function addIdentity(url: string, userId: string): Promise<void> {
  const store = await openStore(parseDatabaseUrl(url, 'the URL'))
  await store.database.transact((transaction) =>
    transaction.run(sql`
      INSERT INTO identities (issuer, subject, user_id) VALUES (${ISSUER}, 'ada', ${uuid(userId)})`),
  )
  await store.close()
}

/** A backup of which the database has no record, so that it records each backup of a test anew. */
function copyFile(path: string, backup: string): void {
  const database = new DatabaseSync(path)
  database.prepare('VACUUM INTO ?').run(backup)
  database.close()
}
