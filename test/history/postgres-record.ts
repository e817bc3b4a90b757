import type pg from 'pg'
import { asAdmin } from '../fixtures/postgres-database.ts'
import { now } from './record.ts'
import type { Subject } from './scene.ts'
import type { StoreRecord } from './sqlite-record.ts'

/** The server's clock less ours, in microseconds: between these two. */
interface Offset {
  low: number
  high: number
}

const MICROSECONDS = (column: string) => `(extract(epoch FROM ${column}) * 1000000)::bigint::text`

/** Makes the database keep every stamp, in the transaction that sets it. Returns what compares the two clocks. */
export async function keepStamps(url: string): Promise<Offset> {
  return asAdmin(url, async (client) => {
    await client.query(`
      CREATE TABLE stamps (number bigserial, api_key_id uuid, used_at timestamptz);
      CREATE FUNCTION note_stamp() RETURNS trigger LANGUAGE plpgsql AS
        $$BEGIN INSERT INTO stamps (api_key_id, used_at) VALUES (NEW.id, NEW.last_used_at); RETURN NULL; END$$;
      CREATE TRIGGER note_stamp AFTER UPDATE OF last_used_at ON api_keys
        FOR EACH ROW EXECUTE FUNCTION note_stamp()`)
    return compareClocks(client)
  })
}

export async function readStamps(
  url: string,
  subjects: readonly Subject[],
  before: Offset,
): Promise<StoreRecord> {
  const names = new Map(subjects.map(({ id, name }) => [id, name]))
  return asAdmin(url, async (client) => {
    // The server's clock may have been slewed meanwhile.
    const after = await compareClocks(client)
    const offset = { low: Math.min(before.low, after.low), high: Math.max(before.high, after.high) }
    const { rows } = await client.query<{ api_key_id: string; used_at: string }>(
      `SELECT api_key_id, ${MICROSECONDS('used_at')} AS used_at FROM stamps ORDER BY number`,
    )
    const stamps = rows.map(({ api_key_id, used_at }) => {
      const at = Number(used_at)
      const key = names.get(api_key_id) ?? ''
      return { key, at, low: at - offset.high, high: at - offset.low, used_at: at }
    })
    const shown = await client.query<{ api_key_id: string; last: string | null }>(
      `SELECT api_key_id, ${MICROSECONDS('last_used_at')} AS last FROM api_key_uses`,
    )
    const lastUses = shown.rows.flatMap(({ api_key_id, last }) => {
      const name = names.get(api_key_id)
      return name === undefined ? [] : [[name, last === null ? null : Number(last)] as const]
    })
    return { stamps, lastUses: Object.fromEntries(lastUses) }
  })
}

async function compareClocks(client: pg.Client): Promise<Offset> {
  let best: Offset = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY }
  for (let times = 0; times < 50; times += 1) {
    const t0 = now()
    const { rows } = await client.query(`SELECT ${MICROSECONDS('clock_timestamp()')} AS at`)
    const offset = { low: Number(rows[0].at) - now(), high: Number(rows[0].at) - t0 }
    if (offset.high - offset.low < best.high - best.low) best = offset
  }
  return best
}
