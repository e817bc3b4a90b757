import assert from 'node:assert/strict'
import { AuthenticationFault, ListFault } from '../../src/listing/faults.ts'
import type { Use } from '../../src/listing/store.ts'
import type { UseConnection } from '../../src/postgres/use-connection.ts'
import { createUseQueue, type UseQueue } from '../../src/postgres/use-queue.ts'
import type { Call, Outcome } from '../../src/postgres/uses.ts'

interface Options {
  /** Whether each batch is decided only when it is let go. */
  holds?: boolean
  batchMax?: number
  fails?: (calls: readonly Call[]) => boolean
}

/** A queue over so many connections, and what they are asked to decide; the time is the test's. */
export function queueOver(
  count: number,
  { holds = false, batchMax, fails = () => false }: Options = {},
): {
  queue: UseQueue
  /** The first bytes of the hashes, for each batch. */
  batches: string[]
  held: (() => void)[]
  closed: number[]
  elapse(milliseconds: number): void
} {
  const batches: string[] = []
  const held: (() => void)[] = []
  const closed: number[] = []
  const working = new Set<number>()
  let now = 5_000
  const connections = Array.from(
    { length: count },
    (_, index): UseConnection => ({
      async decide(calls) {
        batches.push(calls.map(({ keyHash }) => keyHash[0]).join(' '))
        assert.ok(!working.has(index), 'one at a time')
        working.add(index)
        if (holds) await new Promise<void>((resolve) => held.push(resolve))
        working.delete(index)
        if (fails(calls)) throw new AuthenticationFault('lost')
        return calls.map(outcomeOf)
      },
      close: () => void closed.push(index),
    }),
  )
  return {
    queue: createUseQueue(connections, batchMax, () => now),
    batches,
    held,
    closed,
    elapse: (milliseconds) => {
      now += milliseconds
    },
  }
}

function outcomeOf({ keyHash: [byte] }: Call): Outcome {
  return byte === 2 ? new ListFault('x') : { outcome: 'revoked', apiKeyId: `id ${byte}` }
}

export function call(queue: UseQueue, byte: number): Promise<Use> {
  return queue.useApiKey(Uint8Array.of(byte), () => null)
}

export function summary(settled: PromiseSettledResult<Use>): string {
  if (settled.status === 'rejected') return settled.reason.name
  return 'apiKeyId' in settled.value ? settled.value.apiKeyId : settled.value.outcome
}
