import assert from 'node:assert/strict'
import { chownSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { type Program, programIn } from '../../../cli/program.ts'

/** The user of the service. Root runs the commands of this test. */
const SERVICE = 65_534

test('whatever root makes, migrates or restores belongs to the user of the service', async (t) => {
  const program = programIn(t)
  const folder = dirname(program.databasePath)
  mkdirSync(folder)
  chownSync(folder, SERVICE, SERVICE)
  const backup = join(program.folder, 'backup')
  const restore = ['restore', '--yes', backup]

  await program.done('user add --create ada@example.com')
  assertOfService(program)
  await program.done(['backup', backup])
  await program.done(restore)
  assertOfService(program, /\.before-restore-/)

  // As after the loss of a disk.
  for (const name of readdirSync(folder)) rmSync(join(folder, name))
  await program.done(restore)
  assertOfService(program, /^listing\.db$/)
  assert.equal(statSync(backup).uid, 0)

  const below = join(folder, 'new/folder/listing.db')
  await program.done('migrate', { env: { DATABASE_URL: `sqlite:${below}` } })
  for (const path of [below, dirname(below), dirname(dirname(below))])
    assert.equal(statSync(path).uid, SERVICE, path)
})

function assertOfService({ databasePath }: Program, named = /^/): void {
  const folder = dirname(databasePath)
  const names = readdirSync(folder)
  assert.ok(names.some((name) => named.test(name)))
  const foreign = names.filter((name) => {
    const { uid, gid } = statSync(join(folder, name))
    return uid !== SERVICE || gid !== SERVICE
  })
  assert.deepEqual(foreign, [])
}
