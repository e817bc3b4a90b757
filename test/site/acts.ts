import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { generateKey } from '../../src/keys/api-key.ts'
import type { serveSite, ToySite } from './toy-site.ts'

/** Issues a key as the site's own key page does. */
export async function issue(site: ToySite, account: string, name = 'bot') {
  const key = generateKey()
  const hash = createHash('sha256').update(key).digest()
  const { rows } = await site.run('issue a key', [account, name, key.slice(0, 16), hash])
  assert.equal(rows.length, 1)
  return { key, id: rows[0].id as string }
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
export async function live(
  site: ToySite,
  { answer }: Awaited<ReturnType<typeof serveSite>>,
  mail: string,
): Promise<void> {
  const account = await addAccount(site, mail)
  const { key, id } = await issue(site, account)
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

  const others = []
  for (let n = 2; n <= 5; n += 1) others.push(await issue(site, account))
  await assert.rejects(issue(site, account), { code: '23514', constraint: 'api_keys_slots' })
  const { rows } = await site.run('list keys', [account])
  const ids = [id, ...others.map((one) => one.id)]
  assert.deepEqual(new Set(rows.map((row) => row.id)), new Set(ids))
  assert.ok(rows.find((row) => row.id === id).last_used_at instanceof Date)

  const revoked = await site.run('revoke a key', [account, id])
  assert.equal(revoked.rowCount, 1)
  assert.equal((await answer(key)).status, 401)
  await issue(site, account)

  await site.run('add an identity', [account])
  await site.query('DELETE FROM accounts WHERE id = $1', [account])
  for (const one of others) assert.equal((await answer(one.key)).status, 401)
  const { rows: listed } = await site.queryAs(
    'listing',
    `SELECT count(*)::int FROM revoked_hashes WHERE key_hash IN (${others
      .map((one) => `'\\x${createHash('sha256').update(one.key).digest('hex')}'`)
      .join(', ')})`,
  )
  assert.equal(listed[0].count, others.length)
}
