import { machineTests } from '../../history/machine-tests.ts'

/*
 * The nemesis on SQLite with all faults.
 */

machineTests('SQLite', 'sqlite')
