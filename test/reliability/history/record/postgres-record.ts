import type pg from 'pg'
import { asAdmin } from '../../../fixtures/postgres/database.ts'
import { sizeOf } from '../check/clock-steps.ts'
import { now, type Operation, type Stamp } from './record.ts'
import type { Scene } from '../traffic/scene.ts'
import type { StoreRecord } from './sqlite-record.ts'

/** Bounds of a server clock minus ours, in microseconds. */
interface Offset {
  low: number
  high: number
}

/**
 * The server's clock, and the time since the machine's start. No program can set the latter, which
 * has two decimal places.
 */
interface Offsets {
  clock: Offset
  uptime: Offset
}

const UPTIME_RESOLUTION = 10_000

const MICROSECONDS = (column: string) => `(extract(epoch FROM ${column}) * 1000000)::bigint::text`
const UPTIME = `(split_part(pg_read_file('/proc/uptime'), ' ', 1)::numeric * 1000000)::bigint`

/**
 * Makes the database keep every stamp, in the transaction that sets it. Returns what it takes to
 * compare the clocks.
 */
export async function keepStamps(url: string): Promise<Offsets> {
  return asAdmin(url, async (client) => {
    await client.query(`
      CREATE TABLE stamps (
        number bigserial, api_key_id uuid, claimed_at timestamptz, was timestamptz, uptime bigint
      );
      CREATE FUNCTION note_stamp() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO stamps (api_key_id, claimed_at, was, uptime)
        VALUES (NEW.id, NEW.last_used_at, OLD.last_used_at, ${UPTIME});
        RETURN NULL;
      END $$;
      CREATE TRIGGER note_stamp AFTER UPDATE OF last_used_at ON api_keys
        FOR EACH ROW EXECUTE FUNCTION note_stamp()`)
    return compareClocks(client)
  })
}

export async function readStamps(
  url: string,
  { subjects, operations }: Scene,
  before: Offsets,
): Promise<StoreRecord> {
  const names = new Map(subjects.map(({ id, name }) => [id, name]))
  const totals = totalsOf(operations)
  return asAdmin(url, async (client) => {
    // The system may have slewed the server's clock meanwhile.
    const after = await compareClocks(client, totals.at(-1))
    const offset = hull(before.clock, after.clock)
    const { rows } = await client.query<StampRow>(
      `SELECT api_key_id, ${MICROSECONDS('claimed_at')} AS claimed_at, was > claimed_at AS is_clamp, uptime
       FROM stamps ORDER BY number`,
    )
    const stamps = rows.map(({ api_key_id, claimed_at, is_clamp, uptime }): Stamp => {
      const noted = Number(uptime) - before.uptime.low + UPTIME_RESOLUTION
      const at = withoutSteps(Number(claimed_at), totals, offset, noted)
      const [low, high] = [at - offset.high, at - offset.low]
      const kind = is_clamp === true ? 'clamp' : 'claim'
      return {
        key: names.get(api_key_id) ?? '',
        kind,
        at,
        low,
        high,
        claimed_at: Number(claimed_at),
      }
    })
    const shown = await client.query<{ api_key_id: string; last: string | null }>(
      `SELECT id AS api_key_id, ${MICROSECONDS('last_used_at')} AS last FROM api_keys`,
    )
    const lastUses = shown.rows.flatMap(({ api_key_id, last }) => {
      const name = names.get(api_key_id)
      return name === undefined ? [] : [[name, last === null ? null : Number(last)] as const]
    })
    return { stamps, lastUses: Object.fromEntries(lastUses) }
  })
}

interface StampRow {
  api_key_id: string
  claimed_at: string
  /** True for a clamp. A claim only moves a stamp forward. */
  is_clamp: boolean | null
  uptime: string
}

/**
 * Returns by how much the server's clock has been set in all, before the first step and after each
 * one.
 */
function totalsOf(operations: readonly Operation[]): number[] {
  const totals = [0]
  for (const step of operations)
    if (step.operation === 'step') totals.push(totals.at(-1)! + sizeOf(step))
  return totals
}

/**
 * Returns what the server's clock would have shown without any step. A clock that is set back shows
 * the same time more than once. `noted` is the latest instant of the stamp on our clock, and a step
 * is larger than any delay between the two.
 */
function withoutSteps(
  shown: number,
  totals: readonly number[],
  { high }: Offset,
  noted: number,
): number {
  const readings = totals.map((total) => shown - total)
  return readings.findLast((reading) => reading - high <= noted) ?? shown
}

function hull(a: Offset, b: Offset): Offset {
  return { low: Math.min(a.low, b.low), high: Math.max(a.high, b.high) }
}

/** `total` is by how much the server's clock was set. */
async function compareClocks(client: pg.Client, total = 0): Promise<Offsets> {
  const clock: Offset = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY }
  const uptime = { ...clock }
  for (let times = 0; times < 50; times += 1) {
    const t0 = now()
    const { rows } = await client.query(
      `SELECT ${MICROSECONDS('clock_timestamp()')} AS shown, ${UPTIME} AS uptime`,
    )
    const t1 = now()
    narrow(clock, Number(rows[0].shown) - total, t0, t1)
    narrow(uptime, Number(rows[0].uptime), t0, t1)
  }
  return { clock, uptime }
}

function narrow(offset: Offset, shown: number, t0: number, t1: number): void {
  if (t1 - t0 >= offset.high - offset.low) return
  offset.low = shown - t1
  offset.high = shown - t0
}
