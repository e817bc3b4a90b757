import assert from 'node:assert/strict'
import { test } from 'node:test'
import { versionOfTree } from '../../scripts/release/changelog.ts'
import {
  findChanged,
  findUnkept,
  hashMigrations,
  keptReleases,
} from '../reliability/releases/kept.ts'

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

test('each release before this version has left its package', () => {
  assert.deepEqual(findUnkept(versionOfTree()), [])
})

test('a release without its package is named once the tree has the next version', () => {
  assert.deepEqual(findUnkept('0.2.0', ['0.1.0', '0.2.0'], ['0.1.0']), [])
  assert.deepEqual(findUnkept('0.3.0', ['0.1.0', '0.2.0'], ['0.1.0']), [
    '0.2.0 is released, and its package is not kept, so no test goes back to it. Copy it to ' +
      'test/reliability/releases/0.2.0/package.tar.gz, and write its sum into release.json there ' +
      '(CONTRIBUTING.md, Release, step 7)',
  ])
})
