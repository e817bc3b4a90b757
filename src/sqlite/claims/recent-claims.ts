import type { DatabaseSync } from 'node:sqlite'
import { CLAIM_INTERVAL_US } from '../../model/claim.ts'
import { transact } from '../database.ts'
import {
  type ClaimRows,
  compactAll,
  prepareClaimRows,
  readLastSecond,
  type RecentClaim,
  registerBoot,
} from './claim-rows.ts'
import { createStamps, type Stamp, type Stamps } from './stamps.ts'

/**
 * The last use of every key, which decides the limit. Only the serving process records claims, so
 * its stamps in memory are exact. The life of a granted claim:
 *
 *     record    a row of its own in recent_claims, in the transaction of its batch
 *        │
 *     COMMIT    the stamp in memory limits the key; only now may the service answer 200
 *        │
 *     step      after 32,768 claims: the key's one row in last_claims, 512 keys at a time
 *        │
 *     step      the rows in recent_claims go, 2,048 at a time
 *
 * A start and the first claim in a restored file take both steps at once, for every row that they
 * find. A start also reads back the stamps of the last second.
 * docs/decisions/0058-the-life-of-a-claim.md gives the reasons.
 */
export interface RecentClaims {
  /** The key's last use on this boot's monotonic clock; 0 if it is more than a second ago. */
  lastUse(serial: number, keyHash: Uint8Array): number
  /**
   * Appends the claims of a batch within the open transaction, and commits it. They share a stamp,
   * and count once `commit` returns. `schema` is the version of the file's schema: if another file
   * was written over this one, it has changed. Keys of that file may have other numbers, so that
   * MUST_WAIT is thrown for a second after a claim that it lacks.
   */
  record(claims: readonly RecentClaim[], stamp: Stamp, schema: number, commit: () => void): void
  /** Takes the next step of the compaction, if there is one, in its own transaction. */
  compactStep(): void
}

/** The batch can't be decided now. It changes nothing and waits. */
export const MUST_WAIT = new Error('the batch must wait')

/**
 * Rows before they are compacted. More rows cost less each, because keys in order share pages. But
 * they make `last_used_at` slower to read.
 */
const COMPACT_AFTER = 32_768
/** Rows that one step writes or removes. It takes about a millisecond and outpaces full batches. */
const COMPACT_STEP = 512
const REMOVE_STEP = 2_048

/** `now` is on the monotonic clock of the boot with this id. */
export function createRecentClaims(
  database: DatabaseSync,
  bootId: string,
  now: number,
): RecentClaims {
  const stamps = createStamps()
  const rows = prepareClaimRows(database)
  /**
   * The number of this boot and the version of the schema in the file that this follows, and the
   * last claim, which an older file lacks.
   */
  let { boot, schema, last } = transact(database, () => start(database, rows, bootId, now, stamps))
  /** The last row's number. A number is used once, whether its commit reports a failure or not. */
  let newest = 0
  /** The keys of the rows since the last compaction began, in order of the claims. */
  let appended: number[] = []
  let steps = NO_STEPS
  /** The step under way, until it is committed. */
  let step: Step | null = null
  let compactedTo = 0

  /** Begins anew in a file that was written over the one before, within the open transaction. */
  function takeOver({ monotonic }: Stamp): number {
    if (monotonic - last.monotonic < CLAIM_INTERVAL_US && !rows.has(last)) throw MUST_WAIT
    compactAll(database)
    return registerBoot(database, bootId)
  }

  /** The next step; null if there is none. */
  function nextStep(): Step | null {
    const next = steps.next().value
    if (next !== undefined) return next
    if (appended.length < COMPACT_AFTER) return null
    steps = compact(rows, inOrder(appended), stamps, boot, compactedTo, newest)
    ;[appended, compactedTo] = [[], newest]
    return steps.next().value ?? null
  }

  return {
    lastUse: stamps.lastUse,

    record(claims, stamp, present, commit) {
      if (claims.length === 0) {
        commit()
        return
      }
      const isNew = present !== schema
      const presentBoot = isNew ? takeOver(stamp) : boot
      const before = newest
      newest += claims.length
      rows.append(before, claims, stamp, presentBoot)
      commit()
      if (isNew) {
        ;[boot, schema, compactedTo] = [presentBoot, present, before]
        ;[appended, steps, step] = [[], NO_STEPS, null]
      }
      last = { number: newest, monotonic: stamp.monotonic }
      for (const { serial, keyHash } of claims) {
        stamps.set(serial, keyHash, stamp)
        appended.push(serial)
      }
    },

    compactStep() {
      step ??= nextStep()
      const work = step
      if (work === null) return
      transact(database, () => {
        // The rows of another file stay until a claim has taken them over, which ends these steps.
        if (rows.readSchema() === schema) work()
      })
      step = null
    },
  }
}

/** Work in a transaction. If it fails, it is repeated. */
type Step = () => void

const NO_STEPS: Iterator<Step, undefined> = [].values()

/** Compacts the rows with numbers from `after` on, up to `upTo`, which are those of these keys. */
function* compact(
  rows: ClaimRows,
  serials: Uint32Array,
  stamps: Stamps,
  boot: number,
  after: number,
  upTo: number,
): Generator<Step, undefined> {
  for (let at = 0; at < serials.length; at += COMPACT_STEP)
    yield () => rows.keep(serials.subarray(at, at + COMPACT_STEP), stamps, boot)
  for (let to = after; to < upTo; ) {
    to = Math.min(to + REMOVE_STEP, upTo)
    yield () => rows.removeUpTo(to)
  }
}

/** Each number once, ascending. It takes a few milliseconds for a whole compaction. */
function inOrder(serials: readonly number[]): Uint32Array {
  return new Uint32Array(serials)
    .toSorted()
    .filter((serial, index, sorted) => serial !== sorted[index - 1])
}

/**
 * Takes over what earlier processes recorded. The row of their last claim is gone then, so that it
 * has no number. Needs an open transaction.
 */
function start(
  database: DatabaseSync,
  rows: ClaimRows,
  bootId: string,
  now: number,
  stamps: Stamps,
) {
  const boot = registerBoot(database, bootId)
  compactAll(database)
  const last = { number: 0, monotonic: -CLAIM_INTERVAL_US }
  for (const { api_key, key_hash, ...stamp } of readLastSecond(database, boot, now)) {
    stamps.set(api_key, key_hash, stamp)
    last.monotonic = stamp.monotonic
  }
  return { boot, schema: rows.readSchema(), last }
}
