import { test } from 'node:test'
import { tryFailovers } from './trial.ts'

const SECONDS = Number(process.env.SECONDS ?? 60)

test('a primary under Patroni is killed, and the service goes on with the standby', (t) =>
  tryFailovers(t, SECONDS))
