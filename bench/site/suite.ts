import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { buildSite } from '../../test/site/toy-site.ts'
import { cpuSecondsOfFamily } from '../proc.ts'
import { medianOf, runRounds } from '../rounds.ts'
import { openBenchCluster, type Scene } from '../scene.ts'
import { openTable, type Result } from '../table.ts'

const BIN = fileURLToPath(new URL('../../bin/server-listing.js', import.meta.url))
const USERS = 50_000
const SERVERS = 120_000
const KEYS = 60_000
/** Servers that one statement of the site changes. */
const TOUCHED = 20_000

/** What docs/site.md costs: the first load, and each statement of the site. */
export async function measureSite(scene: Scene): Promise<Result[]> {
  const cluster = await openBenchCluster(scene)
  const cpu = () => cpuSecondsOfFamily(cluster.postmasterPid())
  let began = { at: 0, cpu: 0 }
  const after = (end: unknown) => scene.atEnd(async () => (end as () => Promise<void>)())
  const site = await buildSite({ after }, cluster, {
    async fill({ query }) {
      await query(ROWS)
      began = { at: performance.now(), cpu: cpu() }
    },
  })
  const load = { seconds: (performance.now() - began.at) / 1_000, cpu: cpu() - began.cpu }
  openTable(`first load of ${USERS} users, ${SERVERS} servers and ${KEYS} keys`, '')('', load)
  /** The CPU time of PostgreSQL for a statement that changes servers, in milliseconds. */
  const touch = async (version: string) => {
    const before = cpu()
    await site.query(TOUCH, [version])
    return (cpu() - before) * 1_000
  }
  const rounds = await runRounds({
    title: `a statement that changes ${TOUCHED} servers, and a state file with one user`,
    count: scene.settings.rounds,
    async measure(round) {
      await site.query('ALTER TABLE games DISABLE TRIGGER USER')
      const alone = await touch(`${round}.0`)
      await site.query('ALTER TABLE games ENABLE TRIGGER USER')
      const mirrored = await touch(`${round}.1`)
      await site.query('VACUUM games')
      await site.queryAs('listing', 'VACUUM servers')
      const apply = timeApply(site.url, round)
      const ratio = mirrored / alone
      return { 'CPU ms alone': alone, 'CPU ms mirrored': mirrored, ratio, 'apply ms': apply }
    },
  })
  return [
    ['first load of 50,000 users', load.seconds, '≤ 15 s'],
    [
      `CPU of a statement of ${TOUCHED} servers, mirrored / alone`,
      medianOf(rounds, 'ratio'),
      '≤ 3',
    ],
    ['`apply` of one of 50,000 users', medianOf(rounds, 'apply ms'), '≤ 1000 ms'],
  ]
}

const TOUCH = `UPDATE games SET version = $1, changed_at = now() WHERE id <= ${TOUCHED}`

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

/** How long a state file with one user takes over standard input, in milliseconds. */
function timeApply(url: string, round: number): number {
  const server = { name: `Round ${round}`, address: 'play.example.com', slug: 'round' }
  const input = JSON.stringify({
    format_version: 2,
    put_users: [{ external_id: 'far' }],
    put_servers: [{ external_id: 'far', ...server }],
    all_servers_of: [{ external_id: 'far' }],
  })
  const startedAt = performance.now()
  execFileSync(process.execPath, [BIN, 'apply', '-', '--yes'], {
    input,
    env: { DATABASE_URL: url },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  return performance.now() - startedAt
}
