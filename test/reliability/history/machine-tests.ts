import { lastFirst } from './battlefield/ends.ts'
import { missingForMachine } from './faults/machine.ts'
import { nemesisTests } from './nemesis-tests.ts'
import { openBattlefield } from './battlefield/open-battlefield.ts'

/*
 * Runs the nemesis with all faults. Those of clocks and disks need libfaketime and root, and the
 * tests fail without them. Each run ends with a full or read-only disk, from which everything must
 * recover.
 */

const missing = missingForMachine()
if (missing !== null) throw new Error(`faults of clocks and disks need ${missing}`)

export function machineTests(name: string, engine: 'sqlite' | 'postgres'): void {
  nemesisTests(name, (t) => openBattlefield(engine, lastFirst(t), null), {
    ms: 30_000,
    pauseMs: 500,
    last: { fixed: 'disk full', fresh: 'disk read-only' },
  })
}
