import { machineTests } from '../history/machine-tests.ts'

/*
 * The nemesis on SQLite with all its faults.
 */

machineTests('SQLite', 'sqlite')
