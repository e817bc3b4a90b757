import { lastFirst } from './ends.ts'
import { missingForMachine } from './machine.ts'
import { nemesisTests } from './nemesis-tests.ts'
import { openBattlefield } from './open-battlefield.ts'

/*
 * The nemesis with all its faults, those of clocks and of disks among them, which take libfaketime and root; in the end
 * the disk is full, or read-only, and all comes back from that. Where the machine lets nobody mount a disk, it is
 * said, and the other faults remain.
 */

const missing = missingForMachine()
if (missing !== null) console.log(`without faults of clocks and disks, for want of ${missing}`)
const RUNS = {
  ms: 30_000,
  ...(missing === null ? { last: { fixed: 'disk full', fresh: 'disk read-only' } } : {}),
}

export function machineTests(name: string, engine: 'sqlite' | 'postgres'): void {
  nemesisTests(name, (t) => openBattlefield(engine, lastFirst(t), missing), RUNS)
}
