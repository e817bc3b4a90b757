import assert from 'node:assert/strict'
import { copyFileSync, rmSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { NotJournaled } from '../../../src/model/faults.ts'
import { openSqliteStore } from '../../../src/sqlite/store.ts'
import { twoKeys } from './beside.ts'
import { writeLastBackup } from '../../../src/database/last-backup.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Whatever the order of these acts: a key whose revocation was acknowledged stays revoked, and a
 * key that was not revoked stays active.
 */

type Files = Awaited<ReturnType<typeof twoKeys>>
interface Model {
  acknowledged: boolean
  revoked: boolean
}

const revoke = ({ ada, command }: Files) =>
  command((store) => recordsOf(store).revokeApiKey(ada.user.id, ada.keyId, operatorAt(7)))

const ACTS: Record<string, (files: Files, model: Model) => Promise<void>> = {
  async revoke(files, model) {
    assert.notEqual(await revoke(files), null)
    model.acknowledged = model.revoked = true
  },

  /** The commit of a revoke that is killed before its append, or of another program. */
  async 'commit only'({ ada, revokeBySql }, model) {
    revokeBySql(ada.key)
    model.revoked = true
  },

  async 'failing append'({ path, ada, withoutJournal }, model) {
    const store = await openSqliteStore(path, { create: false })
    const revoking = () => recordsOf(store).revokeApiKey(ada.user.id, ada.keyId, operatorAt(7))
    const isKnown = (await recordsOf(store).listApiKeys(ada.user.id))[0]?.revoked_at !== null
    await withoutJournal(async () => {
      // The line of a known revocation is there since the start.
      if (isKnown) await revoking()
      else await assert.rejects(revoking(), NotJournaled)
    })
    await store.close()
    model.acknowledged ||= isKnown
    model.revoked = true
  },

  async 'other program beside a store'({ ada, revokeBySql, command }, model) {
    await command(async (store) => {
      revokeBySql(ada.key)
      await store.database.transact((transaction) => writeLastBackup(transaction, 1))
    })
    model.acknowledged = model.revoked = true
  },

  async 'older file by hand'({ path }) {
    for (const end of ['-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
    copyFileSync(`${path}.older`, path)
  },

  restore: ({ restoreOlder }) => restoreOlder(),

  async 'restore and revoke beside a store'({ ada, restoreOlder, command }, model) {
    await command(async (store) => {
      await restoreOlder()
      assert.notEqual(
        await recordsOf(store).revokeApiKey(ada.user.id, ada.keyId, operatorAt(7)),
        null,
      )
    })
    model.acknowledged = model.revoked = true
  },

  async start({ command }) {
    await command(async () => {})
  },
}

test('no order of acts loses an acknowledged revocation or revokes another key', async () => {
  const names = fc.array(fc.constantFrom(...Object.keys(ACTS)), { minLength: 2, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(names, async (order) => {
      const ends: (() => void)[] = []
      const files = await twoKeys({ after: (end) => ends.push(end as () => void) })
      try {
        await check(files, order)
      } finally {
        for (const end of ends) end()
      }
    }),
    { numRuns: 60, examples: SHORTEST.map((order) => [order]) },
  )
})

/** What loses a revocation if a rule of the journal is missing. */
const SHORTEST = [
  ['commit only', 'revoke', 'older file by hand'],
  ['failing append', 'revoke', 'older file by hand'],
  ['commit only', 'start', 'older file by hand'],
  ['revoke', 'older file by hand', 'start', 'older file by hand'],
  ['other program beside a store', 'restore'],
  ['restore and revoke beside a store', 'older file by hand'],
]

async function check(files: Files, order: readonly string[]): Promise<void> {
  const { ada, bob, command } = files
  const model: Model = { acknowledged: false, revoked: false }
  for (const name of order) await ACTS[name]!(files, model)
  await command(async (store) => {
    const isRevoked = async (userId: string) =>
      (await recordsOf(store).listApiKeys(userId))[0]!.revoked_at !== null
    if (model.acknowledged) assert.ok(await isRevoked(ada.user.id), 'the key works again')
    if (!model.revoked) assert.ok(!(await isRevoked(ada.user.id)), 'nothing revoked the key')
    assert.ok(!(await isRevoked(bob.user.id)), "nothing revoked Bob's key")
  })
}
