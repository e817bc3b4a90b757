import { setTimeout as delay } from 'node:timers/promises'
import { asAdmin } from '../../../fixtures/postgres/database.ts'
import type { TcpProxy } from '../../../fixtures/proxy/tcp-proxy.ts'
import { type Commit, type Fault, withEffect } from './fault.ts'
import type { Fleet } from '../traffic/fleet.ts'
import { NOTICED_MS } from './network-faults.ts'
import { AFTER_WAIT } from './postgres-faults.ts'
import { lockRow } from './row-lock.ts'

const NONE = { failures: [] } as const

/**
 * Faults that last this long. The service serves everything that they don't touch as if they were
 * absent.
 */
export function postgresStaying(
  url: string,
  fleet: Fleet,
  proxy: TcpProxy,
  behindProxy: number,
  ms: number,
): Record<string, Fault> {
  const ofProcess = { failures: ['authentication', 'list', 'no answer'], orphans: true } as const
  return {
    ...withEffect(AFTER_WAIT, {
      'row locked': lockRow(url, () => ms),
      "an owner's rows locked": lockOwner(url, ms),
    }),
    ...withEffect(NONE, {
      'writers of lists locked out': locked(url, 'LOCK TABLE servers IN EXCLUSIVE MODE', ms),
      'a transaction left open': locked(url, 'SELECT count(*) FROM api_keys, servers', ms),
    }),
    ...withEffect(ofProcess, { 'process stopped': (random) => fleet.hold(random, ms) }),
    ...withEffect(
      { ...ofProcess, aftermathMs: NOTICED_MS },
      {
        'network silent': async () => {
          proxy.swallow()
          await delay(ms)
          proxy.heal()
          return { process: behindProxy }
        },
      },
    ),
  }
}

/** Locks every row of one owner in every table that a claim reads. */
function lockOwner(url: string, ms: number): Commit {
  return async (random, { owners }) => {
    const { name, userId } = random.pick(owners)
    await hold(
      url,
      [
        `SELECT FROM api_keys WHERE user_id = '${userId}' FOR UPDATE`,
        `SELECT FROM servers WHERE created_by = '${userId}' FOR UPDATE`,
        `SELECT FROM listing_revisions WHERE user_id = '${userId}' FOR UPDATE`,
      ],
      ms,
    )
    return { owner: name }
  }
}

function locked(url: string, statement: string, ms: number): Commit {
  return async () => {
    await hold(url, [statement], ms)
    return {}
  }
}

/** Leaves a transaction open for this long. */
async function hold(url: string, statements: readonly string[], ms: number): Promise<void> {
  await asAdmin(url, async (client) => {
    await client.query('BEGIN')
    for (const statement of statements) await client.query(statement)
    await delay(ms)
    await client.query('ROLLBACK')
  })
}
