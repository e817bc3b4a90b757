import { checkAll } from '../check/check.ts'
import type { History, Operation, Stamp } from '../record/record.ts'
import type { Violation } from '../record/violation.ts'

/** One part of a record that may be left out. */
type Item = { operation: Operation } | { stamp: Stamp }

/**
 * Returns the shortest record found in time that shows the same violation: the same words about the
 * same operations. Other violations in the rest don't matter. For example, a refusal loses its
 * cause when the cause is left out, so the kind of the violation alone is not enough.
 */
export function shrink(history: History, violation: Violation, msMax = 5_000): History {
  const until = performance.now() + msMax
  const accused = new Set(violation.operations)
  const isShown = (items: readonly Item[]) =>
    checkAll(withOnly(history, violation, items)).some((found) => isSame(found, violation))

  let items = itemsOf(history)
  // Most of the record is unrelated, so try to leave it out in one go.
  const near = items.filter((item) => isOfSame(item, violation))
  if (isShown(near)) items = near
  for (let size = Math.ceil(items.length / 2); size >= 1; size = nextSize(size)) {
    let from = 0
    while (from < items.length) {
      if (performance.now() > until) return withOnly(history, violation, items)
      const rest = items.filter(
        (item, index) => index < from || index >= from + size || isAccused(item, accused),
      )
      if (rest.length < items.length && isShown(rest)) items = rest
      else from += size
    }
  }
  return withOnly(history, violation, items)
}

function nextSize(size: number): number {
  return size === 1 ? 0 : Math.ceil(size / 2)
}

function itemsOf({ operations, stamps }: History): Item[] {
  return [
    ...operations.map((operation) => ({ operation })),
    ...(stamps ?? []).map((stamp) => ({ stamp })),
  ]
}

function withOnly(history: History, { operations }: Violation, items: readonly Item[]): History {
  const keys = new Set(operations.map(({ key }) => key))
  const lastUses = Object.entries(history.lastUses ?? {}).filter(([key]) => keys.has(key))
  return {
    operations: items.flatMap((item) => ('operation' in item ? [item.operation] : [])),
    stamps:
      history.stamps === null
        ? null
        : items.flatMap((item) => ('stamp' in item ? [item.stamp] : [])),
    lastUses: history.lastUses === null ? null : Object.fromEntries(lastUses),
    // All faults stay. Without one, a failure would look unexplained.
    incidents: history.incidents,
    calmFrom: history.calmFrom,
  }
}

function isSame(found: Violation, { invariant, words, operations }: Violation): boolean {
  return (
    found.invariant === invariant &&
    found.words === words &&
    found.operations.length === operations.length &&
    found.operations.every((operation, index) => operation === operations[index])
  )
}

function isAccused(item: Item, accused: ReadonlySet<Operation>): boolean {
  return 'operation' in item && accused.has(item.operation)
}

/** True for the same key, owner or connection, or for none. */
function isOfSame(item: Item, { operations }: Violation): boolean {
  if ('stamp' in item) return operations.some(({ key }) => key === item.stamp.key)
  const { key, owner, connection } = item.operation
  return operations.some(
    (one) =>
      (key === '' && owner === '') ||
      (key !== '' && key === one.key) ||
      (key === '' && owner !== '' && owner === one.owner) ||
      (connection !== 0 && connection === one.connection),
  )
}
