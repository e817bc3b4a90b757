import { startCluster } from '../../../fixtures/postgres/cluster.ts'
import type { Ends } from './ends.ts'
import { LONG_STAY } from '../faults/fault.ts'
import type { Battlefield } from '../traffic/battlefield.ts'
import { openPostgresBattlefield, openPostgresMachine } from './postgres-battlefield.ts'
import { openSqliteBattlefield, openSqliteMachine } from './sqlite-battlefield.ts'

/**
 * Some faults outlast every time limit. Faults of the machine are included unless a tool for them
 * is missing.
 */
export async function openBattlefield(
  engine: 'sqlite' | 'postgres',
  t: Ends,
  missing: string | null,
): Promise<Battlefield> {
  if (engine === 'sqlite')
    return missing === null
      ? openSqliteMachine(t, LONG_STAY)
      : openSqliteBattlefield(t, null, LONG_STAY)
  if (missing === null) return openPostgresMachine(t, LONG_STAY)
  const cluster = await startCluster()
  t.after(cluster.remove)
  return openPostgresBattlefield(t, cluster, null, LONG_STAY)
}
