import { buildSite } from '../../test/site/toy-site.ts'
import { median, runRounds } from '../rounds.ts'
import { openBenchCluster, type Scene } from '../scene.ts'
import type { Result } from '../table.ts'
import { measureHttp } from './http.ts'

/** What docs/site.md costs: the first load, the night, each statement, and each document. */
export async function measureSite(scene: Scene): Promise<Result[]> {
  const after = (end: unknown) => scene.atEnd(async () => (end as () => Promise<void>)())
  let loadsAt = 0
  const site = await buildSite({ after }, await openBenchCluster(scene), {
    async fill({ queryAs }) {
      await queryAs('site', ROWS)
      loadsAt = performance.now()
    },
  })
  await site.queryAs('site', KEYS)
  const load = performance.now() - loadsAt
  await site.queryAs('site', WITHOUT_US)

  const measure = async (round: number): Promise<Record<string, number>> => {
    await site.queryAs('postgres', 'VACUUM ANALYZE')
    const columns: Record<string, number> = {}
    for (const [name, sql] of Object.entries(statementsOf(round))) {
      const alone = await timeOf(site.query(sql.replaceAll(/accounts|games/g, 'plain_$&')))
      columns[name] = (await timeOf(site.query(sql))) - alone
    }
    return { ...columns, night: await timeOf(site.run('every night')) }
  }
  // A session compiles each function once.
  await measure(0)
  const title = 'what a statement of the site takes more with the triggers, and the night, in ms'
  const rounds = await runRounds({ title, count: scene.settings.rounds, measure })
  const of = (name: string) => median(rounds.map((round) => round[name]!))
  const { many: _, delete: _deleted, ...oneRow } = statementsOf(0)
  return [
    ['first load of 20,000 users, 60,000 servers and 30,000 keys', load / 1_000, '≤ 15 s'],
    ['a statement of one row, more', Math.max(...Object.keys(oneRow).map(of)), '≤ 3 ms'],
    ['a deleted user with three servers and a key, more', of('delete'), '≤ 5 ms'],
    ['a statement of 20,000 servers, more', of('many') / 1_000, '≤ 2.5 s'],
    ['the night, with nothing changed', of('night') / 1_000, '≤ 3 s'],
    ...(await measureHttp(scene)),
  ]
}

async function timeOf(act: Promise<unknown>): Promise<number> {
  const before = performance.now()
  await act
  return performance.now() - before
}

const statementsOf = (n: number) => ({
  insert: `INSERT INTO games (account_id, title, slug, host) VALUES (100, 'x', 'new-${n}', 'x')`,
  rename: `UPDATE games SET title = 'T${n}' WHERE id = ${1_000 + n}`,
  touch: 'UPDATE accounts SET mail = mail WHERE id = 100',
  address: `UPDATE accounts SET mail = 'other-${n}@example.com' WHERE id = 100`,
  ban: `UPDATE accounts SET banned_at = CASE WHEN banned_at IS NULL THEN now() END WHERE id = 101`,
  // An account with three servers and a key.
  delete: `DELETE FROM accounts WHERE id = ${15_000 + n}`,
  many: `UPDATE games SET version = '${n}' WHERE id <= 20000`,
})

const ROWS = `
  INSERT INTO accounts (mail) SELECT n || '@example.com' FROM generate_series(1, 20000) AS n;
  INSERT INTO games (account_id, title, slug, host) SELECT 1 + n % 20000, 'Emerald Hollow ' || n,
    'emerald-' || n, 'emerald-' || n || '.example.net' FROM generate_series(1, 60000) AS n`

const KEYS = `
  SELECT listing.put_keys(jsonb_agg(jsonb_build_object('external_id', (1 + n % 20000)::text, 'name',
    'bot', 'key_hash', encode(sha256(n::text::bytea), 'hex')))) FROM generate_series(1, 30000) AS n`

const WITHOUT_US = `
  CREATE TABLE plain_accounts (LIKE accounts INCLUDING ALL);
  INSERT INTO plain_accounts OVERRIDING SYSTEM VALUE SELECT * FROM accounts;
  CREATE TABLE plain_games (LIKE games INCLUDING ALL,
    FOREIGN KEY (account_id) REFERENCES plain_accounts ON DELETE CASCADE);
  INSERT INTO plain_games OVERRIDING SYSTEM VALUE SELECT * FROM games;
  ALTER TABLE plain_games ALTER id RESTART 1000000;`
