import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findChanged, hashMigrations, keptReleases } from '../reliability/releases/kept.ts'

test('the migrations of released versions are as they were', () => {
  const present = hashMigrations()
  for (const release of keptReleases()) assert.deepEqual(findChanged(release, present), [])
})

test('a changed migration of a release is named, and a new one is not', () => {
  const present = hashMigrations()
  const release = { version: '0.1.0', migrations: present, answers: { sqlite: {}, postgres: {} } }
  assert.deepEqual(
    findChanged(release, { ...present, 'sqlite/migrations/0002-next.sql': 'new' }),
    [],
  )
  const path = 'postgres/migrations/0001-schema.sql'
  assert.deepEqual(findChanged(release, { ...present, [path]: 'changed' }), [
    'src/postgres/migrations/0001-schema.sql is not as 0.1.0 released it. Databases have that ' +
      'version of it already: undo the change, and add a migration with the next number ' +
      '(CONTRIBUTING.md)',
  ])
})
