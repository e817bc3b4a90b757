import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { readDocument } from '../../src/acts/read-document.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { functionsOn } from './carriers.ts'
import { assertSays, everyMistake, type Mistake, missingFields } from './mistakes.ts'
import { openPostgresStage } from './stage.ts'

/*
 * A mistake of a program has the same words in a function and in TypeScript. It changes nothing,
 * although a good row stands before it.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('the reader of documents names each mistake of a site', () => {
  for (const mistake of [...everyMistake(), ...missingFields()])
    assertSays(mistake, saidBy('site', mistake))
})

test('the reader names what is no act, and lists of all that only a file or a function takes', () => {
  const document = { put_users: [{ external_id: 'ada' }] }
  for (const [field, says] of [
    ['colors', 'is not an act'],
    ['all_users', 'works in a file and in a function of PostgreSQL only'],
    ['all_servers', 'works in a file and in a function of PostgreSQL only'],
  ] as const) {
    const mistake = { document: { ...document, [field]: true }, says: `${field}: ${says}` }
    assertSays(mistake, saidBy('site', mistake))
  }
})

test('the reader names the same mistakes of an operator, whose rows may leave fields out', () => {
  for (const mistake of everyMistake()) assertSays(mistake, saidBy('operator', mistake))
})

function saidBy(hand: 'site' | 'operator', { document }: Mistake): string[] {
  const json = { ...structuredClone(document), ...(hand === 'operator' && { format_version: 2 }) }
  const read = readDocument(json, hand)
  if ('document' in read) return []
  return read.complaints.map(({ place, message }) => `! ${place}: ${message}`)
}

test('an id may have either case, for the reader and for a function', async (t) => {
  const id = 'A0000000-0000-4000-8000-00000000000A'
  const read = readDocument({ remove_servers: [{ id }] }, 'site')
  assert.ok('document' in read)
  assert.equal(read.document.remove_servers?.[0]?.id, id.toLowerCase())
  const { send } = await functionsOn(t, await openPostgresStage(t, server))
  const answer = await send({ remove_servers: [{ id }] })
  assert.deepEqual(
    answer.filter((line) => line.startsWith('!')),
    [],
  )
})

test('a function names each mistake of a site, and changes nothing', async (t) => {
  const stage = await openPostgresStage(t, server)
  const carrier = await functionsOn(t, stage)
  const [, rows] = await stage.during(carrier.address, async () => {
    for (const mistake of [...everyMistake(), ...missingFields()])
      assertSays(mistake, await carrier.send(mistake.document))
  })
  assert.deepEqual(rows, [])
})
