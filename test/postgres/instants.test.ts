import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import * as v from 'valibot'
import { instantField } from '../../src/servers/server-entry.ts'
import { asAdmin } from '../fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../fixtures/postgres/migrated.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { seedOfRun } from '../fixtures/random.ts'

/* An act means the same in a file, over HTTP and as a function: they read the same instants. */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

const oneOf = (words: string) => fc.constantFrom(...words.split(' '))
const TEXT = fc
  .tuple(
    oneOf('1683 1684 1685 1900 2000 2023 2024 2254 2255 2256 9999 024'),
    oneOf('-01 -02 -06 -07 -12 -00 -13'),
    oneOf('-01 -05 -06 -28 -29 -30 -31 -32 -00'),
    fc.constantFrom('T', 't', ' ', '', '  '),
    oneOf('00 12 23 24 25 7'),
    oneOf(':00:00 :59:59 :60:00 :00:60 :12:25 :47:34 :00'),
    fc.constantFrom('', '.5', '.259008', '.2590089', '.259009', '.740991', '.740992', '.', ',5'),
    fc.constantFrom('Z', 'z', '+00', '-05:30', '+0545', '+15:59', '+15:60', '+16', '-1', ''),
  )
  .map((parts) => parts.join(''))

test('a function reads the instants that a file and a request may have', async () => {
  const url = await createMigratedDatabase(server)
  const limits = ['1684-07-28T00:12:25', '2255-06-05T23:47:34'].flatMap((second) =>
    ['.259008', '.2590089', '.259009', '.740991', '.7409919', '.740992'].map(
      (fraction) => `${second}${fraction}Z`,
    ),
  )
  const texts = [...limits, ...fc.sample(TEXT, { seed: seedOfRun(), numRuns: 20_000 })]
  const { rows } = await asAdmin(url, (admin) =>
    admin.query<{ read: string | null }>(
      `SELECT CASE WHEN is_instant(text) THEN (extract(epoch FROM instant_in(text)) * 1000000)::bigint END AS read
       FROM unnest($1::text[]) WITH ORDINALITY AS t (text, n) ORDER BY n`,
      [texts],
    ),
  )
  const read = texts.map((text) => {
    const { success, output } = v.safeParse(instantField, text)
    return success ? String(output) : null
  })
  assert.deepEqual(
    texts.filter((_, index) => rows[index]!.read !== read[index]),
    [],
  )
  const valid = read.filter((instant) => instant !== null).length
  assert.ok(valid > 200, `only ${valid} of ${texts.length} texts are instants`)
})
