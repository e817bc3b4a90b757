import { machineTests } from '../../history/machine-tests.ts'

/*
 * The nemesis on PostgreSQL with all faults.
 */

machineTests('PostgreSQL', 'postgres')
