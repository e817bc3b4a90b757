import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { generateKey } from '../../src/keys/api-key.ts'
import type { serveSite, ToySite } from './toy-site.ts'

type Served = Awaited<ReturnType<typeof serveSite>>

export const hashOf = (key: string) => createHash('sha256').update(key).digest('hex')

/** The statements of the site's own key page. */
const keyPage = (site: ToySite) => {
  const [put = '', list = '', revoke = ''] = site.textOf('the key page').split(/(?<=;)\n/)
  return { put, list, revoke }
}

/** Issues a key as the site's own key page does. */
export async function issue(site: ToySite, account: string): Promise<string> {
  const key = generateKey()
  const values = [account, 'bot', key.slice(0, 16), hashOf(key)]
  const { rows } = await site.queryAs('site', keyPage(site).put, values)
  assert.deepEqual(rows, [{ put_keys: { added: 1, changed: 0, refused: [] } }])
  return key
}

/** Adds an account with one game, and returns the account's id. */
export async function addAccount(site: ToySite, mail: string, title = 'Survival'): Promise<string> {
  const { rows } = await site.query('INSERT INTO accounts (mail) VALUES ($1) RETURNING id', [mail])
  const { id } = rows[0] as { id: string }
  await site.query(
    'INSERT INTO games (account_id, title, slug, host, port) VALUES ($1, $2, $3, $4, 25566)',
    [id, title, `${title}-${id}`, 'play.example.com'],
  )
  return id
}

/** What the page promises, from a new account to its end. */
export async function live(site: ToySite, { answer }: Served, mail: string): Promise<void> {
  const account = await addAccount(site, mail)
  const key = await issue(site, account)
  assert.deepEqual(await answer(key), { status: 200, names: ['Survival'] })

  await site.query(`UPDATE games SET title = 'Creative' WHERE account_id = $1`, [account])
  assert.deepEqual(await answer(key), { status: 200, names: ['Creative'] })
  await site.query('UPDATE games SET clan_id = 1 WHERE account_id = $1', [account])
  assert.deepEqual(await answer(key), { status: 200, names: [] })
  await site.query('UPDATE games SET clan_id = NULL WHERE account_id = $1', [account])

  await site.query('UPDATE accounts SET banned_at = now() WHERE id = $1', [account])
  assert.equal((await answer(key)).status, 401)
  await site.query('UPDATE accounts SET banned_at = NULL WHERE id = $1', [account])
  assert.deepEqual(await answer(key), { status: 200, names: ['Creative'] })
  const others = await liveWithKeys(site, { answer }, { account, key })

  await site.query('DELETE FROM accounts WHERE id = $1', [account])
  for (const other of others) assert.equal((await answer(other)).status, 401)
  const { rows } = await site.queryAs(
    'listing',
    'SELECT key_hash FROM revoked_hashes WHERE key_hash = ANY ($1)',
    [others.map((other) => Buffer.from(hashOf(other), 'hex'))],
  )
  assert.equal(rows.length, others.length)
}

/** Issues all keys that a user may have, and revokes the first one. Returns the active ones. */
async function liveWithKeys(
  site: ToySite,
  { answer }: Pick<Served, 'answer'>,
  { account, key }: { account: string; key: string },
): Promise<string[]> {
  const { put, list, revoke } = keyPage(site)
  const others = []
  for (let n = 2; n <= 5; n += 1) others.push(await issue(site, account))
  const sixth = hashOf('svc_live_six')
  const { rows: refused } = await site.queryAs('site', put, [account, 'bot', 'svc_live_six', sixth])
  assert.deepEqual(refused[0].put_keys.refused, [{ row: 0, key_hash: sixth, reason: 'sixth key' }])
  const { rows } = await site.queryAs('site', list, [account])
  assert.equal(rows.length, 5)
  const first = rows.find(({ prefix }) => prefix === key.slice(0, 16))
  assert.ok(first.last_used_at instanceof Date)

  const { rows: revoked } = await site.queryAs('site', revoke, [account, first.id])
  assert.deepEqual(revoked, [{ revoke_keys: { revoked: 1, refused: [] } }])
  assert.equal((await answer(key)).status, 401)
  return [...others, await issue(site, account)]
}
