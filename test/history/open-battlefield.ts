import { startCluster } from '../fixtures/postgres-cluster.ts'
import type { Ends } from './ends.ts'
import type { Battlefield } from './nemesis.ts'
import { openPostgresBattlefield, openPostgresMachine } from './postgres-battlefield.ts'
import { openSqliteBattlefield, openSqliteMachine } from './sqlite-battlefield.ts'

/** With the machine's faults, unless something is missing for them. */
export async function openBattlefield(
  engine: 'sqlite' | 'postgres',
  t: Ends,
  missing: string | null,
): Promise<Battlefield> {
  if (engine === 'sqlite') return missing === null ? openSqliteMachine(t) : openSqliteBattlefield(t)
  if (missing === null) return openPostgresMachine(t)
  const cluster = await startCluster()
  t.after(cluster.remove)
  return openPostgresBattlefield(t, cluster)
}
