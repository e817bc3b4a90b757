import { setTimeout as delay } from 'node:timers/promises'
import { asAdmin } from '../../../fixtures/postgres/database.ts'

/** The server is up again within this time. */
const RECOVERY_MS = 60_000

/** Repeats a statement while the server may be recovering. Returns the number of rows. */
export async function insist(
  url: string,
  statement: string,
  help = async () => {},
): Promise<number> {
  const until = performance.now() + RECOVERY_MS
  for (;;) {
    try {
      return await asAdmin(url, async (client) => (await client.query(statement)).rowCount ?? 0)
    } catch (error) {
      if (performance.now() > until)
        throw new Error(`${statement} failed for ${RECOVERY_MS} ms: ${String(error)}`, {
          cause: error,
        })
      await help()
      await delay(50)
    }
  }
}
