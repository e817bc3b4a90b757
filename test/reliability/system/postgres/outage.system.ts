import { after, before, test } from 'node:test'
import { type Cluster, startCluster } from '../../../fixtures/postgres/cluster.ts'
import { createDatabase } from '../../../fixtures/postgres/database.ts'
import { checkHeldRow } from '../../../postgres/claims/held-row.ts'
import { checkStandbyAway } from '../../postgres/standby-away.ts'

/*
 * Faults that last longer than each time limit of the service, in parallel on two servers.
 */

const AWAY_MS = 100_000
const HOLD_MS = 10_000

let clusters: Cluster[]
before(async () => {
  clusters = [await startCluster(), await startCluster()]
})
after(() => Promise.all(clusters.map((cluster) => cluster.remove())))

test('lasting faults', async (t) => {
  const [first, second] = clusters
  await Promise.all([
    t.test('a standby that is away for 100 s causes no 429 for 2,000 keys', (t) =>
      checkStandbyAway(t, first!, { keys: 2_000, awayMs: AWAY_MS }),
    ),
    t.test('a row held twice for 10 s causes 502 and one log line each, no 429', async (t) =>
      checkHeldRow(t, await createDatabase(second!), HOLD_MS),
    ),
  ])
})
