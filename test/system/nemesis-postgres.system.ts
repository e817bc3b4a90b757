import { machineTests } from '../history/machine-tests.ts'

/*
 * The nemesis on PostgreSQL with all its faults.
 */

machineTests('PostgreSQL', 'postgres')
