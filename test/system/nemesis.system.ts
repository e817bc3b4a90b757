import { nemesisTests } from '../history/nemesis-tests.ts'
import { openPostgresMachine } from '../history/postgres-battlefield.ts'
import { openSqliteMachine } from '../history/sqlite-battlefield.ts'

/*
 * The nemesis with all its faults, those of clocks and of disks among them, which take libfaketime and root; in the end
 * the disk is full, or read-only, and all comes back from that.
 */

const RUNS = { ms: 30_000, last: { fixed: 'disk full', fresh: 'disk read-only' } }

nemesisTests('SQLite', openSqliteMachine, RUNS)
nemesisTests('PostgreSQL', openPostgresMachine, RUNS)
