import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { type Command, command } from './commands.ts'
import type { ModelFields } from './listing-model.ts'
import * as expected from './listing-model.ts'
import type { Real } from './real.ts'
import * as change from '../../fixtures/changed-servers.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

const WORDS = ['published', 'draft', 'hidden'] as const

const fields = fc.record({
  name: fc.constantFrom('Survival', 'Creative', 'Skyblock'),
  slug: fc.constantFrom(null, 'survival', 'creative'),
  address: fc.constantFrom('a.example.com', 'b.example.com:25565'),
  edition: fc.constantFrom('java', 'bedrock'),
  status: fc.constantFrom(...WORDS),
  version: fc.constantFrom(null, '1.21'),
  listing_kind: fc.constantFrom(null, 'realm'),
  isPersonal: fc.boolean(),
})
type Given = Omit<ModelFields, 'organization_id'> & { isPersonal: boolean }

/** Commands about servers. */
export function serverCommands(): fc.Arbitrary<Command>[] {
  const owner = fc.nat(1)
  const which = fc.nat(200)
  return [
    fc.tuple(owner, fc.nat(0xffff_ffff), fields).map(register),
    fc.tuple(owner, fc.nat(0xffff_ffff), fields).map(register),
    fc.tuple(owner, which, fields).map(edit),
    fc.tuple(owner, which, fc.boolean()).map(move),
    fc.tuple(owner, which, fc.constantFrom(...WORDS)).map(setStatus),
    fc.tuple(owner, which).map(remove),
  ]
}

/** The id is new in every run, also while a failure is shrunk. `rank` decides its order. */
function register([index, rank, given]: [number, number, Given]): Command {
  return command(`register ${rank} as ${index}: ${JSON.stringify(given)}`, async (model, real) => {
    const id = rank.toString(16).padStart(8, '0') + randomUUID().slice(8)
    const owner = real.owners[index]!
    const wanted = placed(real, given)
    assert.equal(
      await recordsOf(real.store).insertServer(owner, id, wanted, operatorAt(model.now)),
      expected.register(model, owner, id, wanted, isMember(index)),
    )
  })
}

function edit([index, which, given]: [number, number, Given]): Command {
  return withServer(`edit as ${index}: ${JSON.stringify(given)}`, which, (model, real, id) =>
    write(model, real, index, id, placed(real, given)),
  )
}

function move([index, which, isPersonal]: [number, number, boolean]): Command {
  const place = isPersonal ? 'back' : 'to the organization'
  return withServer(`move ${place} as ${index}`, which, async (model, real, id) => {
    const present = model.servers.find((server) => server.id === id)!
    await write(model, real, index, id, placed(real, { ...present, isPersonal }))
  })
}

async function write(
  model: expected.Model,
  { store, owners }: Real,
  index: number,
  id: string,
  wanted: ModelFields,
): Promise<void> {
  const owner = owners[index]!
  assert.equal(
    await recordsOf(store).updateServer(owner, id, wanted, operatorAt(model.now)),
    expected.edit(model, owner, id, wanted, isMember(index)),
  )
}

function setStatus([index, which, status]: [number, number, string]): Command {
  return withServer(`set ${status} as ${index}`, which, async (model, { store, owners }, id) => {
    const owner = owners[index]!
    assert.equal(
      await change.setStatus(store.database, owner, id, status, model.now),
      expected.setStatus(model, owner, id, status),
    )
  })
}

function remove([index, which]: [number, number]): Command {
  return withServer(`delete as ${index}`, which, async (model, { store, owners }, id) => {
    const owner = owners[index]!
    assert.equal(
      await change.removeServer(store.database, owner, id, model.now),
      expected.remove(model, owner, id),
    )
  })
}

function isMember(index: number): boolean {
  return index === 0
}

function placed({ organization }: Real, { isPersonal, ...given }: Given): ModelFields {
  const { name, slug, address, edition, status, version, listing_kind } = given
  const organization_id = isPersonal ? null : organization
  return { name, slug, address, edition, status, version, listing_kind, organization_id }
}

function withServer(
  name: string,
  which: number,
  run: (model: expected.Model, real: Real, id: string) => Promise<void>,
): Command {
  return command(
    `server ${which}: ${name}`,
    // Newest first: in a crowd these are the servers of this run.
    (model, real) => run(model, real, model.servers.at(-1 - (which % model.servers.length))!.id),
    ({ servers }) => servers.length > 0,
  )
}
