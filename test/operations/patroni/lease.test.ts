import { test } from 'node:test'
import { tryFailovers } from './trial.ts'

/** Enough for a failover and the return of the killed server. */
const SECONDS = 15

test('a primary is killed, its lease ends, and the service goes on with the standby', (t) =>
  tryFailovers(t, SECONDS, { isPatient: true }))
