import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Incident } from '../history/record/record.ts'
import type { Stay } from './directory.ts'
import { blameByOwner } from './faults.ts'

const SECOND = 1_000_000
const OWNERS = ['ada', 'bob'].map((name) => ({ name, userId: `id of ${name}` }))

test("an owner who is there touches a cluster's fault until its aftermath is over", () => {
  const blamed = blame(fault(10, 11), [stay('ada', 1, 0, 20), stay('bob', 1, 12, 20)])
  assert.deepEqual(blamed, [
    { owner: 'ada', t0: 10, t1: 11, over: 13 },
    { owner: 'bob', t0: 12, t1: 12, over: 13 },
  ])
})

test('an owner who left before the fault or arrives after its aftermath is not touched', () => {
  const stays = [stay('ada', 1, 0, 9), stay('bob', 1, 14, 20), stay('ada', 1, 9.5, 20)]
  assert.deepEqual(blame(fault(10, 11), stays), [{ owner: 'ada', t0: 10, t1: 11, over: 13 }])
})

test('a fault of a cluster without owners touches the next owner, from the arrival on', () => {
  const stays = [stay('ada', 1, 0, 9), stay('ada', 2, 9, 40), stay('bob', 1, 30, 40)]
  assert.deepEqual(blame(fault(10, 11), stays), [{ owner: 'bob', t0: 30, t1: 30.5, over: 32.5 }])
})

test('an owner who leaves at the end of a fault has not noticed it for the next one', () => {
  const stays = [stay('ada', 1, 0, 11.125), stay('bob', 1, 30, 40)]
  assert.deepEqual(blame(fault(10, 11), stays), [
    { owner: 'ada', t0: 10, t1: 11.125, over: 13.125 },
    { owner: 'bob', t0: 30, t1: 30.5, over: 32.5 },
  ])
})

/** A fault of the first cluster with an aftermath of two seconds. Times are in seconds. */
function fault(t0: number, t1: number): Incident {
  return {
    fault: 'server restarted',
    t0: t0 * SECOND,
    t1: t1 * SECOND,
    key: '',
    owner: '',
    process: 1,
    failures: ['authentication'],
    aftermath: 2 * SECOND,
    orphans: true,
    stays: false,
  }
}

/** Routers take half a second to notice an arrival. */
function stay(name: string, cluster: number, from: number, to: number): Stay {
  return {
    owner: `id of ${name}`,
    cluster,
    from: from * SECOND,
    to: to * SECOND,
    settled: (from + 0.5) * SECOND,
    leaving: to * SECOND,
  }
}

function blame(incident: Incident, stays: readonly Stay[]) {
  const incidents = [incident]
  blameByOwner(incidents, OWNERS, stays)
  return incidents.map(({ owner, t0, t1, aftermath }) => {
    const over = t1 + aftermath
    return { owner, t0: t0 / SECOND, t1: t1 / SECOND, over: over / SECOND }
  })
}
