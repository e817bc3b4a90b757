import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { buildSite, type ToySite } from '../../test/site/toy-site.ts'
import { openBenchCluster } from '../postgres/suite.ts'
import { medianOf, runRounds } from '../rounds.ts'
import type { Scene } from '../scene.ts'
import type { Result } from '../table.ts'

const BIN = fileURLToPath(new URL('../../bin/server-listing.js', import.meta.url))
const USERS = 50_000
const SERVERS = 120_000
const KEYS = 60_000
/** Servers that one statement of the site changes. */
const TOUCHED = 20_000

/** What docs/site.md costs: the first load, and each statement of the site. */
export async function measureSite(scene: Scene): Promise<Result[]> {
  const cluster = await openBenchCluster(scene)
  let startedAt = 0
  const after = (end: unknown) => scene.atEnd(async () => (end as () => Promise<void>)())
  const site = await buildSite({ after }, cluster, {
    async fill({ query }) {
      await query(ROWS)
      startedAt = performance.now()
    },
  })
  const loadSeconds = (performance.now() - startedAt) / 1_000
  console.log(
    `loaded ${USERS} users, ${SERVERS} servers and ${KEYS} keys in ${loadSeconds.toFixed(1)} s`,
  )
  const rounds = await runRounds({
    title: `a statement that changes ${TOUCHED} servers, and a state file with one user`,
    count: scene.settings.rounds,
    async measure(round) {
      await site.query('ALTER TABLE games DISABLE TRIGGER USER')
      const without = await touch(site, `${round}.0`)
      await site.query('ALTER TABLE games ENABLE TRIGGER USER')
      const mirrored = await touch(site, `${round}.1`)
      const apply = timeApply(site.url, round)
      return {
        'ms without': without,
        'ms mirrored': mirrored,
        ratio: mirrored / without,
        'ms apply': apply,
      }
    },
  })
  return [
    ['first load of 50,000 users', loadSeconds, '≤ 15 s'],
    [`a statement of ${TOUCHED} servers, mirrored / not`, medianOf(rounds, 'ratio'), '≤ 3'],
    ['`apply` of one of 50,000 users', medianOf(rounds, 'ms apply'), '≤ 1000 ms'],
  ]
}

const ROWS = `
  INSERT INTO accounts (mail) SELECT 'User' || n || '@example.com' FROM generate_series(1, ${USERS}) AS n;
  INSERT INTO games (account_id, clan_id, title, slug, host, port, version)
  SELECT 1 + n % ${USERS}, CASE WHEN n % 20 = 0 THEN n END, 'Emerald Hollow ' || n, 'emerald-' || n,
    'emerald-' || n || '.example.net', CASE WHEN n % 3 = 0 THEN 25566 END, '1.21.4'
  FROM generate_series(1, ${SERVERS}) AS n;
  INSERT INTO tokens (account_id, label, start, sha256, revoked_at)
  SELECT 1 + n % ${USERS}, 'bot', 'svc_live_0123456', encode(sha256(n::text::bytea), 'hex'),
    CASE WHEN n % 9 = 0 THEN now() END
  FROM generate_series(1, ${KEYS}) AS n;
  ANALYZE accounts, games, tokens`

/** How long a statement takes that changes servers, with its commit, in milliseconds. */
async function touch({ query }: ToySite, version: string): Promise<number> {
  const startedAt = performance.now()
  await query('UPDATE games SET version = $1, changed_at = now() WHERE id <= $2', [
    version,
    TOUCHED,
  ])
  return performance.now() - startedAt
}

/** How long a state file with one user takes over standard input, in milliseconds. */
function timeApply(url: string, round: number): number {
  const servers = [{ name: `Round ${round}`, address: 'play.example.com', slug: 'round' }]
  const input = JSON.stringify({ format_version: 1, users: [{ external_id: 'far', servers }] })
  const startedAt = performance.now()
  execFileSync(process.execPath, [BIN, 'apply', '-', '--prune', '--yes'], {
    input,
    env: { DATABASE_URL: url },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  return performance.now() - startedAt
}
